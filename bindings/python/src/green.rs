//! Waits under gevent and eventlet, where greenlets replace threads: a call that blocks its thread stops every
//! greenlet.

use crate::call;
use leafid::Result;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Whether the interpreter ends. Then no other greenlet runs any more, and no thread can be started.
static ENDS: AtomicBool = AtomicBool::new(false);

/// The object with which greenlets of this thread wait: `leafid._green.Waits`. `None` without greenlets: then waits
/// block the thread.
pub(crate) fn waits(py: Python<'_>) -> PyResult<Option<Bound<'_, PyAny>>> {
    // While the interpreter ends, this module may be gone.
    let Ok(modules) = py.import("sys").and_then(|sys| sys.getattr("modules")) else { return Ok(None) };
    let used = modules.contains("gevent.monkey")? || modules.contains("eventlet.patcher")?;
    if !used || ENDS.load(Relaxed) {
        return Ok(None);
    }
    let waits = py.import("leafid._green")?.call_method0("waits")?;
    Ok((!waits.is_none()).then_some(waits))
}

/// From now on, waits block the thread.
pub(crate) fn end() {
    ENDS.store(true, Relaxed);
}

/// [`call::interruptible`], on another thread if greenlets of this thread must run meanwhile. If an exception ends the
/// waiting greenlet, the call ends too, and its result is dropped.
pub(crate) fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    call: impl FnOnce(&mut dyn FnMut() -> bool) -> Result<T> + Send + 'static,
) -> PyResult<T> {
    let Some(waits) = waits(py)? else { return call::interruptible(py, call) };
    let answer = Arc::new(Mutex::new(None));
    let awaited = Arc::downgrade(&answer);
    let call: Action = Box::new(move |py| {
        let result = call::released(py, || call(&mut || awaited.strong_count() == 0));
        // A generator for which no caller waits is closed here.
        py.detach(|| awaited.upgrade().map(|answer| lock(&answer).replace(result)));
    });
    match waits.call_method1("away", (Away(Mutex::new(Some(call))),)) {
        Ok(_) => {
            lock(&answer).take().unwrap_or_else(|| Err(PyRuntimeError::new_err("leafid was not called")))
        }
        Err(error) => {
            // As above, if it was opened just now.
            py.detach(|| drop(answer));
            Err(error)
        }
    }
}

type Action = Box<dyn FnOnce(Python<'_>) + Send>;

/// Runs on the other thread.
#[pyclass(frozen, module = "leafid")]
struct Away(Mutex<Option<Action>>);

#[pymethods]
impl Away {
    fn __call__(&self, py: Python<'_>) {
        let call = lock(&self.0).take();
        if let Some(call) = call {
            call(py);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
