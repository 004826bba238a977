//! `leafid.Stats` and `leafid.metrics`.

use crate::call::released;
use crate::value::value_class;
use pyo3::prelude::*;

value_class! {
    /// The state of a generator at one moment; made by Snowflake.stats.
    Stats {
        /// The id space.
        name: String,
        /// The worker id held.
        worker_id: u32,
        /// The directory of the records, with the id space's sub-directory; empty if none are stored.
        state_dir: String,
        /// The layout: a preset's name, or bits as in "35|5|23".
        layout: String,
        /// The layout's epoch, Unix milliseconds.
        epoch_ms: i64,
        /// When the layout's timestamp bits end, Unix milliseconds.
        expires_at_ms: i64,
        /// Ids are durable up to here, exclusive, Unix milliseconds.
        reserved_until_ms: i64,
        /// How far the logical clock is ahead of the clock, milliseconds; 0 when it is not.
        lead_ms: i64,
        /// How late the clock of clock_source may be, milliseconds; 0 for the system's.
        clock_lag_ms: i64,
        /// Where the lease of the worker id ends, Unix milliseconds; None without one.
        lease_until_ms: Option<i64>,
        /// Ids issued since the claim of this worker id, with those that a thread reserved for its next calls.
        ids: u64,
        /// How often a worker id was claimed: more than once when leases were lost.
        claims: u64,
        /// Handles of this process that share the generator.
        handles: usize,
        /// Spans made durable since the generator was opened, the first one not counted.
        renewals: u64,
        /// The number of failed renewals of spans and leases.
        renewal_failures: u64,
        /// The last error of a renewal, None after a success.
        last_error: Option<String>,
    }
}

/// The statistics of everything open in this process, in the OpenMetrics text format of Prometheus. Serve it as
/// "application/openmetrics-text; version=1.0.0; charset=utf-8".
///
/// Reads memory only. A forked child shows the generators that it has used itself.
#[pyfunction]
pub(crate) fn metrics(py: Python<'_>) -> PyResult<String> {
    released(py, || Ok(leafid::metrics()))
}
