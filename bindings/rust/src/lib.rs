//! leafid: unique 64-bit ids made in the caller's own process.
//!
//! A [`Snowflake`] claims a worker id in a state directory, makes spans of time durable before it uses them, and issues
//! ids from memory: unique across threads, processes, forks, crashes, restarts and clock movements.
//!
//! ```no_run
//! let flake = leafid::Snowflake::builder().worker(0..=31).state_dir("/var/lib/orders").open()?;
//! let id = flake.next()?;
//! let parts = leafid::Layout::LEAF.decode(id)?;
//! println!("{id} made at {} by worker {}", leafid::Utc(parts.timestamp_ms), parts.worker_id);
//! # Ok::<(), leafid::Error>(())
//! ```

mod allowed;
mod asking;
mod batch;
mod builder;
mod calls;
#[cfg(test)]
#[path = "../../../core/tests/properties/cases.rs"]
mod cases;
mod claim;
#[cfg(feature = "cli")]
pub mod cli;
mod clock_check;
mod clock_source;
mod decimal;
mod directory;
mod env;
mod file_system;
mod fork;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
mod given;
mod giver;
mod heal;
mod host;
#[cfg(feature = "http")]
mod http;
mod keeper;
mod lease;
mod lease_servers;
mod lent;
mod live;
mod local;
mod mark_file;
mod metrics;
mod namespaces;
mod options;
mod peers;
mod place;
mod presence;
mod recall;
#[doc(hidden)]
pub mod relay;
mod remembered;
mod renewer;
#[cfg_attr(not(feature = "cli"), allow(dead_code, reason = "the command line resets"))]
mod reset;
mod segments;
mod settings;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod simulation;
mod slot;
mod snowflake;
mod source;
mod spans;
mod state_file;
mod stats;
mod store;
mod sync;
mod system;
mod timeline;
mod two_slots;
mod wait;
mod worker;

pub use allowed::allowed;
pub use batch::MOST_IDS;
pub use builder::SnowflakeBuilder;
pub use clock_source::ClockSource;
#[doc(hidden)]
pub use leafid_core::Run;
pub use leafid_core::{
    Code, Error, Layout, LayoutFields, Lease, OnClockBackwards, OnExhausted, Order, Parts, Renewal, Result,
    Segment, Utc, parse_id,
};
pub use local::{Ids, Local};
pub use metrics::metrics;
#[doc(hidden)]
pub use segments::{Attempt, HeldRun, Reply};
pub use segments::{
    FetchRequest, Fetched, FileTag, LocalTag, Prewarm, Protocol, SegmentSource, Segments, SegmentsBuilder,
    SegmentsStats, ServerStats, Tag, TagStats,
};
pub use snowflake::Snowflake;
pub use source::{Answer, ClaimRequest, WorkerLeases, WorkerSource};
pub use stats::Stats;
pub use worker::Worker;

/// Waits, at most so long, until no thread of leafid's runs code of the user's, and lets none begin before [`resume`] but
/// for who asks for an id meanwhile: for runtimes that hold a lock of their own when they fork, which such a thread may
/// need in order to end.
#[doc(hidden)]
pub fn quiesce(patience: std::time::Duration) {
    let begun = std::time::Instant::now();
    relay::hold();
    segments::pool::hold();
    renewer::hold();
    segments::pool::rest(patience);
    renewer::rest(patience.saturating_sub(begun.elapsed()));
    // After it, since that may log.
    relay::wait(patience.saturating_sub(begun.elapsed()));
}

/// Ends a [`quiesce`]: in the process that called it, whether a fork came of it or not.
#[doc(hidden)]
pub fn resume() {
    segments::pool::release();
    renewer::release();
    relay::release();
}
