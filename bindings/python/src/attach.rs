//! Calls of Python from leafid's own threads.
//!
//! Before 3.14, a thread that attaches while the interpreter ends is ended by Python. Python unwinds it through the
//! Rust frames below, which would abort the process. So such a thread is held here until the process has ended.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use pyo3::{PyErr, ffi};
use std::hint::black_box;
use std::time::Duration;

type ObjectCall =
    unsafe extern "C" fn(*mut ffi::PyObject, *mut ffi::PyObject, *mut ffi::PyObject) -> *mut ffi::PyObject;
type UnwindingCall = unsafe extern "C-unwind" fn(
    *mut ffi::PyObject,
    *mut ffi::PyObject,
    *mut ffi::PyObject,
) -> *mut ffi::PyObject;

type Ensure = unsafe extern "C" fn() -> ffi::PyGILState_STATE;
type UnwindingEnsure = unsafe extern "C-unwind" fn() -> ffi::PyGILState_STATE;

/// Attaches a thread of any kind and runs the action. Returns `None` if the interpreter has ended.
pub(crate) fn attached<T>(action: impl FnOnce(Python<'_>) -> T) -> Option<T> {
    if !is_there() {
        return None;
    }
    // SAFETY: the same function, which can unwind as said above; hidden from the compiler as below.
    let ensure = unsafe {
        std::mem::transmute::<Ensure, UnwindingEnsure>(black_box(ffi::PyGILState_Ensure as Ensure))
    };
    let held = HeldWhenUnwound;
    // SAFETY: the interpreter is there; attached or not, the thread waits for it as any other does.
    let attached = Attached(unsafe { ensure() });
    std::mem::forget(held);
    let result = Python::try_attach(action);
    drop(attached);
    result
}

/// Whether there is an interpreter that has not begun to end.
pub(crate) fn is_there() -> bool {
    // SAFETY: may be called at any time.
    unsafe { ffi::Py_IsInitialized() != 0 }
}

/// Ends an attachment when it is dropped.
struct Attached(ffi::PyGILState_STATE);

impl Drop for Attached {
    fn drop(&mut self) {
        // SAFETY: the state that this thread was given, given back once and in turn.
        unsafe { ffi::PyGILState_Release(self.0) };
    }
}

/// Calls a function written in Python. There must be no other Rust frames between the function and this one.
pub(crate) fn call<'py>(
    function: &Bound<'py, PyAny>,
    arguments: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    call_with(function, arguments, None)
}

/// [`call`], with keywords.
pub(crate) fn call_with<'py>(
    function: &Bound<'py, PyAny>,
    arguments: &Bound<'py, PyTuple>,
    keywords: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the same function, which can unwind as said above. Hidden from the compiler, which by its declaration
    // takes it for one that cannot.
    let call = unsafe {
        std::mem::transmute::<ObjectCall, UnwindingCall>(black_box(ffi::PyObject_Call as ObjectCall))
    };
    let held = HeldWhenUnwound;
    let keywords = keywords.map_or(std::ptr::null_mut(), |keywords| keywords.as_ptr());
    // SAFETY: attached, as the arguments show; all are live; no keywords are NULL.
    let answer = unsafe { call(function.as_ptr(), arguments.as_ptr(), keywords) };
    std::mem::forget(held);
    // SAFETY: PyObject_Call returns a new reference, or NULL with an exception set.
    unsafe { Bound::from_owned_ptr_or_opt(function.py(), answer) }.ok_or_else(|| PyErr::fetch(function.py()))
}

struct HeldWhenUnwound;

impl Drop for HeldWhenUnwound {
    fn drop(&mut self) {
        loop {
            std::thread::sleep(Duration::from_secs(3_600));
        }
    }
}
