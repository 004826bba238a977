//! What is counted of a tag, for metrics: nothing is decided by it.

use crate::call::CallId;
use crate::{Code, Durations};
use alloc::vec::Vec;

/// The counts of one tag. Most tags of a program have none for long, and no program needs them to go on.
#[derive(Clone, Debug, Default)]
pub(super) struct TagCounts {
    /// How long calls waited, and how long the source took.
    pub(super) wait_times: Durations,
    pub(super) fetch_times: Durations,
    /// The number of calls that found no id in memory.
    pub(super) waits: u64,
    /// The number of fetches that failed with each code.
    pub(super) failures: Vec<(Code, u64)>,
    /// The call to the source that failed last: a host may have the error object of its language.
    pub(super) failed_by: Option<CallId>,
}

impl TagCounts {
    /// A fetch failed.
    pub(super) fn failed(&mut self, code: Code) {
        match self.failures.iter_mut().find(|(known, _)| *known == code) {
            Some((_, count)) => *count += 1,
            None => self.failures.push((code, 1)),
        }
    }
}
