//! `leafid.Snowflake`.

use crate::arguments::{count, refused};
use crate::buffer::IdBuffer;
use crate::call::{self, released};
use crate::exit;
use crate::green::{interruptible, waits};
use crate::layout::Layout;
use crate::logs;
use crate::options::Options;
use crate::source::{Hold, asking};
use crate::stats::Stats;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use std::sync::Arc;

/// A generator of unique 64-bit ids.
///
/// It claims a worker id in a state directory and makes ids from memory, unique across threads, processes, forks,
/// crashes, restarts and clock movements. The same options opened twice in a process share one generator. None means
/// an option's default.
///
/// worker: the worker id (7), or a range of them (range(0, 32), "0-31" with both ends) of which any free one is
///     claimed. "hostname:orders" is N on a host called orders-N, "hostname:orders*8" any of 8N to 8N+7. The
///     URL of a lease server, "https://ids-1:8443", or a list or tuple of them, of which the first is preferred and one
///     that fails rests; also as one text with commas between. A callable
///     claim(name, previous) answers an id that no other process on any host holds, or None; previous is the id that
///     this generator held before, or the process that this one was forked from, or None. An object with
///     claim(request), renew(lease, until_ms) and release(lease, until_ms) gives leases: claim answers a Lease, a
///     mapping of its fields, or None when no id is free; renew the new until_ms, a Lease or a mapping. None from
///     renew, or a WorkerLostError, says that the id is no longer this holder's, and another is claimed; any other
///     exception that it is not known: what is held is used to its end, and the call made again. until_ms is stored
///     before it is answered, never lowered but by release, and the next holder's from_ms is at or above it. They are
///     called on threads of leafid's, one call at a time for a generator, but for one that was given up, as it had not
///     answered after timeout_ms; an async def is run there by asyncio.run. What they raise is the __cause__ of the
///     error. Default: the environment's LEAFID_WORKER.
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
/// persist: False keeps no record, and gives up restart safety: a start after the clock went back repeats ids. It is
///     refused with a range, and without a lease ids never run ahead of the clock; state_dir is not used then. Default
///     True.
/// shared_fs: whether state_dir may lie on a network file system, whose locks must work. Default False.
/// shared_group: whether state_dir is shared by the members of one group: files of mode 0660 whatever the umask, and
///     directories 2770. Default LEAFID_SHARED_GROUP, else False: 0640 and 0750 less the umask.
/// exclusive_range: your word that no other container or host was given this range of worker ids, or that all that were
///     share state_dir. Without it a range is refused in a container, or in a network of its own, where others of the
///     machine do not see which ids are held. Default LEAFID_EXCLUSIVE_RANGE, else False.
/// no_record_wait_ms: how long a start that finds no record of its worker id issues nothing, by the clock: as far as the
///     clock of another host, which may have used the worker id before, may be ahead. Calls meanwhile raise
///     ClockBackwardsError where the rest is longer than timeout_ms. Refused with leases, which need no wait. Default
///     LEAFID_NO_RECORD_WAIT_MS, else 0: off.
/// clock_source: "system" (default), or "coarse": cheaper to read, and late by up to Stats.clock_lag_ms.
/// start_after: an existing largest id of this layout: every id will be of a later tick.
/// lazy: claim the worker id at the first id instead of here. Default False.
/// peer_times: a callable that answers what the clocks of peers read, ints of Unix milliseconds, before each claim. A
///     clock 10 s or more from the median of three or more is refused; peers that cannot be asked do not keep from
///     starting.
/// token: sent to lease servers as "Authorization: Bearer …". This and the next four mean something only with the URLs
///     of lease servers, and are refused without.
/// headers: a mapping of headers sent to lease servers besides.
/// ca_file: a PEM file of authorities that lease servers may be signed by, besides the system's own.
/// request_timeout_ms, connect_timeout_ms: how long a claim, renewal or release may last, however many servers it asks,
///     and a connection take. Default 1000 and 300.
///
/// Raises InvalidArgumentError, WorkerInUseError, WorkerLostError, ClockBackwardsError, BeforeEpochError,
/// TimeExhaustedError, StateIoError, StateCorruptError and StateMismatchError.
#[pyclass(frozen, weakref, module = "leafid")]
pub(crate) struct Snowflake {
    flake: Arc<leafid::Snowflake>,
    name: String,
    /// The objects of the user's that it calls.
    holds: Vec<Hold>,
}

