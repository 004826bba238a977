//! `leafid.Stats` and `leafid.metrics`.

use crate::arguments::{reduced, shown_fields};
use crate::call::released;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

const FIELDS: &str = "name, worker_id, state_dir, layout, epoch_ms, expires_at_ms, reserved_until_ms, lead_ms, clock_lag_ms, \
    lease_until_ms, ids, claims, handles, renewals, renewal_failures, last_error";

/// The state of a generator at one moment; made by Snowflake.stats.
#[pyclass(frozen, get_all, eq, module = "leafid")]
#[derive(PartialEq, Eq)]
pub(crate) struct Stats {
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

impl From<leafid::Stats> for Stats {
    fn from(stats: leafid::Stats) -> Stats {
        Stats {
            name: stats.name,
            worker_id: stats.worker_id,
            state_dir: stats.state_dir,
            layout: stats.layout,
            epoch_ms: stats.epoch_ms,
            expires_at_ms: stats.expires_at_ms,
            reserved_until_ms: stats.reserved_until_ms,
            lead_ms: stats.lead_ms,
            clock_lag_ms: stats.clock_lag_ms,
            lease_until_ms: stats.lease_until_ms,
            ids: stats.ids,
            claims: stats.claims,
            handles: stats.handles,
            renewals: stats.renewals,
            renewal_failures: stats.renewal_failures,
            last_error: stats.last_error,
        }
    }
}

#[pymethods]
impl Stats {
    #[new]
    #[allow(clippy::too_many_arguments)]
    fn new(
        name: String,
        worker_id: u32,
        state_dir: String,
        layout: String,
        epoch_ms: i64,
        expires_at_ms: i64,
        reserved_until_ms: i64,
        lead_ms: i64,
        clock_lag_ms: i64,
        lease_until_ms: Option<i64>,
        ids: u64,
        claims: u64,
        handles: usize,
        renewals: u64,
        renewal_failures: u64,
        last_error: Option<String>,
    ) -> Stats {
        Stats {
            name,
            worker_id,
            state_dir,
            layout,
            epoch_ms,
            expires_at_ms,
            reserved_until_ms,
            lead_ms,
            clock_lag_ms,
            lease_until_ms,
            ids,
            claims,
            handles,
            renewals,
            renewal_failures,
            last_error,
        }
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        shown_fields(slf.as_any(), "Stats", FIELDS)
    }

    /// For pickle and copy.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyType>, Bound<'py, PyTuple>)> {
        reduced(slf.as_any(), FIELDS)
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
