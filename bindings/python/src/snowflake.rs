//! `leafid.Snowflake`.

use crate::arguments::{count, refused};
use crate::buffer::IdBuffer;
use crate::call::{self, released};
use crate::exit;
use crate::green::{interruptible, waits};
use crate::layout::Layout;
use crate::logs;
use crate::options::Options;
use crate::source::{UserObjectHandle, asking};
use crate::stats::Stats;
use crate::text_form::as_text;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use std::sync::Arc;

/// A generator of unique 64-bit ids.
///
/// It claims a worker id in a state directory and makes ids from memory, unique across threads, processes, forks,
/// crashes, restarts and clock movements. Opened twice in a process with the same options, it is one generator. None
/// means an option's default. docs/OPTIONS.md of the project describes every option in full.
///
/// worker: 7, range(0, 32), "0-31", "local" on this machine alone, "hostname:orders", "hostname:orders*8", URLs of lease
///     servers, a callable claim(name, previous), or an object with claim, renew and release. Default: the environment's
///     LEAFID_WORKER.
/// name: the id space. Worker ids are unique within it, and two names can make the same id: give one name to all
///     programs that write into one column. Default "default".
/// state_dir: the directory of the records. Default: LEAFID_STATE_DIR, or a directory of the system or the user.
/// layout: a preset ("leaf"), bits such as "35|5|23", or a Layout. Default "leaf".
/// epoch_ms: the layout's epoch, Unix milliseconds. Default: the layout's own.
/// on_clock_backwards: "continue" on a logical clock (default), or "wait" for the clock.
/// max_backwards_ms: how far the clock may be behind the last id. Default 5000, or 5 under "wait".
/// on_exhausted: "wait" for the next tick (default), or "borrow" it ahead of the clock.
/// random_start: a new tick starts its sequence below this number; 0 is off. Default 100.
/// timeout_ms: the longest wait of a call for its next id. Default 2000.
/// persist: False stores no record and gives up restart safety. Default True.
/// shared_fs: whether state_dir may be on a network file system with working locks. Default False.
/// shared_group: whether the members of a group share state_dir. Default: LEAFID_SHARED_GROUP, else False.
/// exclusive_range: your statement that no other container or host has this range, or that all that have it share
///     state_dir. Default: LEAFID_EXCLUSIVE_RANGE, else False.
/// no_record_wait_ms: how long a start without a record issues nothing. Default: LEAFID_NO_RECORD_WAIT_MS, else 0 (off).
/// clock_source: "system" (default), or "coarse": cheaper to read, and late by up to Stats.clock_lag_ms.
/// start_after: the largest existing id of this layout: every id will be of a later tick.
/// lazy: whether to claim the worker id at the first id instead of here, with the environment of then. Default False.
/// peer_times: a callable that returns the clocks of peers, ints of Unix milliseconds, before each claim.
/// token: sent to lease servers as "Authorization: Bearer …". Default: LEAFID_TOKEN, or the file LEAFID_TOKEN_FILE. This and
///     the next four need URLs of lease servers.
/// headers: a mapping of more headers for lease servers.
/// ca_file: a PEM file of authorities for lease servers, in addition to the system's. Default: LEAFID_CA_FILE.
/// request_timeout_ms: the longest duration of a claim, renewal or release, over all servers. Default 1000.
/// connect_timeout_ms: the longest duration of a connection to a server. Default 300.
///
/// Exceptions of the user's callables are the __cause__ of the error. Raises InvalidArgumentError, WorkerInUseError,
/// WorkerLostError, ClockBackwardsError, BeforeEpochError, TimeExhaustedError, StateIoError, StateCorruptError and
/// StateMismatchError.
#[pyclass(frozen, weakref, module = "leafid")]
pub(crate) struct Snowflake {
    flake: Arc<leafid::Snowflake>,
    name: String,
    /// The user's objects that it calls.
    objects: Vec<UserObjectHandle>,
}

#[pymethods]
impl Snowflake {
    #[new]
    #[pyo3(signature = (worker=None, **options))]
    fn new(
        py: Python<'_>,
        worker: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<Snowflake>> {
        let Options { builder, name, objects } = Options::parse(worker, options)?;
        logs::adopt_level(py);
        let open = move |interrupted: &mut dyn FnMut() -> bool| builder.open_unless(interrupted);
        let flake = asking(py, &objects, &name, || interruptible(py, open))?;
        let (flake, calls) = (Arc::new(flake), !objects.is_empty());
        let closes = Arc::clone(&flake);
        let flake = Bound::new(py, Snowflake { flake, name, objects })?;
        exit::watch(flake.as_any())?;
        if calls {
            exit::close_before_collected(flake.as_any(), closes)?;
        }
        Ok(flake.unbind())
    }

    /// The next id, above every id that this generator made before.
    ///
    /// Waits at most timeout_ms. Meanwhile other threads run, greenlets too if gevent or eventlet has patched, and
    /// signals are handled. Raises ClockBackwardsError, TimeExhaustedError, BeforeEpochError, WouldBlockError (no id
    /// within timeout_ms), WorkerInUseError (in a forked child), WorkerLostError, StateIoError and ClosedError.
    fn next(slf: &Bound<'_, Self>) -> PyResult<i64> {
        let this = slf.get();
        match this.flake.try_next() {
            Some(id) => Ok(id),
            None => Snowflake::next_after_a_wait(slf),
        }
    }

    /// A list of the next n ids, ascending; 0 to 16777216. Raises as next does, and for no ids ClosedError alone.
    fn take<'py>(slf: &Bound<'py, Self>, n: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (n.py(), slf.get());
        let count = count("n", n)?;
        if count > leafid::MOST_IDS {
            return Err(refused("n", n));
        }
        PyList::new(py, this.taken(py, count)?).map(Bound::into_any)
    }

