//! Support of the main interpreter only. Threads that Python did not start attach to that one, and exit handlers of
//! others may run when this module no longer works.

use pyo3::exceptions::PyImportError;
use pyo3::{PyResult, Python, ffi};

/// Refuses to be loaded into a subinterpreter, before anything is registered with it.
pub(crate) fn refuse_others(_attached: Python<'_>) -> PyResult<()> {
    // SAFETY: `_attached` shows that this thread is attached, so the current interpreter exists for the call.
    let this = unsafe { ffi::PyInterpreterState_GetID(ffi::PyInterpreterState_Get()) };
    match this {
        0 => Ok(()),
        _ => Err(PyImportError::new_err(format!(
            "leafid works in the main interpreter of a process, and this is subinterpreter {this}; use threads or \
             processes instead of subinterpreters (with mod_wsgi: WSGIApplicationGroup %{{GLOBAL}})"
        ))),
    }
}