#[pymethods]
impl Snowflake {
    #[new]
    #[pyo3(
        signature = (worker=None, **options),
        text_signature = "(worker=None, *, name=None, state_dir=None, layout=None, epoch_ms=None, \
            on_clock_backwards=None, max_backwards_ms=None, on_exhausted=None, random_start=None, timeout_ms=None, \
            persist=None, shared_fs=None, shared_group=None, exclusive_range=None, no_record_wait_ms=None, clock_source=None, \
            start_after=None, lazy=None, peer_times=None, token=None, headers=None, ca_file=None, request_timeout_ms=None, connect_timeout_ms=None)"
    )]
    fn new(
        py: Python<'_>,
        worker: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<Snowflake>> {
        let Options { builder, name, holds } = Options::parse(py, worker, options)?;
        logs::adopt_level(py);
        let open = move |interrupted: &mut dyn FnMut() -> bool| builder.open_unless(interrupted);
        let flake = asking(py, &holds, &name, || interruptible(py, open))?;
        let (flake, calls) = (Arc::new(flake), !holds.is_empty());
        let closes = Arc::clone(&flake);
        let flake = Bound::new(py, Snowflake { flake, name, holds })?;
        exit::watch(flake.as_any())?;
        if calls {
            exit::close_before_collected(&flake, closes)?;
        }
        Ok(flake.unbind())
    }

    /// The next id, above every id that this generator made before.
    ///
    /// Waits at most timeout_ms; other threads, and greenlets of gevent and eventlet that are patched in, run and signals
    /// are handled meanwhile. Raises ClockBackwardsError,
    /// TimeExhaustedError, BeforeEpochError, WouldBlockError (no id within timeout_ms), WorkerInUseError (in a forked
    /// child), WorkerLostError, StateIoError and ClosedError.
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
        asking(py, &this.holds, &this.name, || call::interruptible(py, fill))?;
        Ok(out)
    }

    /// How the generator fares: a Stats. Raises ClosedError.
    fn stats(&self, py: Python<'_>) -> PyResult<Stats> {
        asking(py, &self.holds, &self.name, || released(py, || self.flake.stats())).map(Stats::from)
    }

    /// Closes it; a second time does nothing. The last handle of a generator records the exact end and gives the
    /// worker id back. Other threads may be in next: they get ClosedError. Also done by `with`, by dropping the last
    /// reference, and at the end of the interpreter.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let flake = Arc::clone(&self.flake);
        interruptible(py, move |_| flake.close())
    }

    /// The worker id. Raises ClosedError.
    #[getter]
    fn worker_id(&self, py: Python<'_>) -> PyResult<u32> {
        asking(py, &self.holds, &self.name, || released(py, || self.flake.worker_id()))
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
        self.holds.iter().try_for_each(|hold| hold.visit(&visit))
    }

    /// It was closed before, by `exit::close_before_collected`.
    fn __clear__(&self) {
        self.holds.iter().for_each(Hold::clear);
    }

    /// Without the worker id: to ask for it may claim one, in a forked child.
    fn __repr__(&self) -> String {
        format!("<leafid.Snowflake name={:?} layout={}>", self.name, self.flake.layout())
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

    /// A call that may wait: for the user's code, too.
    fn waiting<T: Send + 'static>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&leafid::Snowflake, &mut dyn FnMut() -> bool) -> leafid::Result<T> + Send + 'static,
    ) -> PyResult<T> {
        let flake = Arc::clone(&self.flake);
        let call = move |interrupted: &mut dyn FnMut() -> bool| call(&flake, interrupted);
        asking(py, &self.holds, &self.name, || interruptible(py, call))
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
