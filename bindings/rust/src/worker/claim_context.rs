//! What a claim of a worker id needs besides the settings.

use crate::worker::grant::Grant;
use crate::worker::offline_start::OfflineStart;
use leafid_core::Rules;
use std::time::Duration;

/// What a claim needs besides the settings.
#[derive(Clone)]
pub(crate) struct ClaimContext {
    /// The settings' rules, or stricter ones where the record may not outlive the machine's next start.
    pub(crate) rules: Rules,
    /// Nothing below this tick.
    pub(crate) floor: u64,
    /// What the source of worker ids granted, and the suspend-counting clock before it was asked.
    pub(crate) grant: Option<(Grant, Duration)>,
    /// The cached leases that may be used, if no lease server could be reached.
    pub(crate) offline_start: Option<OfflineStart>,
    /// Whether what an earlier holder issued may be recorded nowhere.
    pub(crate) forgets: bool,
    /// A forked child whose parent held an id.
    pub(crate) inherited: bool,
}
