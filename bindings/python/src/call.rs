//! Calls of the host that may wait, write or compute for long: with the interpreter released.

use crate::errors;
use leafid::{Code, Error, Result};
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls the host. A panic becomes `internal`: no `except Exception` would catch pyo3's own.
pub(crate) fn released<T: Send>(py: Python<'_>, call: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    let result =
        py.detach(|| catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| Err(internal(panic))));
    result.map_err(|error| errors::raise(py, &error))
}

/// Calls the host with a question that it puts during long waits: whether a signal's handler raised, as Ctrl-C does.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    call: impl FnOnce(&mut dyn FnMut() -> bool) -> Result<T> + Send,
) -> PyResult<T> {
    let mut raised = None;
    let result = released(py, || {
        call(&mut || {
            // Once raised, whatever is waited for after it is given up, too.
            raised.is_some()
                || match Python::try_attach(|py| py.check_signals()) {
                    Some(Ok(())) => false,
                    Some(Err(error)) => {
                        raised = Some(error);
                        true
                    }
                    // The interpreter ends.
                    None => true,
                }
        })
    });
    match raised {
        Some(error) => {
            // A generator that was opened all the same: to close it may take the user's code.
            py.detach(|| drop(result));
            Err(error)
        }
        None => result,
    }
}

fn internal(panic: Box<dyn std::any::Any + Send>) -> Error {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("of unknown kind");
    Error::new(Code::Internal, format!("a panic, {text}; please report it"))
}
