//! One call of the lock-free parts inside another, at each of its steps: every order of two calls of which one is not
//! held up itself. No threads, no chance: what fails here fails always. Three calls, and all that memory orders allow, are
//! tests/loom's.
#![allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    reason = "the sources of the core, which are public there"
)]
#![allow(clippy::module_inception, reason = "as in the core")]
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by panicking")]

extern crate alloc;

mod atomic;
#[path = "../../src/code.rs"]
mod code;
#[path = "../../src/error.rs"]
mod error;
#[path = "../../src/id.rs"]
mod id;
#[path = "../../src/layout.rs"]
mod layout;
#[path = "../../src/presets.rs"]
mod presets;
#[path = "../../src/quoted.rs"]
mod quoted;
#[path = "../../src/secrets.rs"]
mod secrets;
#[path = "../../src/sorted.rs"]
mod sorted;
#[path = "../../src/spelling.rs"]
mod spelling;
#[path = "../../src/utc.rs"]
mod utc;
#[path = "."]
mod segment {
    #[path = "../../src/segment/double_buffer.rs"]
    pub(crate) mod double_buffer;
    #[path = "../../src/segment/segment.rs"]
    pub(crate) mod segment;
}
#[path = "."]
mod snowflake {
    #[path = "../../src/snowflake/action.rs"]
    pub(crate) mod action;
    #[path = "../../src/snowflake/generator.rs"]
    pub(crate) mod generator;
    #[path = "../../src/snowflake/rules.rs"]
    pub(crate) mod rules;
    #[path = "../../src/snowflake/span.rs"]
    pub(crate) mod span;
}

mod segments;
mod snowflakes;

use code::Code;
use error::{Error, Result};
use layout::{Layout, Order};
use segment::double_buffer::{DoubleBuffer, Empty, Filler};
use segment::segment::Segment;
use snowflake::action::{Action, Run};
use snowflake::generator::Snowflake;
use snowflake::rules::{OnClockBackwards, OnExhausted, Rules};
use snowflake::span::Span;
use utc::Utc;
