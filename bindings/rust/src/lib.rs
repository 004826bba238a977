//! leafid creates unique 64-bit ids in the caller's own process.
//!
//! A [`Snowflake`] claims a worker id in a state directory. It makes spans of time durable before it uses them, and
//! issues ids from memory. The ids are unique across threads, processes, forks, crashes, restarts and clock changes.
//! [`Segments`] issues ids from ranges that it leases from a source, one counter for each tag.
//!
//! `docs/OPTIONS.md` of the project describes every option.
//!
//! ```no_run
//! let flake = leafid::Snowflake::builder().worker(0..=31).state_dir("/var/lib/orders").open()?;
//! let id = flake.next()?;
//! let parts = leafid::Layout::LEAF.decode(id)?;
//! println!("{id} made at {} by worker {}", leafid::Utc(parts.timestamp_ms), parts.worker_id);
//! # Ok::<(), leafid::Error>(())
//! ```

#![cfg_attr(
    all(test, not(all(feature = "cli", feature = "http"))),
    allow(dead_code, reason = "tests of the other features use it")
)]

#[cfg(feature = "cli")]
pub mod cli;
mod config;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
#[cfg(test)]
#[path = "../tests/common/hang.rs"]
mod hang;
#[cfg(feature = "http")]
mod http;
mod metrics;
mod os;
#[cfg(test)]
#[path = "../tests/common/programs.rs"]
mod programs;
mod quiesce;
mod segments;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod simulation;
mod snowflake;
mod storage;
mod tasks;
pub mod testing;
mod worker;

pub use config::key_source::load_public_id_key;
pub use leafid_core::options::{ClockSource, MOST_IDS, allowed};
#[doc(hidden)]
pub use leafid_core::options::{
    DEFAULT_TIMEOUT_MS, MOST_MS, MOST_PREWARMED, Named, OPTIONS, OptionKind, OptionOf, OptionRow,
    OptionValue, Spelling, no_memory, refused, shown_url, unknown_option,
};
#[doc(hidden)]
pub use leafid_core::segment::LONGEST_RUN;
pub use leafid_core::{
    Code, Error, Layout, LayoutFields, Lease, OnClockBackwards, OnExhausted, Order, Parts, PublicIdKey,
    PublicIds, Renewal, Result, Segment, TextForm, Utc, id_to_uuid, parse_id, uuid_to_id,
};
pub use leafid_core::{PollPause, Run, RunLength, TickRuns};
pub use metrics::metrics;
#[doc(hidden)]
pub use os::host_lock::WorkerLock;
#[doc(hidden)]
pub use os::log_queue;
#[doc(hidden)]
pub use quiesce::{quiesce, resume};
#[doc(hidden)]
pub use segments::{Completion, PendingTake, ReservedRun};
pub use segments::{
    FetchRequest, Fetched, FileTag, LocalTag, Prewarm, Protocol, SegmentSource, Segments, SegmentsBuilder,
    SegmentsStats, ServerStats, Tag, TagStats,
};
pub use snowflake::builder::SnowflakeBuilder;
pub use snowflake::handle::Snowflake;
#[doc(hidden)]
pub use snowflake::next_run::{TickRun, Watch};
#[doc(hidden)]
pub use snowflake::registry::forget_unanswered_claims;
pub use snowflake::stats::Stats;
pub use snowflake::thread_local::{Ids, Local};
pub use tasks::user_calls::Answer;
pub use worker::leases::{ClaimRequest, WorkerLeases};
pub use worker::source::WorkerSource;
pub use worker::worker_ids::Worker;
