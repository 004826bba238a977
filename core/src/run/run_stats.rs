//! The statistics of a run.

use crate::run::run_log::RunLog;
use crate::{Layout, Snowflake};
use alloc::format;
use alloc::string::String;

/// The state of a run at a time. Times are Unix milliseconds.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunStats {
    /// Ids are durable up to this time, exclusive.
    pub reserved_until_ms: i64,
    /// How far the logical clock is ahead of the clock, in milliseconds; 0 when it is not.
    pub lead_ms: i64,
    /// The end of the lease of the worker id; `None` without a lease.
    pub lease_until_ms: Option<i64>,
    /// The number of ids issued since the claim of this worker id.
    pub ids: u64,
    /// The number of claims of a worker id; more than one after a lost lease.
    pub claims: u64,
    /// The number of spans made durable since the opening, without the first ones.
    pub renewals: u64,
    /// The number of failed renewals of spans and leases.
    pub renewal_failures: u64,
    /// The error of the last renewal; `None` after a success.
    pub last_error: Option<String>,
}

impl RunStats {
    pub(crate) fn new(log: &RunLog, flake: Option<&Snowflake>, layout: &Layout, now_ms: i64) -> RunStats {
        let now = layout.tick_at(now_ms).unwrap_or(0);
        let last = flake.and_then(Snowflake::first_unused).unwrap_or(0).saturating_sub(1);
        let error = log.last_error.as_ref().or(log.lease_error.as_ref());
        RunStats {
            reserved_until_ms: layout.tick_start_ms(log.reserved_until),
            lead_ms: last.saturating_sub(now) as i64 * layout.tick_ms(),
            lease_until_ms: log.lease_until_ms,
            ids: flake.map_or(0, Snowflake::issued),
            claims: log.claims,
            renewals: log.renewals,
            renewal_failures: log.failures,
            last_error: error.map(|error| format!("{error}")),
        }
    }
}
