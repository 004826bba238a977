//! `leafid.Segments`.

mod asynchronous;
mod fetch;
mod options;
mod stats;
mod tag;

pub(crate) use asynchronous::{Call, Mail};
pub(crate) use stats::{SegmentsStats, TagStats};
pub(crate) use tag::Tag;

use crate::arguments::text;
use crate::call::released;
use crate::errors;
use crate::green::interruptible;
use crate::{exit, logs};
use fetch::Fetch;
use leafid::{Code, Error};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use std::sync::Arc;

/// Ids from segments: ranges of counters, one counter a tag, leased from a source and issued from memory.
///
/// Each tag has two segments at hand, so that a source may be slow, or gone for a while, without a call that waits. None
/// means an option's default.
///
/// servers: where segments come from: the URL of a server or a list of them, as in "http://leaf-1:8080", of which the
///     first is preferred and one that fails rests; or "file:DIR" alone, a directory that processes of one host share.
/// fetch: a callable instead, on your own database for example: fetch(tag, step) answers a range of ids that was never
///     given before, as range(start, end) or as the pair (start, end), or None for a tag that it does not know; more or
///     fewer ids than step are fine, and a range's own step is the ids' stride. The range is taken from its counter in
///     one transaction, which has ended before the answer. With a parameter named after it is told the end of what was
///     given before, too: a counter that says less has lost something. It is called on threads of leafid's, for one tag
///     one call at a time, for several tags up to four; an async def is run there by asyncio.run, each call in a loop of
///     its own. What it raises is a SegmentUnavailableError, or leafid's own exception of the same class, whose
///     __cause__ it is; it is called again later.
/// protocol: what the servers speak: "leaf" (default), the segment mode of an unmodified Leaf; "leaf-snowflake", its
///     snowflake mode; "tinyid"; or "range".
/// step: how many ids to ask for at a time, 1 to 1000000. Default the source's own; 1000 of a callable. Of a Leaf, which
///     gives one id a request, as many are kept in stock, 1000 by default; tinyid decides itself, and takes none.
/// adaptive: whether the step follows the use: doubled when a segment lasted less than 15 minutes, up to 1000000, halved
///     when it lasted more than 30. Default True. The stock of a Leaf begins at 16 ids, and grows to step with the use;
///     False fills it at once.
/// prefetch: of how much of a segment, in percent, more must be used before the next is fetched, 0 to 100. Default 10.
/// timeout_ms: how long a call waits at most for its next id. Default 2000.
/// request_timeout_ms, connect_timeout_ms: how long a request to a server may last, and the connection to it take.
///     Default 1000 and 300.
/// connections: connections to each server that are kept alive, 1 to 64; of a Leaf also how many requests are under
///     way at a time, for all tags together. Default 4.
/// block_size: with protocol "leaf", each number n that the Leaf gives stands for the ids n * block_size to
///     n * block_size + block_size - 1, 2 to 1000000. The tag must then be called "...-xN", N being the block_size: no
///     other client may use its numbers as they are.
/// token: sent to servers as "Authorization: Bearer …"; to tinyid as the token of its form.
/// headers: a mapping of headers sent to servers besides.
/// ca_file: a PEM file of authorities that servers may be signed by, besides the system's own.
/// name: the id space: what a source gives a tag of it twice is refused. Default "default".
/// state_dir: where it is kept how far each tag was given. Default as for a Snowflake.
/// persist: False keeps nothing: only this process notices a source that repeats itself. Default True.
/// shared_fs: whether state_dir, and file:DIR, may lie on a network file system, whose locks must work. Default False.
/// shared_group: whether state_dir, and file:DIR, are shared by the members of one group: files of mode 0660 whatever the
///     umask, and directories 2770. Default LEAFID_SHARED_GROUP, else False: 0640 and 0750 less the umask.
/// tags: tags of a file:DIR source, made at their first use if it has them not yet: {"order": {"start": 1, "step": 1000}}.
/// create: whether file:DIR is made if it is missing. Default False: a counter that is lost must not begin anew by itself.
/// prewarm: tags to be fetched at once, in the background: a list of at most 1000, or "last-day" for those that were
///     fetched within the last day.
/// keep_unused: whether a clean close keeps what is left for the next opening on this machine, for a day. Default False.
/// ordered_source: whether the source gives each segment of a tag above all before, so that one below is refused. Default
///     True, but False of a Leaf, whose nodes interleave, and of tinyid; then those are refused that cross one that is
///     remembered.
///
/// Raises InvalidArgumentError, StateIoError, and with file:DIR UnknownTagError and StateCorruptError.
#[pyclass(frozen, weakref, module = "leafid")]
pub(crate) struct Segments {
    segments: leafid::Segments,
    fetch: Option<Arc<Fetch>>,
}

#[pymethods]
impl Segments {
    #[new]
    #[pyo3(
        signature = (servers=None, **options),
        text_signature = "(servers=None, *, fetch=None, protocol=None, step=None, adaptive=None, prefetch=None, \
            timeout_ms=None, request_timeout_ms=None, connect_timeout_ms=None, connections=None, block_size=None, token=None, \
            headers=None, ca_file=None, name=None, state_dir=None, persist=None, shared_fs=None, shared_group=None, tags=None, \
            create=None, prewarm=None, keep_unused=None, ordered_source=None)"
    )]
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
        let tag = slf.get().segments.tag(&text("tag", name)?);
        Ok(Tag::new(tag.map_err(|error| errors::raise(slf.py(), &error))?, slf.clone().unbind()))
    }

    /// How every tag stands that this process has used: a SegmentsStats. Raises ClosedError.
    fn stats(&self, py: Python<'_>) -> PyResult<SegmentsStats> {
        released(py, || self.segments.stats()).map(SegmentsStats::from)
    }

    /// Ends all tags; a second time does nothing. Calls that wait raise ClosedError. Also done by `with`, by dropping the
    /// last reference, of its tags too, and at the end of the interpreter. Raises StateIoError: it is closed all the
    /// same, and some of what keep_unused was to keep is lost.
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

impl Segments {
    /// The error of a call, with what the user's code raised as its cause.
    fn explained(&self, py: Python<'_>, tag: &str, error: PyErr) -> PyErr {
        if let Some(fetch) = &self.fetch {
            fetch.explain(py, tag, &error);
        }
        error
    }

    /// Errors: this thread is at the fetch that the call would wait for.
    fn may_wait(&self, py: Python<'_>, tag: &str) -> PyResult<()> {
        match &self.fetch {
            Some(fetch) if fetch.is_asked_here(tag) => {
                let message = format!(
                    "the fetch of the tag {tag:?} asks for an id of that tag, which waits for it; it can use any other one"
                );
                Err(errors::raise(py, &Error::new(Code::SegmentUnavailable, message)))
            }
            _ => Ok(()),
        }
    }
}

impl Drop for Segments {
    /// Closing may write: other threads run meanwhile. While the interpreter ends there is nothing to release.
    fn drop(&mut self) {
        let closed = Python::try_attach(|py| py.detach(|| self.segments.close()));
        if closed.is_none() {
            let _ = self.segments.close();
        }
    }
}
