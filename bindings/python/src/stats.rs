//! `leafid.Stats`.

use pyo3::prelude::*;

/// How a generator fares, at one moment; made by Snowflake.stats.
#[pyclass(frozen, get_all, eq, module = "leafid")]
#[derive(PartialEq, Eq)]
pub(crate) struct Stats {
    /// The id space.
    name: String,
    /// The worker id.
    worker_id: u32,
    /// The directory of the records.
    state_dir: String,
    /// A preset's name, or bits as in "35|5|23".
    layout: String,
    /// Unix milliseconds of tick 0.
    epoch_ms: i64,
    /// Unix milliseconds at which the layout's timestamp bits are used up.
    expires_at_ms: i64,
    /// Unix milliseconds up to which, exclusive, ids may be issued without another durable write.
    reserved_until_ms: i64,
    /// How far the last id is ahead of the clock, milliseconds; 0 when it is not.
    lead_ms: i64,
    /// Open handles of this generator in this process.
    handles: usize,
    /// Durable writes of a span.
    renewals: u64,
    /// Durable writes that failed.
    renewal_failures: u64,
    /// The last failure; None when there was none.
    last_error: Option<String>,
}

impl From<leafid::Stats> for Stats {
    fn from(stats: leafid::Stats) -> Stats {
        let leafid::Stats {
            name,
            worker_id,
            state_dir,
            layout,
            epoch_ms,
            expires_at_ms,
            reserved_until_ms,
            lead_ms,
            handles,
            renewals,
            renewal_failures,
            last_error,
            ..
        } = stats;
        Stats {
            name,
            worker_id,
            state_dir,
            layout,
            epoch_ms,
            expires_at_ms,
            reserved_until_ms,
            lead_ms,
            handles,
            renewals,
            renewal_failures,
            last_error,
        }
    }
}

#[pymethods]
impl Stats {
    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let mut fields = Vec::with_capacity(12);
        for name in [
            "name",
            "worker_id",
            "state_dir",
            "layout",
            "epoch_ms",
            "expires_at_ms",
            "reserved_until_ms",
            "lead_ms",
            "handles",
            "renewals",
            "renewal_failures",
            "last_error",
        ] {
            fields.push(format!("{name}={}", slf.getattr(name)?.repr()?));
        }
        Ok(format!("leafid.Stats({})", fields.join(", ")))
    }
}
