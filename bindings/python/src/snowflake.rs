//! `leafid.Snowflake`.

use crate::arguments::{count, refused};
use crate::buffer::IdBuffer;
use crate::call::{interruptible, released};
use crate::exit;
use crate::layout::Layout;
use crate::options::builder;
use crate::stats::Stats;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

/// A generator of unique 64-bit ids.
///
/// It claims a worker id in a state directory and makes ids from memory, unique across threads, processes, forks,
/// crashes, restarts and clock movements. The same options opened twice in a process share one generator. None means
/// an option's default.
///
/// worker: the worker id (7), or a range of them (range(0, 32), "0-31" with both ends) of which any free one is
///     claimed. Default: the environment's LEAFID_WORKER.
/// name: the id space. Default "default".
/// state_dir: where the records of the worker ids are kept, made if missing. Default: LEAFID_STATE_DIR, systemd's
///     STATE_DIRECTORY, /var/lib/leafid where writable, else the user's own state directory.
/// layout: a preset ("leaf"), bits as in "35|5|23", or a Layout. Default Leaf's.
/// epoch_ms: the layout's epoch, Unix milliseconds. Default the layout's own.
/// on_clock_backwards: "continue" (default) goes on upon the logical clock, "wait" waits for the clock.
/// max_backwards_ms: how far the clock may be behind. Default 5000 under "continue", 5 under "wait".
/// on_exhausted: when a tick is used up, "wait" (default) for the next, or "borrow" from the time ahead.
/// random_start: a new tick starts its sequence below this number; 0 is off. Default 100.
/// timeout_ms: how long a call waits at most for its next id. Default 2000.
///
/// Raises InvalidArgumentError, WorkerInUseError, ClockBackwardsError, BeforeEpochError, TimeExhaustedError,
/// StateIoError, StateCorruptError and StateMismatchError.
#[pyclass(frozen, weakref, module = "leafid")]
pub(crate) struct Snowflake {
    flake: leafid::Snowflake,
    name: String,
}

#[pymethods]
impl Snowflake {
    #[new]
    #[pyo3(
        signature = (worker=None, **options),
        text_signature = "(worker=None, *, name=None, state_dir=None, layout=None, epoch_ms=None, \
            on_clock_backwards=None, max_backwards_ms=None, on_exhausted=None, random_start=None, timeout_ms=None)"
    )]
    fn new(
        py: Python<'_>,
        worker: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<Snowflake>> {
        let builder = builder(py, worker, options)?;
        let (flake, name) = released(py, || {
            let flake = builder.open()?;
            let name = flake.stats()?.name;
            Ok((flake, name))
        })?;
        let flake = Bound::new(py, Snowflake { flake, name })?;
        exit::watch(&flake)?;
        Ok(flake.unbind())
    }

    /// The next id, above every id that this generator made before.
    ///
    /// Waits at most timeout_ms; other threads run and signals are handled meanwhile. Raises ClockBackwardsError,
    /// TimeExhaustedError, BeforeEpochError, WouldBlockError (no id within timeout_ms), WorkerInUseError (in a forked
    /// child), WorkerLostError, StateIoError and ClosedError.
    fn next(&self, py: Python<'_>) -> PyResult<i64> {
        match self.flake.try_next() {
            Some(id) => Ok(id),
            None => interruptible(py, |interrupted| self.flake.next_unless(interrupted)),
        }
    }

    /// A list of the next n ids, ascending; 1 to 16777216. Raises as next does.
    fn take<'py>(&self, n: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let py = n.py();
        let count = count("n", n)?;
        if count > leafid::MOST_IDS {
            return Err(refused("n", n));
        }
        let ids = interruptible(py, |interrupted| self.flake.take_unless(count, interrupted))?;
        PyList::new(py, ids)
    }

    /// Fills a buffer with the next ids, ascending, without a copy, all or nothing, and returns it.
    ///
    /// out: any writable, C-contiguous buffer of 1 to 16777216 int64 or uint64 elements: a NumPy array, an
    ///     array.array("q"), a memoryview. Raises InvalidArgumentError for others, and as next does.
    fn fill<'py>(&self, out: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let mut buffer = IdBuffer::of(&out)?;
        let ids = buffer.ids();
        interruptible(out.py(), |interrupted| self.flake.fill_unless(ids, interrupted))?;
        Ok(out)
    }

    /// How the generator fares: a Stats. Raises ClosedError.
    fn stats(&self, py: Python<'_>) -> PyResult<Stats> {
        released(py, || self.flake.stats()).map(Stats::from)
    }

    /// Closes it; a second time does nothing. The last handle of a generator records the exact end and gives the
    /// worker id back. Other threads may be in next: they get ClosedError. Also done by `with`, by dropping the last
    /// reference, and at the end of the interpreter.
    pub(crate) fn close(&self, py: Python<'_>) -> PyResult<()> {
        released(py, || self.flake.close())
    }

    /// The worker id. Raises ClosedError.
    #[getter]
    fn worker_id(&self, py: Python<'_>) -> PyResult<u32> {
        released(py, || self.flake.worker_id())
    }

    /// The layout of the ids: a Layout.
    #[getter]
    fn layout(&self) -> Layout {
        self.flake.layout().into()
    }

    /// Itself: iteration never ends.
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// As next.
    fn __next__(&self, py: Python<'_>) -> PyResult<i64> {
        self.next(py)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception), text_signature = "($self, kind, exception, traceback, /)")]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.close(py)
    }

    /// Without the worker id: to ask for it may claim one, in a forked child.
    fn __repr__(&self) -> String {
        format!("<leafid.Snowflake name={:?} layout={}>", self.name, self.flake.layout())
    }
}

impl Drop for Snowflake {
    /// Closing may write: other threads run meanwhile. While the interpreter ends there is nothing to release.
    fn drop(&mut self) {
        let closed = Python::try_attach(|py| py.detach(|| self.flake.close()));
        if closed.is_none() {
            let _ = self.flake.close();
        }
    }
}
