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
mod batch;
mod builder;
mod claim;
mod directory;
mod env;
mod fork;
mod host;
mod live;
mod presence;
mod renewer;
mod settings;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod simulation;
mod slot;
mod snowflake;
mod state_file;
mod stats;
mod sync;
mod system;
mod timeline;
mod wait;
mod worker;

pub use allowed::allowed;
pub use batch::MOST_IDS;
pub use builder::SnowflakeBuilder;
pub use leafid_core::{
    Code, Error, Layout, LayoutFields, OnClockBackwards, OnExhausted, Order, Parts, Result, Utc, parse_id,
};
pub use snowflake::Snowflake;
pub use stats::Stats;
pub use worker::Worker;