    /// The next id as text of decimal digits, for JSON that JavaScript reads. Raises as next does.
    fn next_str<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyString>> {
        Ok(PyString::new(slf.py(), &Snowflake::next(slf)?.to_string()))
    }

    /// A list of the next n ids as text of decimal digits. Raises as take does.
    fn take_strs<'py>(slf: &Bound<'py, Self>, n: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        as_text(&Snowflake::take(slf, n)?)
    }

    /// Fills a buffer with the next ids, ascending, without a copy, all or nothing, and returns it.
    ///
    /// out: any writable, C-contiguous buffer of up to 16777216 int64 or uint64 elements: a NumPy array, an
    ///     array.array("q"), a memoryview. Raises InvalidArgumentError for others, and as next does.
    fn fill<'py>(slf: &Bound<'py, Self>, out: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (out.py(), slf.get());
        let mut buffer = IdBuffer::of(&out)?;
        if waits(py)?.is_some() {
            // It may change meanwhile.
            let count = buffer.len();
            drop(buffer);
            return IdBuffer::written(&out, &this.taken(py, count)?);
        }
        let ids = buffer.ids();
        let fill = |interrupted: &mut dyn FnMut() -> bool| this.flake.fill_unless(ids, interrupted);
        asking(py, &this.objects, &this.name, || call::interruptible(py, fill))?;
        Ok(out)
    }

    /// The state of the generator: a Stats. Raises ClosedError.
    fn stats(&self, py: Python<'_>) -> PyResult<Stats> {
        asking(py, &self.objects, &self.name, || released(py, || self.flake.stats())).map(Stats::from)
    }

    /// Closes it. A second call does nothing. The last handle of a generator records the exact end and releases the
    /// worker id. Other threads may be in next: they get ClosedError. `with`, dropping the last reference and the end
    /// of the interpreter close it too.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let flake = Arc::clone(&self.flake);
        interruptible(py, move |_| flake.close())
    }

    /// The worker id. Raises ClosedError.
    #[getter]
    fn worker_id(&self, py: Python<'_>) -> PyResult<u32> {
        asking(py, &self.objects, &self.name, || released(py, || self.flake.worker_id()))
    }

    /// The layout of the ids: a Layout.
    #[getter]
    fn layout(&self) -> Layout {
        self.flake.layout().into()
    }

    /// Returns itself. Iteration never ends.
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// As next.
    fn __next__(slf: &Bound<'_, Self>) -> PyResult<i64> {
        Snowflake::next(slf)
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception), text_signature = "($self, kind, exception, traceback, /)")]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.close(py)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.objects.iter().try_for_each(|object| object.visit(&visit))
    }

    /// `exit::close_before_collected` has already closed it.
    fn __clear__(&self) {
        self.objects.iter().for_each(UserObjectHandle::clear);
    }

    /// Without a claim of a worker id, in a forked child too.
    fn __repr__(&self) -> String {
        let (name, layout, held) = (&self.name, self.flake.layout(), self.flake.held());
        format!("<leafid.Snowflake name={name:?} {held} layout={layout}>")
    }
}

impl Snowflake {
    #[cold]
    #[inline(never)]
    fn next_after_a_wait(slf: &Bound<'_, Self>) -> PyResult<i64> {
        slf.get().waiting(slf.py(), leafid::Snowflake::next_unless)
    }

    fn taken(&self, py: Python<'_>, count: usize) -> PyResult<Vec<i64>> {
        self.waiting(py, move |flake, interrupted| flake.take_unless(count, interrupted))
    }

    /// A call that may wait, also for a user callback.
    fn waiting<T: Send + 'static>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&leafid::Snowflake, &mut dyn FnMut() -> bool) -> leafid::Result<T> + Send + 'static,
    ) -> PyResult<T> {
        let flake = Arc::clone(&self.flake);
        let call = move |interrupted: &mut dyn FnMut() -> bool| call(&flake, interrupted);
        asking(py, &self.objects, &self.name, || interruptible(py, call))
    }
}

impl Drop for Snowflake {
    /// Closing may write, so other threads run meanwhile. While the interpreter ends there is nothing to release.
    fn drop(&mut self) {
        let closed = Python::try_attach(|py| py.detach(|| self.flake.close()));
        if closed.is_none() {
            let _ = self.flake.close();
        }
    }
}
