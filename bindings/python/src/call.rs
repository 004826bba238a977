//! Calls of the host that may wait, write or compute for long. They release the interpreter.

use crate::errors;
use leafid::{Code, Error, Result};
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls the host. A panic becomes `internal`, because `except Exception` would not catch pyo3's own exception.
pub(crate) fn released<T: Send>(py: Python<'_>, call: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    let result =
        py.detach(|| catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| Err(internal(panic))));
    result.map_err(|error| errors::raise(py, &error))
}

/// Calls the host, which checks during long waits whether a signal handler raised an exception, as Ctrl-C does.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    call: impl FnOnce(&mut dyn FnMut() -> bool) -> Result<T> + Send,
) -> PyResult<T> {
    let mut raised = None;
    let result = released(py, || {
        call(&mut || {
            // After an exception, later waits of the call give up too.
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
            // A generator may have been opened all the same. To close it may call a user callback.
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
