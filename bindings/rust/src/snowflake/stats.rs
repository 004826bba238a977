//! The statistics of a generator.

use crate::snowflake::generator::Generator;
use leafid_core::DurationCounts;
use leafid_core::run::RunStats;

/// The current state of a snowflake generator. Times are Unix milliseconds.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stats {
    /// The id space.
    pub name: String,
    /// The worker id that is held.
    pub worker_id: u32,
    /// The directory of the records, with the sub-directory of the id space; empty if no record is stored.
    pub state_dir: String,
    /// The layout: a preset's name, or bits as in `35|5|23`.
    pub layout: String,
    /// The layout's epoch.
    pub epoch_ms: i64,
    /// The time at which the timestamp bits of the layout end.
    pub expires_at_ms: i64,
    /// Ids are durable up to this time, exclusive.
    pub reserved_until_ms: i64,
    /// How far the logical clock is ahead of the clock, in milliseconds; 0 when it is not.
    pub lead_ms: i64,
    /// How late the clock of `clock_source` may be, in milliseconds; 0 for the system clock.
    pub clock_lag_ms: i64,
    /// The end of the lease of the worker id; `None` without a lease.
    pub lease_until_ms: Option<i64>,
    /// The number of ids issued since the claim of this worker id, with those that a thread reserved for its next calls.
    pub ids: u64,
    /// How long calls waited.
    pub(crate) waits: DurationCounts,
    /// The number of claims of a worker id; more than one after a lost lease.
    pub claims: u64,
    /// The number of handles in this process that share the generator.
    pub handles: usize,
    /// The number of spans made durable since the opening, without the first one.
    pub renewals: u64,
    /// The number of failed renewals of spans and leases.
    pub renewal_failures: u64,
    /// The error of the last renewal; `None` after a success.
    pub last_error: Option<String>,
}

impl Stats {
    /// Does not read the disk and does not wait.
    pub(crate) fn of(generator: &Generator, handles: usize) -> Stats {
        let Generator { core, clock, driver, .. } = generator;
        let (settings, layout) = (&driver.settings, core.layout());
        // In a forked child the caller notices that it is none of its own.
        let run = driver.stats();
        let of = |number: fn(&RunStats) -> u64| run.as_ref().map_or(0, number);
        Stats {
            name: settings.options.name.clone(),
            worker_id: core.worker_id(),
            state_dir: settings.directory.display().to_string(),
            layout: layout.to_string(),
            epoch_ms: layout.epoch_ms(),
            expires_at_ms: layout.expires_at_ms(),
            reserved_until_ms: run.as_ref().map_or(0, |run| run.reserved_until_ms),
            lead_ms: run.as_ref().map_or(0, |run| run.lead_ms),
            clock_lag_ms: clock.lag_ms(),
            lease_until_ms: run.as_ref().and_then(|run| run.lease_until_ms),
            ids: of(|run| run.ids),
            waits: driver.waits.counts(),
            claims: of(|run| run.claims),
            handles,
            renewals: of(|run| run.renewals),
            renewal_failures: of(|run| run.renewal_failures),
            last_error: run.and_then(|run| run.last_error),
        }
    }
}
