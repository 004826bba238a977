//! What is counted of a tag, for metrics: nothing is decided by it.

use crate::{Code, Durations};
use alloc::collections::BTreeMap;
use core::time::Duration;

/// The counts of one tag. Most tags of a program have none for long, and no program needs them to go on.
#[derive(Clone, Debug, Default)]
pub(super) struct TagCounts {
    /// How long calls waited, and how long the source took.
    pub(super) wait_times: Durations,
    pub(super) fetch_times: Durations,
    /// How long the last fetch took.
    pub(super) last_fetch: Option<Duration>,
    /// Ids that went out in ranges, past the buffer.
    pub(super) ranged: u64,
    /// The number of fetches that failed with each code.
    pub(super) failures: BTreeMap<Code, u64>,
}

impl TagCounts {
    /// A fetch took this long.
    pub(super) fn fetched(&mut self, time: Duration) {
        self.fetch_times.add(time);
        self.last_fetch = Some(time);
    }
}
