//! One call of the lock-free parts inside another, at each of its steps: every order of two calls of which one is not
//! held up itself. No threads, no chance: what fails here fails always. Three calls, and all that memory orders allow, are
//! tests/loom's.
#![allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    reason = "the sources of the core, which are public there"
)]
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by panicking")]

extern crate alloc;

mod atomic;
#[path = "../../src/buffer.rs"]
mod buffer;
#[path = "../../src/code.rs"]
mod code;
#[path = "../../src/deed.rs"]
mod deed;
#[path = "../../src/error.rs"]
mod error;
#[path = "../../src/id.rs"]
mod id;
#[path = "../../src/layout.rs"]
mod layout;
#[path = "../../src/presets.rs"]
mod presets;
#[path = "../../src/rules.rs"]
mod rules;
#[path = "../../src/segment.rs"]
mod segment;
#[path = "../../src/snowflake.rs"]
mod snowflake;
#[path = "../../src/span.rs"]
mod span;
#[path = "../../src/utc.rs"]
mod utc;

mod segments;
mod snowflakes;

use buffer::{DoubleBuffer, Dry, Filler};
use code::Code;
use deed::{Deed, Run};
use error::{Error, Result};
use layout::{Layout, Order};
use rules::{OnClockBackwards, OnExhausted, Rules};
use segment::Segment;
use snowflake::Snowflake;
use span::{LONGEST_SPAN_MS, Span};
use utc::Utc;
