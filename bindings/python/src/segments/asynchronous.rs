//! Calls for ids that wait in an event loop of asyncio, or as greenlets.
//!
//! The loop only gets a notice that something changed, with its own `call_soon_threadsafe`, once for all calls that
//! wait in it. Each time a thread of leafid attaches, it may wait as long as other threads hold the interpreter.

use super::sourced_tag::SourcedTag;
use crate::attach;
use crate::buffer::IdBuffer;
use crate::call::released;
use leafid::{PendingTake, PollPause, no_memory};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyList;
use pyo3::{IntoPyObjectExt, PyTraverseError, PyVisit};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// `leafid._waiting.ids`.
static COROUTINE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// One call. Private: `leafid._waiting` runs it.
#[pyclass(frozen, module = "leafid")]
pub(crate) struct Call {
    tag: SourcedTag,
    count: usize,
    /// Whether the result is an id and not a list.
    one: bool,
    timeout_ms: Option<i64>,
    /// The buffer that receives the ids, instead of a list.
    out: Option<Py<PyAny>>,
    /// Set by the first poll.
    pending: Mutex<Option<PendingTake>>,
    /// Between two calls of `look`.
    pauses: Mutex<PollPause>,
}

impl Call {
    pub(super) fn one(py: Python<'_>, tag: &SourcedTag, timeout_ms: Option<i64>) -> Call {
        Call { one: true, ..Call::many(py, tag, 1, timeout_ms) }
    }

    pub(super) fn many(py: Python<'_>, tag: &SourcedTag, count: usize, timeout_ms: Option<i64>) -> Call {
        let (pending, pauses) = (Mutex::new(None), Mutex::new(PollPause::of_event_loop()));
        Call { tag: tag.clone_ref(py), count, one: false, timeout_ms, out: None, pending, pauses }
    }

    pub(super) fn into(
        py: Python<'_>,
        tag: &SourcedTag,
        count: usize,
        timeout_ms: Option<i64>,
        out: &Bound<'_, PyAny>,
    ) -> Call {
        Call { out: Some(out.clone().unbind()), ..Call::many(py, tag, count, timeout_ms) }
    }

    /// Waits for it as greenlets do.
    pub(super) fn run<'py>(self, waits: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        waits.call_method1("ids", (self,))
    }

    pub(super) fn coroutine(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        let coroutine = COROUTINE
            .get_or_try_init(py, || py.import("leafid._waiting")?.getattr("ids").map(Bound::unbind))?;
        coroutine.bind(py).call1((self,))
    }
}

#[pymethods]
impl Call {
    /// The id, if one is in memory and no more are requested; else None.
    fn ready(&self) -> Option<i64> {
        match self.one && self.timeout_ms.is_none() {
            true => self.tag.tag.next_in_memory(),
            false => None,
        }
    }

    /// The ids, or None: then call this again when the future is set in its loop.
    fn poll<'py>(
        &self,
        py: Python<'py>,
        inbox: &FutureInbox,
        future: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.tag.may_wait(py)?;
        let (inbox, pending) = (&inbox.0, Arc::new(Mutex::new(Some(future.clone().unbind()))));
        self.answer(py, || {
            let (inbox, pending) = (Arc::clone(inbox), Arc::clone(&pending));
            move || inbox.post(lock(&pending).take())
        })
    }

    /// The ids, or None: then call this again after `pause`.
    fn look<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.tag.may_wait(py)?;
        py.check_signals()?;
        self.answer(py, || || ())
    }

    /// The time until the next `look`, in seconds.
    fn pause(&self) -> f64 {
        lock(&self.pauses).next_pause().as_secs_f64()
    }

    /// Puts back its ids.
    fn end(&self, py: Python<'_>) {
        let pending = lock(&self.pending).take();
        if pending.is_some() {
            py.detach(|| drop(pending));
        }
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.tag.visit(&visit)
    }
}

impl Call {
    /// The ids, if it has all of them. `wake` creates the function to call when it may have them.
    fn answer<'py, W: FnOnce() + Send + 'static>(
        &self,
        py: Python<'py>,
        wake: impl Fn() -> W + Send,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let pending = lock(&self.pending).take();
        let polled = released(py, || self.polled(pending, wake));
        let Some(ids) = polled.map_err(|error| self.tag.explained(py, error))? else { return Ok(None) };
        match &self.out {
            Some(out) => IdBuffer::written(out.bind(py), &ids).map(Some),
            None if self.one => ids.first().into_bound_py_any(py).map(Some),
            None => Ok(Some(PyList::new(py, ids)?.into_any())),
        }
    }

    fn polled<W: FnOnce() + Send + 'static>(
        &self,
        mut pending: Option<PendingTake>,
        wake: impl Fn() -> W,
    ) -> leafid::Result<Option<Vec<i64>>> {
        loop {
            let mut polled = match pending.take() {
                Some(pending) => pending,
                None => self.tag.tag.pending_take(self.count, self.timeout_ms)?,
            };
            if !polled.poll(wake())? {
                *lock(&self.pending) = Some(polled);
                return Ok(None);
            }
            let mut ids: Vec<i64> = Vec::new();
            ids.try_reserve_exact(self.count).map_err(|_| no_memory(self.count))?;
            ids.resize(self.count, 0);
            // Otherwise they belong to the process from which this one was forked.
            if polled.write(&mut ids) {
                return Ok(Some(ids));
            }
        }
    }
}

/// The futures of one event loop that must be completed. Private.
#[pyclass(frozen, module = "leafid")]
pub(crate) struct FutureInbox(Arc<Inbox>);

struct Inbox {
    call_soon_threadsafe: Py<PyAny>,
    futures: Mutex<Vec<Py<PyAny>>>,
}

#[pymethods]
impl FutureInbox {
    #[new]
    fn new(call_soon_threadsafe: Py<PyAny>) -> FutureInbox {
        FutureInbox(Arc::new(Inbox { call_soon_threadsafe, futures: Mutex::default() }))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.0.call_soon_threadsafe)
    }
}

impl Inbox {
    /// Callable from any thread.
    fn post(self: &Arc<Self>, future: Option<Py<PyAny>>) {
        let first = {
            let mut futures = lock(&self.futures);
            futures.extend(future);
            futures.len() == 1
        };
        if first {
            // `None`: the interpreter ends, and its loops have ended.
            attach::attached(|py| self.call_soon(py));
        }
    }

    fn call_soon(self: &Arc<Self>, py: Python<'_>) {
        let delivered = Bound::new(py, Delivery(Arc::clone(self)))
            .and_then(|delivery| (delivery,).into_pyobject(py))
            .and_then(|arguments| attach::call(self.call_soon_threadsafe.bind(py), &arguments));
        if delivered.is_err() {
            // The loop was closed: no call waits in it any more.
            let futures = std::mem::take(&mut *lock(&self.futures));
            drop(futures);
        }
    }
}

/// Called by the loop.
#[pyclass(frozen, module = "leafid")]
struct Delivery(Arc<Inbox>);

#[pymethods]
impl Delivery {
    fn __call__(&self, py: Python<'_>) -> PyResult<()> {
        let futures = std::mem::take(&mut *lock(&self.0.futures));
        for future in futures {
            let future = future.bind(py);
            // Already done: its task was cancelled.
            if !future.call_method0("done")?.is_truthy()? {
                future.call_method1("set_result", (py.None(),))?;
            }
        }
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
