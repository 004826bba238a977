//! The inputs of a claim besides the settings.

use crate::worker::grant::Grant;
use crate::worker::offline_start::OfflineStart;
use leafid_core::Rules;
use std::time::Duration;

/// The inputs of a claim besides the settings.
#[derive(Clone)]
pub(crate) struct ClaimContext {
    /// The rules of the settings, or stricter ones if the record may not survive the machine's next start.
    pub(crate) rules: Rules,
    /// No id is issued below this tick.
    pub(crate) floor: u64,
    /// The grant of the worker id source, and the boot time before the source was called.
    pub(crate) grant: Option<(Grant, Duration)>,
    /// The cached leases that may be used, if no lease server was reachable.
    pub(crate) offline_start: Option<OfflineStart>,
    /// Whether the ids of an earlier holder may not be recorded anywhere.
    pub(crate) forgets: bool,
    /// Whether this is a forked child whose parent held an id.
    pub(crate) inherited: bool,
}
