//! Waits under gevent and eventlet, where they stand in for threads: one that blocks its thread stops every greenlet.

use crate::foreign;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::cell::Cell;

thread_local! {
    /// Whether this thread waits for a greenlet of another one.
    static AWAY: Cell<bool> = const { Cell::new(false) };
}

/// What greenlets of this thread wait by: `leafid._green.Waits`. None where there are none, and no waits are but the
/// thread's own.
pub(crate) fn waits(py: Python<'_>) -> PyResult<Option<Bound<'_, PyAny>>> {
    // As the interpreter ends there is no such module any more.
    let Ok(modules) = py.import("sys").and_then(|sys| sys.getattr("modules")) else { return Ok(None) };
    let used = modules.contains("gevent.monkey")? || modules.contains("eventlet.patcher")?;
    if !used || AWAY.get() {
        return Ok(None);
    }
    let waits = py.import("leafid._green")?.call_method0("waits")?;
    Ok((!waits.is_none()).then_some(waits))
}

/// Calls a method on another thread, if greenlets of this one are to run meanwhile; else none, and nothing is called.
pub(crate) fn away<'py>(
    object: &Bound<'py, PyAny>,
    method: &str,
    argument: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = object.py();
    let Some(waits) = waits(py)? else { return Ok(None) };
    let call = Bound::new(py, Away(object.getattr(method)?.unbind()))?;
    let arguments = PyTuple::new(py, argument)?;
    waits.call_method1("away", (call, arguments)).map(Some)
}

/// Called on that other thread.
#[pyclass(frozen, module = "leafid")]
struct Away(Py<PyAny>);

#[pymethods]
impl Away {
    #[pyo3(signature = (*arguments))]
    fn __call__<'py>(&self, arguments: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        AWAY.set(true);
        let answer = foreign::call(self.0.bind(arguments.py()), arguments);
        AWAY.set(false);
        answer
    }
}
