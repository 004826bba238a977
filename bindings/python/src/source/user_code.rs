//! Calls of user callbacks on threads of leafid.

use super::user_object::UserObject;
use crate::attach::{attached, call};
use crate::errors;
use leafid::{Answer, Error};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

/// Calls the target's method, or the target itself, and converts the result. An exception becomes the host's error.
pub(crate) fn ask<T>(
    target: &UserObject,
    method: Option<&str>,
    arguments: impl for<'py> IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error: Into<PyErr>>,
    convert: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
) -> Answer<T> {
    let answer = attached(|py| ask_attached(py, target, method, arguments, convert));
    answer.unwrap_or_else(|| Err("the Python interpreter has ended".into()))
}

fn ask_attached<'py, T>(
    py: Python<'py>,
    target: &UserObject,
    method: Option<&str>,
    arguments: impl IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error: Into<PyErr>>,
    convert: impl FnOnce(&Bound<'py, PyAny>) -> PyResult<T>,
) -> Answer<T> {
    let Some(object) = target.object(py) else { return Err("its object was collected".into()) };
    let answer = arguments.into_pyobject(py).map_err(Into::into).and_then(|arguments| {
        let callable = match method {
            // With Python's own getattr, because a property runs user code too.
            Some(method) => {
                call(&py.import("builtins")?.getattr("getattr")?, &(&object, method).into_pyobject(py)?)?
            }
            None => object,
        };
        awaited(call(&callable, &arguments)?)
    });
    let answer = answer.inspect_err(|raised| target.note(raised, py));
    answer.and_then(|answer| convert(&answer)).map_err(|error| described(py, &error).1)
}

/// The result of an `async def`, which runs to its end in its own event loop.
pub(crate) fn awaited(answer: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    if !answer.hasattr("__await__")? {
        return Ok(answer);
    }
    let py = answer.py();
    let import = py.import("importlib")?.getattr("import_module")?;
    let asyncio = call(&import, &("asyncio",).into_pyobject(py)?)?;
    call(&asyncio.getattr("run")?, &(answer,).into_pyobject(py)?)
}

/// The text of an exception, and the host's error for it. Exceptions of leafid keep their code.
pub(crate) fn described(
    py: Python<'_>,
    raised: &PyErr,
) -> (String, Box<dyn std::error::Error + Send + Sync>) {
    let value = raised.value(py);
    let kind = value.get_type().name().map(|name| name.to_string()).unwrap_or_default();
    // An exception's own text runs user code.
    let text = (value,).into_pyobject(py).and_then(|value| call(py.get_type::<PyString>().as_any(), &value));
    let text = text.and_then(|text| text.extract::<String>()).unwrap_or_default();
    if let Some(code) = errors::code(py, raised) {
        return (text.clone(), Box::new(Error::new(code, text)));
    }
    let text = if text.is_empty() { kind } else { format!("{kind}: {text}") };
    (text.clone(), text.into())
}
