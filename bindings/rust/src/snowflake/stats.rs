//! The statistics of a generator.

use crate::snowflake::generator::Generator;
use leafid_core::DurationCounts;

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
        let settings = &generator.settings;
        let layout = generator.core.layout();
        let log = generator.renewal_log();
        let now = layout.tick_at(generator.env.clock.filtered_ms()).unwrap_or(0);
        let last = generator.core.first_unused().unwrap_or(0).saturating_sub(1);
        Stats {
            name: settings.key.space.name.clone(),
            worker_id: generator.worker_id,
            state_dir: settings.directory.display().to_string(),
            layout: layout.to_string(),
            epoch_ms: layout.epoch_ms(),
            expires_at_ms: layout.expires_at_ms(),
            reserved_until_ms: layout.tick_start_ms(log.until),
            lead_ms: last.saturating_sub(now) as i64 * layout.tick_ms(),
            clock_lag_ms: generator.clock.lag_ms(),
            lease_until_ms: log.lease_until_ms,
            ids: generator.core.issued(),
            waits: generator.waits.counts(),
            claims: log.claims,
            handles,
            renewals: log.renewals,
            renewal_failures: log.failures,
            last_error: log.last_error.or(log.lease_error).map(|error| error.to_string()),
        }
    }
}
