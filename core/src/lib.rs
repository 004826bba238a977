//! The logic of leafid: how an id is composed, who may issue it, and when.
//!
//! There is no IO, no clock, no thread and no `unsafe` code. A function that depends on time takes `now_ms` (Unix
//! milliseconds). Machines that only measure durations, as [`server::ServersHealth`] and [`RunLength`] do, take the
//! milliseconds of a clock that never goes back, such as the boot time.
//! A function that depends on chance takes a seed. A call changes state and returns the next action. A call that issues
//! no id changes nothing. The host crate (`leafid`) reads the clock, stores the records and waits.
//!
//! # State machines
//!
//! Each component that makes decisions is a state machine of the same form. The host runs it in a loop and carries out
//! the returned actions:
//!
//! 1. Construct it: `new`.
//! 2. Handle an event: a method that takes `&mut self` (`&self` if the state is atomic), the event, and `now`.
//! 3. Poll for the next action: the method returns what the host has to do, and when to call again.
//! 4. Query: a method that takes `&self` and changes nothing.
//!
//! An event often returns the next action itself, so that the host cannot forget to poll. The file of each machine
//! starts with a table of its states.
//!
//! # Features
//!
//! Only `messages` is on by default: then the core has no dependency. The host turns on what it uses.
//!
//! * `messages`: the messages of errors. Without it an error has its code alone, or with it the name of a wrong argument.
//!   Layouts, ids and generators then format no text, which halves a small program.
//! * `format`: the formats of files. It needs `serde_json` and `crc`, both without std.
//! * `options`: the checks of options. It needs no dependency, but a host with options of its own has no use for it.
//! * `parts`: the host itself grants spans and offers segments, and the pieces of the machines are public: for hosts
//!   that store spans in their own way, and for tests. What drives `run::WorkerRun` and `supply::Supply` does without.
//! * `public-ids`: ids encrypted one to one. It needs `aes`, `fpe` and `zeroize`, all without std.
//! * `supply`: the machine of segments, with what it needs: `format`, `options` and `wire`. These alone have that of
//!   worker ids.
//! * `wire`: the protocols of servers. It needs `serde_json`, without std.
#![no_std]
#![forbid(unsafe_code)]
// The pieces of the machines are public by the feature.
#![cfg_attr(not(feature = "parts"), allow(unreachable_pub))]
// The machines use all of it.
#![cfg_attr(not(feature = "supply"), allow(dead_code))]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod aside;
mod atomic;
#[cfg(any(feature = "options", feature = "wire"))]
mod block_tags;
#[cfg(all(feature = "format", feature = "options", feature = "wire"))]
pub mod call;
mod code;
mod error;
#[cfg(feature = "format")]
pub mod format;
#[cfg(all(feature = "format", feature = "options", feature = "wire"))]
pub mod host;
#[cfg(feature = "wire")]
pub mod http;
mod id;
#[cfg(any(feature = "format", feature = "wire"))]
// Its reader is public by the formats.
#[cfg_attr(not(feature = "format"), allow(unreachable_pub))]
mod json;
mod layout;
#[cfg(feature = "options")]
pub mod options;
#[cfg(all(feature = "format", feature = "options", feature = "wire"))]
pub mod place;
mod presets;
#[cfg(feature = "public-ids")]
mod public_id_key;
#[cfg(feature = "public-ids")]
mod public_ids;
mod quoted;
#[cfg(all(feature = "format", feature = "options", feature = "wire"))]
pub mod run;
// They are public by the options.
#[cfg_attr(not(feature = "options"), allow(unreachable_pub))]
mod secrets;
pub mod segment;
pub mod server;
pub mod snowflake;
mod sorted;
mod sorted_map;
// Without options a program has one spelling.
#[cfg_attr(not(feature = "options"), allow(dead_code, unreachable_pub))]
mod spelling;
#[cfg(feature = "supply")]
pub mod supply;
mod text_form;
pub mod time;
mod utc;
mod uuid;
#[cfg(feature = "wire")]
pub mod wire;
mod words;

pub use code::Code;
pub use error::{Error, Result};
pub use id::{Parts, parse_id};
pub use layout::{Layout, LayoutFields, Order};
#[cfg(feature = "public-ids")]
pub use public_id_key::PublicIdKey;
#[cfg(feature = "public-ids")]
pub use public_ids::PublicIds;
pub use segment::adaptive_step::LARGEST_STEP;
pub use segment::double_buffer::{DoubleBuffer, Empty};
pub use segment::fetch_threads::FetchThreads;
pub use segment::guard::IdOrder;
pub use segment::run_length::RunLength;
pub use segment::segment::{Fetched, Segment};
#[doc(hidden)]
pub use snowflake::action::push_zeroes;
pub use snowflake::action::{Action, Run};
pub use snowflake::generator::Snowflake;
pub use snowflake::lease::{Lease, Renewal};
pub use snowflake::lease_claims::LeaseClaim;
pub use snowflake::lease_schedule::{RenewalAnswer, RenewalRequest};
pub use snowflake::record::Record;
pub use snowflake::rules::{OnClockBackwards, OnExhausted, Rules};
pub use snowflake::span::{Span, next_until};
pub use snowflake::tick_runs::TickRuns;
pub use text_form::TextForm;
pub use time::back_off::BackOff;
pub use time::clock_filter::ClockFilter;
pub use time::durations::{DurationCounts, Durations};
pub use time::poll_pause::PollPause;
pub use utc::Utc;
pub use uuid::{id_to_uuid, uuid_to_id};
