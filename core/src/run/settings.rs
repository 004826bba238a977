//! The settings of a run, all checked, and what it is told of its place.

use crate::call::FileAdvice;
use crate::format::state::Writer;
use crate::{ClockFilter, Error, Layout, Rules};
use alloc::string::String;
use alloc::sync::Arc;
use core::time::Duration;

/// The settings of a run. They do not change while it lives.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RunSettings {
    /// The id space.
    pub name: String,
    /// The layout and epoch of its ids.
    pub layout: Layout,
    /// The rules as the user set them.
    pub rules: Rules,
    /// Which worker ids it may take.
    pub workers: Workers,
    /// Whether records are kept. Without them no call of a record is made.
    pub persist: bool,
    /// Whether the host lock of a worker id is taken. A host whose other generators cannot see it has none.
    pub locks_host: bool,
    /// The first tick above the user's `start_after`; 0 without one.
    pub start_after: u64,
    /// How long a start without a record issues nothing, in milliseconds; 0 is off.
    pub no_record_wait_ms: i64,
    /// `timeout_ms`.
    pub timeout: Duration,
    /// Whether it is opened by its first id.
    pub lazy: bool,
    /// Whether the clocks of peers are asked for before each claim.
    pub peer_times: bool,
}

/// Which worker ids a run may take.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Workers {
    /// Any id from the first to the last, both included; one id if they are equal.
    Within {
        /// The smallest id.
        first: u32,
        /// The largest id.
        last: u32,
    },
    /// What a callback of the user's returns: a worker id alone, or one with a lease.
    Callback {
        /// Whether worker ids come with leases, which are renewed and released.
        leases: bool,
    },
}

impl Workers {
    /// Whether a source gives the id, with each claim another one.
    pub(crate) fn of_source(&self) -> bool {
        !matches!(self, Workers::Within { .. })
    }

    /// Whether servers lease the ids.
    pub(crate) fn of_servers(&self) -> bool {
        false
    }

    /// The error for a lease that cannot be used.
    pub(crate) fn unusable(&self, error: Error) -> Error {
        error
    }

    /// Whether ids come with leases, whose spans stay valid after this machine fails.
    pub(crate) fn leases(&self) -> bool {
        match self {
            Workers::Within { .. } => false,
            Workers::Callback { leases } => *leases,
        }
    }
}

/// What the host tells of its place.
#[derive(Clone, Debug)]
pub struct RunPlace {
    /// The filter of the process's clock. All runs of a process, and those of its forked children, share one.
    pub clock: Arc<ClockFilter>,
    /// This process and this start of the machine, for records.
    pub writer: Writer,
    /// The directory of the records, for messages; empty if none are kept.
    pub directory: String,
    /// What a user can do about files that cannot be used.
    pub advice: FileAdvice,
    /// Whether the records may be lost at the next start of the machine: then ids never run ahead of the clock.
    pub forgets: bool,
    /// Whether another directory, container or host may have used the same worker id.
    pub moves: bool,
    /// Whether a write of a record ends on the event loop of the thread that asks for ids.
    pub disk_needs_loop: bool,
    /// The worker id of the process from which this one was forked, if it had one.
    pub inherited: Option<u32>,
}
