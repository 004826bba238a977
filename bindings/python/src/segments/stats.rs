//! `leafid.SegmentsStats` and `leafid.TagStats`.

use crate::arguments::{reduced, shown_fields};
use crate::errors;
use crate::value::value_class;
use leafid::Segment;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyRange, PyRangeMethods, PyTuple, PyType};

const FIELDS: &str = "name, source, servers, state_dir, tags";

/// The state of segments in this process at one moment; made by Segments.stats.
#[pyclass(frozen, eq, module = "leafid")]
#[derive(PartialEq, Eq)]
pub(crate) struct SegmentsStats {
    name: String,
    source: String,
    /// URLs with their last errors.
    servers: Vec<(String, Option<String>)>,
    state_dir: String,
    tags: Vec<TagStats>,
}

impl From<leafid::SegmentsStats> for SegmentsStats {
    fn from(stats: leafid::SegmentsStats) -> SegmentsStats {
        SegmentsStats {
            name: stats.name,
            source: stats.source,
            servers: stats.servers.into_iter().map(|server| (server.url, server.last_error)).collect(),
            state_dir: stats.state_dir,
            tags: stats.tags.into_iter().map(TagStats::from).collect(),
        }
    }
}

#[pymethods]
impl SegmentsStats {
    #[new]
    fn new(
        name: String,
        source: String,
        servers: &Bound<'_, PyDict>,
        state_dir: String,
        tags: &Bound<'_, PyDict>,
    ) -> PyResult<SegmentsStats> {
        let servers = servers.iter().map(|(url, error)| Ok((url.extract()?, error.extract()?)));
        let tags = tags.values().into_iter().map(|stats| Ok(stats.cast::<TagStats>()?.get().clone()));
        Ok(SegmentsStats {
            name,
            source,
            servers: servers.collect::<PyResult<_>>()?,
            state_dir,
            tags: tags.collect::<PyResult<_>>()?,
        })
    }

    /// The id space.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The kind of source, such as "callback".
    #[getter]
    fn source(&self) -> &str {
        &self.source
    }

    /// The last error of each server, None after a success: a dict by URL, in the order of preference.
    #[getter]
    fn servers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let servers = PyDict::new(py);
        for (url, last_error) in &self.servers {
            servers.set_item(url, last_error)?;
        }
        Ok(servers)
    }

    /// The directory of the marks, with the id space's sub-directory; empty if nothing is stored.
    #[getter]
    fn state_dir(&self) -> &str {
        &self.state_dir
    }

    /// Every tag that was used, in the order of their names: a dict of TagStats by name.
    #[getter]
    fn tags<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let tags = PyDict::new(py);
        for stats in &self.tags {
            tags.set_item(&stats.tag, Bound::new(py, stats.clone())?)?;
        }
        Ok(tags)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        shown_fields(slf.as_any(), "SegmentsStats", FIELDS)
    }

    /// For pickle and copy.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyType>, Bound<'py, PyTuple>)> {
        reduced(slf.as_any(), FIELDS)
    }
}

value_class! {
    /// The state of a tag in this process at one moment; made by Tag.stats.
    TagStats {
        /// The tag.
        tag: String,
        /// The ids left of the current segment: a range, or None.
        current: Ids,
        /// The segment after it: a range, or None.
        next: Ids,
        /// Ids in memory.
        left: u64,
        /// Ids that calls have taken, with those that a thread reserved for its next calls.
        ids: u64,
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
}

/// The ids of a segment: a range in Python, or None.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Ids(Option<Segment>);

impl From<Option<Segment>> for Ids {
    fn from(segment: Option<Segment>) -> Ids {
        Ids(segment)
    }
}

impl<'py> IntoPyObject<'py> for Ids {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let Some(segment) = self.0 else { return Ok(py.None().into_bound(py)) };
        let (start, end, stride) =
            (segment.start() as isize, segment.end() as isize, segment.stride() as isize);
        Ok(PyRange::new_with_step(py, start, end, stride)?.into_any())
    }
}

impl<'py> FromPyObject<'_, 'py> for Ids {
    type Error = PyErr;

    fn extract(ids: Borrowed<'_, 'py, PyAny>) -> PyResult<Ids> {
        if ids.is_none() {
            return Ok(Ids(None));
        }
        let py = ids.py();
        let range = ids.cast::<PyRange>()?;
        let (start, end, stride) = (range.start()?, range.stop()?, range.step()?);
        let segment = Segment::new(start as i64, end as i64, stride as i64);
        segment.map(|segment| Ids(Some(segment))).map_err(|error| errors::raise(py, &error))
    }
}
