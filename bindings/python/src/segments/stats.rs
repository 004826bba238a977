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
            tags.set_item(&stats.tag, Bound::new(py, TagStats(stats.clone()))?)?;
        }
        Ok(tags)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        shown_fields(slf.as_any(), "SegmentsStats", FIELDS)
    }
}

/// The state of a tag in this process at one moment; made by Tag.stats.
#[pyclass(frozen, eq, module = "leafid")]
#[derive(PartialEq, Eq)]
pub(crate) struct TagStats(leafid::TagStats);

impl From<leafid::TagStats> for TagStats {
    fn from(stats: leafid::TagStats) -> TagStats {
        TagStats(stats)
    }
}

#[pymethods]
impl TagStats {
    /// The tag.
    #[getter]
    fn tag(&self) -> &str {
        &self.0.tag
    }

    /// The ids left of the current segment: a range, or None.
    #[getter]
    fn current<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyRange>>> {
        self.0.current.map(|segment| range(py, segment)).transpose()
    }

    /// The segment after it: a range, or None.
    #[getter]
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyRange>>> {
        self.0.next.map(|segment| range(py, segment)).transpose()
    }

    /// Ids in memory.
    #[getter]
    fn left(&self) -> u64 {
        self.0.left
    }

    /// The step of the last fetch, or of the first one; 0 if the source sets it.
    #[getter]
    fn step(&self) -> i64 {
        self.0.step
    }

    /// Whether a fetch is running.
    #[getter]
    fn fetching(&self) -> bool {
        self.0.fetching
    }

    /// Fetches that have ended.
    #[getter]
    fn fetches(&self) -> u64 {
        self.0.fetches
    }

    /// The number of fetches that failed.
    #[getter]
    fn failures(&self) -> u64 {
        self.0.failures
    }

    /// Calls that found no id in memory.
    #[getter]
    fn waits(&self) -> u64 {
        self.0.waits
    }

    /// Calls that wait now.
    #[getter]
    fn waiting(&self) -> usize {
        self.0.waiting
    }

    /// The last fetch's error, None after a success.
    #[getter]
    fn last_error(&self) -> Option<&str> {
        self.0.last_error.as_deref()
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        shown_fields(slf.as_any(), "TagStats", TAG_FIELDS)
    }
}

fn range(py: Python<'_>, segment: Segment) -> PyResult<Bound<'_, PyRange>> {
    let (start, end, stride) = (segment.start() as isize, segment.end() as isize, segment.stride() as isize);
    PyRange::new_with_step(py, start, end, stride)
}
