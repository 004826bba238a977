//! `leafid.SegmentsStats` and `leafid.TagStats`.

use crate::arguments::shown_fields;
use leafid::Segment;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyRange};

const FIELDS: &str = "name, source, servers, state_dir, tags";
const TAG_FIELDS: &str =
    "tag, current, next, left, step, fetching, fetches, failures, waits, waiting, last_error";

/// The state of segments in this process at one moment; made by Segments.stats.
#[pyclass(frozen, eq, module = "leafid")]
#[derive(PartialEq, Eq)]
pub(crate) struct SegmentsStats(leafid::SegmentsStats);

impl From<leafid::SegmentsStats> for SegmentsStats {
    fn from(stats: leafid::SegmentsStats) -> SegmentsStats {
        SegmentsStats(stats)
    }
}

#[pymethods]
impl SegmentsStats {
    /// The id space.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// The kind of source, such as "callback".
    #[getter]
    fn source(&self) -> &str {
        &self.0.source
    }

    /// The last error of each server, None after a success: a dict by URL, in the order of preference.
    #[getter]
    fn servers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let servers = PyDict::new(py);
        for server in &self.0.servers {
            servers.set_item(&server.url, &server.last_error)?;
        }
        Ok(servers)
    }

    /// The directory of the marks, with the id space's sub-directory; empty if nothing is stored.
    #[getter]
    fn state_dir(&self) -> &str {
        &self.0.state_dir
    }

    /// Every tag that was used, in the order of their names: a dict of TagStats by name.
    #[getter]
    fn tags<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let tags = PyDict::new(py);
        for stats in &self.0.tags {
            tags.set_item(&stats.tag, Bound::new(py, TagStats::from(stats.clone()))?)?;
        }
        Ok(tags)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        shown_fields(slf.as_any(), "SegmentsStats", FIELDS)
    }
}

/// The state of a tag in this process at one moment; made by Tag.stats.
#[pyclass(frozen, get_all, eq, module = "leafid")]
#[derive(PartialEq, Eq)]
pub(crate) struct TagStats {
    /// The tag.
    tag: String,
    /// The ids left of the current segment: a range, or None.
    current: Option<Ids>,
    /// The segment after it: a range, or None.
    next: Option<Ids>,
    /// Ids in memory.
    left: u64,
    /// The step of the last fetch, or of the first one; 0 if the source sets it.
    step: i64,
    /// Whether a fetch is running.
    fetching: bool,
    /// Fetches that have ended.
    fetches: u64,
    /// The number of fetches that failed.
    failures: u64,
    /// Calls that found no id in memory.
    waits: u64,
    /// Calls that wait now.
    waiting: usize,
    /// The last fetch's error, None after a success.
    last_error: Option<String>,
}

impl From<leafid::TagStats> for TagStats {
    fn from(stats: leafid::TagStats) -> TagStats {
        TagStats {
            tag: stats.tag,
            current: stats.current.map(Ids),
            next: stats.next.map(Ids),
            left: stats.left,
            step: stats.step,
            fetching: stats.fetching,
            fetches: stats.fetches,
            failures: stats.failures,
            waits: stats.waits,
            waiting: stats.waiting,
            last_error: stats.last_error,
        }
    }
}

#[pymethods]
impl TagStats {
    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        shown_fields(slf.as_any(), "TagStats", TAG_FIELDS)
    }
}

/// The ids of a segment; a range in Python.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Ids(Segment);

impl<'py> IntoPyObject<'py> for Ids {
    type Target = PyRange;
    type Output = Bound<'py, PyRange>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyRange>> {
        let Ids(segment) = self;
        let (start, end, stride) =
            (segment.start() as isize, segment.end() as isize, segment.stride() as isize);
        PyRange::new_with_step(py, start, end, stride)
    }
}
