//! `leafid.Tag`.

use super::asynchronous::Call;
use super::sourced_tag::SourcedTag;
use super::stats::TagStats;
use crate::arguments::{count, int, refused};
use crate::buffer::IdBuffer;
use crate::call::{interruptible, released};
use crate::errors;
use crate::green::waits;
use crate::text_form::as_text;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};
use pyo3::{PyTraverseError, PyVisit};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The ids of one tag; made by Segments.tag. Tags of one name of the same Segments are equal, and share their ids.
///
/// A forked child issues none of its parent's ids: it fetches its own segments.
#[pyclass(frozen, weakref, module = "leafid")]
pub(crate) struct Tag(pub(super) SourcedTag);

#[pymethods]
impl Tag {
    /// The next id. It comes from memory, unless both segments are used up: then the call waits for the next one, at
    /// most timeout_ms (1 to 3600000, default that of Segments). Meanwhile other threads run, greenlets too if gevent
    /// or eventlet has patched, and signals are handled.
    ///
    /// Raises UnknownTagError and ClosedError at once, and after timeout_ms SegmentUnavailableError,
    /// SegmentRegressedError, SourceInvalidError, StateIoError and StateCorruptError.
    #[pyo3(signature = (timeout_ms=None))]
    fn next(slf: &Bound<'_, Self>, timeout_ms: Option<&Bound<'_, PyAny>>) -> PyResult<i64> {
        match timeout_ms {
            None => Tag::__next__(slf),
            Some(_) => Tag::next_within(slf, timeout_ms),
        }
    }

    /// The next id, if one is in memory; else None, and the fetch of the next segment starts. It never waits. Raises
    /// UnknownTagError and ClosedError.
    fn try_next(&self, py: Python<'_>) -> PyResult<Option<i64>> {
        match self.0.tag.next_in_memory() {
            Some(id) => Ok(Some(id)),
            None => released(py, || self.0.tag.try_next()).map_err(|error| self.0.explained(py, error)),
        }
    }

