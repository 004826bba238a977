//! `leafid.Tag`.

use super::asynchronous::Call;
use super::{Segments, TagStats};
use crate::arguments::{count, int, refused};
use crate::buffer::IdBuffer;
use crate::call::{interruptible, released};
use crate::errors;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use pyo3::{PyTraverseError, PyVisit};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The ids of one tag; made by Segments.tag. Tags of one name of the same Segments are equal, and share their ids.
///
/// In a forked child nothing of what its parent had at hand is issued: it fetches segments of its own.
#[pyclass(frozen, weakref, module = "leafid")]
pub(crate) struct Tag {
    pub(super) tag: leafid::Tag,
    /// What the callable belongs to.
    pub(super) segments: Py<Segments>,
}

#[pymethods]
impl Tag {
    /// The next id. From memory, unless both segments are used up: then it waits for the next one, at most timeout_ms
    /// (1 to 3600000, default that of Segments); other threads run and signals are handled meanwhile.
    ///
    /// Raises UnknownTagError and ClosedError at once, and after timeout_ms SegmentUnavailableError,
    /// SegmentRegressedError, SourceInvalidError, StateIoError and StateCorruptError.
    #[pyo3(signature = (timeout_ms=None))]
    fn next(&self, py: Python<'_>, timeout_ms: Option<&Bound<'_, PyAny>>) -> PyResult<i64> {
        match timeout_ms {
            None => self.__next__(py),
            Some(_) => self.next_within(py, timeout_ms),
        }
    }

    /// A list of the next n ids, 1 to 16777216, in order, over as many segments as it takes. The source is asked for that
    /// many at once where it can give them. Raises as next does; what it had is put back then, and issued later.
    #[pyo3(signature = (n, timeout_ms=None))]
    fn take<'py>(
        &self,
        n: &Bound<'py, PyAny>,
        timeout_ms: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let (py, n) = (n.py(), ids(n)?);
        let timeout_ms = timeout(timeout_ms)?;
        PyList::new(py, self.waiting(py, |interrupted| self.tag.take_unless(n, timeout_ms, interrupted))?)
    }

    /// Fills a buffer with the next ids, in order, without a copy, all or nothing, and returns it.
    ///
    /// out: any writable, C-contiguous buffer of 1 to 16777216 int64 or uint64 elements: a NumPy array, an
    ///     array.array("q"), a memoryview. Raises InvalidArgumentError for others, and as next does.
    #[pyo3(signature = (out, timeout_ms=None))]
    fn fill<'py>(
        &self,
        out: Bound<'py, PyAny>,
        timeout_ms: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let timeout_ms = timeout(timeout_ms)?;
        let mut buffer = IdBuffer::of(&out)?;
        let ids = buffer.ids();
        self.waiting(out.py(), |interrupted| self.tag.fill_unless(ids, timeout_ms, interrupted))?;
        Ok(out)
    }

    /// As next, in asyncio's event loop: a coroutine. Cancelled, it loses no id.
    #[pyo3(signature = (timeout_ms=None))]
    fn next_async<'py>(
        slf: &Bound<'py, Self>,
        timeout_ms: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Call::one(slf, timeout(timeout_ms)?).coroutine(slf.py())
    }

    /// As take, in asyncio's event loop: a coroutine. Cancelled, it puts back what it had.
    #[pyo3(signature = (n, timeout_ms=None))]
    fn take_async<'py>(
        slf: &Bound<'py, Self>,
        n: &Bound<'py, PyAny>,
        timeout_ms: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Call::many(slf, ids(n)?, timeout(timeout_ms)?).coroutine(slf.py())
    }

    /// How the tag fares: a TagStats. Raises ClosedError.
    fn stats(&self, py: Python<'_>) -> PyResult<TagStats> {
        released(py, || self.tag.stats()).map(TagStats::from)
    }

    /// The tag's name.
    #[getter]
    fn name(&self) -> &str {
        self.tag.name()
    }

    /// Itself: iteration never ends.
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// As next.
    fn __next__(&self, py: Python<'_>) -> PyResult<i64> {
        match self.tag.at_hand() {
            Some(id) => Ok(id),
            None => self.waiting(py, |interrupted| self.tag.next_unless(None, interrupted)),
        }
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Tag>().is_ok_and(|other| self.identity() == other.get().identity())
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.identity().hash(&mut hasher);
        hasher.finish()
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.segments)
    }

    fn __reduce__(&self) -> PyResult<()> {
        let message =
            "cannot pickle a leafid.Tag: open leafid.Segments in each process, and ask them for the tag";
        Err(PyTypeError::new_err(message))
    }

    fn __repr__(&self) -> String {
        format!("<leafid.Tag {:?}>", self.tag.name())
    }
}

impl Tag {
    pub(super) fn new(tag: leafid::Tag, segments: Py<Segments>) -> Tag {
        Tag { tag, segments }
    }

    fn identity(&self) -> (usize, &str) {
        (self.segments.as_ptr() as usize, self.tag.name())
    }

    #[cold]
    fn next_within(&self, py: Python<'_>, timeout_ms: Option<&Bound<'_, PyAny>>) -> PyResult<i64> {
        let timeout_ms = timeout(timeout_ms)?;
        // Refuses a time that is none, with an id at hand too.
        self.tag.attempt(1, timeout_ms).map_err(|error| errors::raise(py, &error))?;
        match self.tag.at_hand() {
            Some(id) => Ok(id),
            None => self.waiting(py, |interrupted| self.tag.next_unless(timeout_ms, interrupted)),
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
        let segments = self.segments.get();
        segments.may_wait(py, self.tag.name())?;
        interruptible(py, call).map_err(|error| segments.explained(py, self.tag.name(), error))
    }
}

fn timeout(timeout_ms: Option<&Bound<'_, PyAny>>) -> PyResult<Option<i64>> {
    timeout_ms.map(|ms| int("timeout_ms", ms)).transpose()
}

fn ids(n: &Bound<'_, PyAny>) -> PyResult<usize> {
    match count("n", n)? {
        1..=leafid::MOST_IDS => count("n", n),
        _ => Err(refused("n", n)),
    }
}
