//! `leafid.SegmentsStats` and `leafid.TagStats`.

use crate::arguments::shown_fields;
use leafid::Segment;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyRange};

const FIELDS: &str = "name, source, servers, state_dir, tags";
const TAG_FIELDS: &str =
    "tag, current, next, left, step, fetching, fetches, failures, waits, waiting, last_error";

/// How segments fare in this process, at one moment; made by Segments.stats.
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

    /// Where segments come from, as in "callback".
    #[getter]
    fn source(&self) -> &str {
        &self.0.source
    }

    /// What each server failed with last, None after a success: a dict by URL, in the order that they are preferred in.
    #[getter]
    fn servers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let servers = PyDict::new(py);
        for server in &self.0.servers {
            servers.set_item(&server.url, &server.last_error)?;
        }
        Ok(servers)
    }

    /// The directory that keeps how far each tag was given, with the id space's sub-directory; empty where nothing is
    /// kept.
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

/// How a tag fares in this process, at one moment; made by Tag.stats.
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

    /// What is left of the segment that is issued: a range, or None.
    #[getter]
    fn current<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyRange>>> {
        self.0.current.map(|segment| range(py, segment)).transpose()
    }

    /// The segment after it: a range, or None.
    #[getter]
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyRange>>> {
        self.0.next.map(|segment| range(py, segment)).transpose()
    }

    /// Ids at hand.
    #[getter]
    fn left(&self) -> u64 {
        self.0.left
    }

    /// The step of the last fetch, or of the first one to come; 0 leaves that one to the source.
    #[getter]
    fn step(&self) -> i64 {
        self.0.step
    }

    /// Whether a fetch is under way.
    #[getter]
    fn fetching(&self) -> bool {
        self.0.fetching
    }

    /// Fetches that have ended.
    #[getter]
    fn fetches(&self) -> u64 {
        self.0.fetches
    }

    /// Fetches that failed.
    #[getter]
    fn failures(&self) -> u64 {
        self.0.failures
    }

    /// Calls that found nothing at hand.
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