    /// A list of the next n ids, 0 to 16777216, in order, from as many segments as needed. The source is asked for that
    /// many at once, if it can give them. Raises as next does; the ids that it had are then put back and issued later.
    #[pyo3(signature = (n, timeout_ms=None))]
    fn take<'py>(
        slf: &Bound<'py, Self>,
        n: &Bound<'py, PyAny>,
        timeout_ms: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, this, n) = (n.py(), slf.get(), ids(n)?);
        let timeout_ms = timeout(timeout_ms)?;
        if let Some(waits) = waits(py)? {
            return Call::many(slf.py(), &slf.get().0, n, timeout_ms).run(&waits);
        }
        let ids = this.waiting(py, |interrupted| this.0.tag.take_unless(n, timeout_ms, interrupted))?;
        PyList::new(py, ids).map(Bound::into_any)
    }

    /// The next id as text of decimal digits, for JSON that JavaScript reads. Raises as next does.
    #[pyo3(signature = (timeout_ms=None))]
    fn next_str<'py>(
        slf: &Bound<'py, Self>,
        timeout_ms: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyString>> {
        Ok(PyString::new(slf.py(), &Tag::next(slf, timeout_ms)?.to_string()))
    }

    /// A list of the next n ids as text of decimal digits. Raises as take does.
    #[pyo3(signature = (n, timeout_ms=None))]
    fn take_strs<'py>(
        slf: &Bound<'py, Self>,
        n: &Bound<'py, PyAny>,
        timeout_ms: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        as_text(&Tag::take(slf, n, timeout_ms)?)
    }

    /// Fills a buffer with the next ids, in order, without a copy, all or nothing, and returns it.
    ///
    /// out: any writable, C-contiguous buffer of up to 16777216 int64 or uint64 elements: a NumPy array, an
    ///     array.array("q"), a memoryview. Raises InvalidArgumentError for others, and as next does.
    #[pyo3(signature = (out, timeout_ms=None))]
    fn fill<'py>(
        slf: &Bound<'py, Self>,
        out: Bound<'py, PyAny>,
        timeout_ms: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let timeout_ms = timeout(timeout_ms)?;
        let (py, this) = (out.py(), slf.get());
        let mut buffer = IdBuffer::of(&out)?;
        if let Some(waits) = waits(py)? {
            // It may change meanwhile.
            let count = buffer.len();
            drop(buffer);
            return Call::into(slf.py(), &slf.get().0, count, timeout_ms, &out).run(&waits);
        }
        let ids = buffer.ids();
        this.waiting(py, |interrupted| this.0.tag.fill_unless(ids, timeout_ms, interrupted))?;
        Ok(out)
    }

    /// The same as next, as a coroutine for asyncio's event loop. A cancellation loses no id.
    #[pyo3(signature = (timeout_ms=None))]
    fn next_async<'py>(
        slf: &Bound<'py, Self>,
        timeout_ms: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Call::one(slf.py(), &slf.get().0, timeout(timeout_ms)?).coroutine(slf.py())
    }

    /// The same as take, as a coroutine for asyncio's event loop. A cancellation puts back the ids that it had.
    #[pyo3(signature = (n, timeout_ms=None))]
    fn take_async<'py>(
        slf: &Bound<'py, Self>,
        n: &Bound<'py, PyAny>,
        timeout_ms: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Call::many(slf.py(), &slf.get().0, ids(n)?, timeout(timeout_ms)?).coroutine(slf.py())
    }

    /// The state of the tag: a TagStats. Raises ClosedError.
    fn stats(&self, py: Python<'_>) -> PyResult<TagStats> {
        released(py, || self.0.tag.stats()).map(TagStats::from)
    }

    /// The tag's name.
    #[getter]
    fn name(&self) -> &str {
        self.0.tag.name()
    }

    /// Returns itself. Iteration never ends.
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// As next.
    fn __next__(slf: &Bound<'_, Self>) -> PyResult<i64> {
        match slf.get().0.tag.next_in_memory() {
            Some(id) => Ok(id),
            None => Tag::next_after_a_wait(slf, None),
        }
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Tag>().is_ok_and(|other| self.0.identity() == other.get().0.identity())
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.0.identity().hash(&mut hasher);
        hasher.finish()
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.0.visit(&visit)
    }

    fn __reduce__(&self) -> PyResult<()> {
        let message =
            "cannot pickle a leafid.Tag: open leafid.Segments in each process, and ask them for the tag";
        Err(PyTypeError::new_err(message))
    }

    fn __repr__(&self) -> String {
        format!("<leafid.Tag {:?}>", self.0.tag.name())
    }
}

impl Tag {
    #[cold]
    fn next_within(slf: &Bound<'_, Self>, timeout_ms: Option<&Bound<'_, PyAny>>) -> PyResult<i64> {
        let (tag, timeout_ms) = (&slf.get().0.tag, timeout(timeout_ms)?);
        // Refuses an invalid time, even if an id is in memory.
        tag.pending_take(1, timeout_ms).map_err(|error| errors::raise(slf.py(), &error))?;
        match tag.next_in_memory() {
            Some(id) => Ok(id),
            None => Tag::next_after_a_wait(slf, timeout_ms),
        }
    }

    #[cold]
    #[inline(never)]
    fn next_after_a_wait(slf: &Bound<'_, Self>, timeout_ms: Option<i64>) -> PyResult<i64> {
        let this = slf.get();
        match waits(slf.py())? {
            Some(waits) => Call::one(slf.py(), &slf.get().0, timeout_ms).run(&waits)?.extract(),
            None => this.waiting(slf.py(), |interrupted| this.0.tag.next_unless(timeout_ms, interrupted)),
        }
    }

    /// A call that may wait.
    #[cold]
    #[inline(never)]
    fn waiting<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&mut dyn FnMut() -> bool) -> leafid::Result<T> + Send,
    ) -> PyResult<T> {
        self.0.may_wait(py)?;
        interruptible(py, call).map_err(|error| self.0.explained(py, error))
    }
}

fn timeout(timeout_ms: Option<&Bound<'_, PyAny>>) -> PyResult<Option<i64>> {
    timeout_ms.map(|ms| int("timeout_ms", ms)).transpose()
}

fn ids(n: &Bound<'_, PyAny>) -> PyResult<usize> {
    match count("n", n)? {
        ..=leafid::MOST_IDS => count("n", n),
        _ => Err(refused("n", n)),
    }
}
