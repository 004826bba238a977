//! One interpreter a process: exception classes and the list of open generators are the process's.

use pyo3::exceptions::PyImportError;
use pyo3::{PyResult, Python, ffi};
use std::sync::atomic::{AtomicI64, Ordering};

/// The interpreter that loaded the module first; -1 before.
static FIRST: AtomicI64 = AtomicI64::new(-1);

/// Refuses to be loaded into a second interpreter.
pub(crate) fn refuse_others(_attached: Python<'_>) -> PyResult<()> {
    // SAFETY: `_attached` shows that this thread is attached, so the current interpreter exists for the call.
    let this = unsafe { ffi::PyInterpreterState_GetID(ffi::PyInterpreterState_Get()) };
    match FIRST.compare_exchange(-1, this, Ordering::SeqCst, Ordering::SeqCst) {
        Err(first) if first != this => Err(PyImportError::new_err(
            "leafid works in one interpreter of a process, and another one has loaded it; \
             use threads or processes instead of subinterpreters",
        )),
        _ => Ok(()),
    }
}
