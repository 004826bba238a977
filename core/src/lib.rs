//! The logic of leafid: what an id is made of, who may make it, and when.
//!
//! No IO, no clock, no threads, no `unsafe`: whatever depends on time takes `now_ms` (Unix milliseconds), whatever
//! depends on chance takes a seed. A call changes state and returns the next deed; one that issues nothing changes
//! nothing. The host crate (`leafid`) reads the clock, keeps the records and waits.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod atomic;
mod back_off;
mod buffer;
mod code;
mod deed;
mod error;
mod guard;
mod history;
mod id;
mod layout;
mod lease;
mod presets;
mod record;
mod rules;
mod segment;
mod snowflake;
mod span;
mod step;
mod utc;

pub use back_off::{BackOff, LONGEST_MS, URGENT_MS};
pub use buffer::{DoubleBuffer, Dry, Filler};
pub use code::Code;
pub use deed::{Deed, Run};
pub use error::{Error, Result};
pub use guard::{Giving, Guard, MOST_REMEMBERED};
pub use history::{MOST_BURNT, MOST_FORMER};
pub use id::{Parts, parse_id};
pub use layout::{Layout, LayoutFields, Order};
pub use lease::{Lease, PEERS_THRESHOLD_MS, Renewal, peers_agree};
pub use record::{Admission, Record};
pub use rules::{OnClockBackwards, OnExhausted, Rules};
pub use segment::Segment;
pub use snowflake::Snowflake;
pub use span::{FIRST_SPAN_MS, LONGEST_SPAN_MS, Span, next_until};
pub use step::{AdaptiveStep, LARGEST_STEP};
pub use utc::Utc;
