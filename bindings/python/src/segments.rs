//! `leafid.Segments`.

mod asynchronous;
mod fetch;
mod options;
mod sourced_tag;
mod stats;
mod tag;

pub(crate) use asynchronous::{Call, FutureInbox};
pub(crate) use stats::{SegmentsStats, TagStats};
pub(crate) use tag::Tag;

use crate::arguments::text;
use crate::call::released;
use crate::errors;
use crate::green::interruptible;
use crate::{exit, logs};
use fetch::Fetch;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use sourced_tag::SourcedTag;
use std::sync::Arc;

/// Ids from segments: ranges of counters, one counter for each tag, leased from a source and issued from memory.
///
/// Each tag has two segments in memory, so that calls do not wait while the source is slow, or down for a while. None
/// means an option's default. docs/OPTIONS.md of the project describes every option in full, docs/SEGMENTS.md fetch.
///
/// servers: the URL of a server or a list of them, such as "http://leaf-1:8080"; or "file:DIR" alone, a directory that
///     the processes of one host share.
/// fetch: a callable instead of servers: fetch(tag, step), or fetch(tag, step, *, after), returns range(start, end) or
///     (start, end), ids that were never given before, or None for an unknown tag. It may be an async def.
/// protocol: "leaf" (default), "leaf-snowflake", "range" or "tinyid".
/// step: how many ids to ask for at a time, 1 to 1000000; with a Leaf the size of the stock. Default: the source's own,
///     or 1000.
/// adaptive: whether the step, or a Leaf's stock, follows the use. Default True.
/// prefetch: the next segment is fetched when more than this percentage is used, 0 to 100. Default 10.
/// timeout_ms: the longest wait of a call for its next id. Default 2000.
/// request_timeout_ms: the longest duration of a request, over all servers. Default 1000.
/// connect_timeout_ms: the longest duration of a connection to a server. Default 300.
/// connections: kept-alive connections to each server, 1 to 64. Default 4.
/// block_size: with "leaf", how many ids each number stands for, 2 to 1000000; the tag must be called "...-xN". With
///     others, 1 is your word that tags called so are no blocks of ids for anybody.
/// token: sent to servers as "Authorization: Bearer …"; to tinyid as the token of its form. Default: LEAFID_TOKEN, or the
///     file LEAFID_TOKEN_FILE.
/// headers: a mapping of more headers for servers.
/// ca_file: a PEM file of authorities for servers, in addition to the system's.
/// name: the id space. Two databases or two clusters need two names. Default "default".
/// state_dir: the directory of the marks. Default: as for a Snowflake.
/// persist: False stores nothing: then only this process notices a source that repeats itself. Default True.
/// shared_fs: whether state_dir and file:DIR may be on a network file system with working locks. Default False.
/// shared_group: whether the members of a group share state_dir and file:DIR. Default: LEAFID_SHARED_GROUP, else False.
/// tags: counters of file:DIR, created if missing: {"order": {"start": 1, "step": 1000}}.
/// create: whether to create file:DIR if it is missing. Default False.
/// prewarm: tags to fetch at once, in the background: a list of at most 1000, or "last-day".
/// keep_unused: whether a clean close stores the unused ids for the next opening on this machine. Default False.
/// ordered_source: whether to refuse a segment that lies below earlier ones. Default True; False for a Leaf and tinyid.
///
/// An exception of fetch is the __cause__ of the error. Raises InvalidArgumentError, StateIoError, and with file:DIR
/// UnknownTagError and StateCorruptError.
#[pyclass(frozen, weakref, module = "leafid")]
pub(crate) struct Segments {
    segments: leafid::Segments,
    fetch: Option<Arc<Fetch>>,
}

#[pymethods]
impl Segments {
    #[new]
    #[pyo3(signature = (servers=None, **options))]
    fn new(
        py: Python<'_>,
        servers: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<Segments>> {
        let (builder, fetch) = options::parse(servers, options)?;
        logs::adopt_level(py);
        let segments = interruptible(py, move |_| builder.open())?;
        let segments = Bound::new(py, Segments { segments, fetch })?;
        exit::watch(segments.as_any())?;
        Ok(segments.unbind())
    }

    /// The tag of this name: a Tag. 1 to 128 bytes of UTF-8 without control characters. Nothing is fetched yet. Raises
    /// InvalidArgumentError and ClosedError.
    fn tag(slf: &Bound<'_, Self>, name: &Bound<'_, PyAny>) -> PyResult<Tag> {
        let this = slf.get();
        let tag = this.segments.tag(&text("tag", name)?).map_err(|error| errors::raise(slf.py(), &error))?;
        Ok(Tag(SourcedTag::new(tag, this.fetch.clone(), slf.clone().into_any().unbind())))
    }

    /// The state of every tag that this process has used: a SegmentsStats. Raises ClosedError.
    fn stats(&self, py: Python<'_>) -> PyResult<SegmentsStats> {
        released(py, || self.segments.stats()).map(SegmentsStats::from)
    }

    /// Closes all tags. A second call does nothing. Calls that wait raise ClosedError. `with`, dropping the last
    /// reference, of its tags too, and the end of the interpreter close it too. Raises StateIoError: it is closed
    /// anyway, but some ids that keep_unused should store are lost.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let segments = self.segments.clone();
        let closed = interruptible(py, move |_| segments.close());
        if let Some(fetch) = &self.fetch {
            fetch.forget();
        }
        closed
    }

    /// The id space.
    #[getter]
    fn name(&self) -> &str {
        self.segments.name()
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception), text_signature = "($self, kind, exception, traceback, /)")]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.close(py)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.fetch.as_ref().map_or(Ok(()), |fetch| fetch.visit(&visit))
    }

    fn __clear__(&self) {
        if let Some(fetch) = &self.fetch {
            fetch.clear();
        }
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err("cannot pickle leafid.Segments: open them in each process"))
    }

    fn __repr__(&self) -> String {
        format!("<leafid.Segments name={:?}>", self.segments.name())
    }
}

impl Drop for Segments {
    /// Closing may write, so other threads run meanwhile. While the interpreter ends there is nothing to release.
    fn drop(&mut self) {
        let closed = Python::try_attach(|py| py.detach(|| self.segments.close()));
        if closed.is_none() {
            let _ = self.segments.close();
        }
    }
}
