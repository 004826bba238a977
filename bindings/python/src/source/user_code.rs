//! Calls of user callbacks on threads of leafid.

use super::user_object::UserObject;
use crate::attach::{attached, call};
use crate::errors;
use leafid::{Answer, Code, Error};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

/// A call of a user callback: the option that names it, and how it is called.
#[derive(Clone, Copy)]
pub(crate) struct UserCall {
    pub(crate) option: &'static str,
    /// The method; the object itself is called without one.
    pub(crate) method: Option<&'static str>,
    /// As `claim(name, previous)`.
    pub(crate) signature: &'static str,
}

/// Makes the call and converts the result. An exception becomes the host's error.
pub(crate) fn ask<T>(
    target: &UserObject,
    user_call: UserCall,
    arguments: impl for<'py> IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error: Into<PyErr>>,
    convert: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
) -> Answer<T> {
    let answer = attached(|py| ask_attached(py, target, user_call, arguments, convert));
    answer.unwrap_or_else(|| Err("the Python interpreter has ended".into()))
}

fn ask_attached<'py, T>(
    py: Python<'py>,
    target: &UserObject,
    user_call: UserCall,
    arguments: impl IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error: Into<PyErr>>,
    convert: impl FnOnce(&Bound<'py, PyAny>) -> PyResult<T>,
) -> Answer<T> {
    let Some(object) = target.object(py) else { return Err("its object was collected".into()) };
    let answer = arguments.into_pyobject(py).map_err(Into::into).and_then(|arguments| {
        let callable = match user_call.method {
            // With Python's own getattr, because a property runs user code too.
            Some(method) => {
                call(&py.import("builtins")?.getattr("getattr")?, &(&object, method).into_pyobject(py)?)?
            }
            None => object,
        };
        awaited(call(&callable, &arguments)?)
    });
    let answer = answer.inspect_err(|raised| target.note(raised, py));
    let answer =
        answer.map_err(|raised| described_call(py, &raised, user_call.option, user_call.signature).1);
    answer.and_then(|answer| convert(&answer).map_err(|error| described(py, &error).1))
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

/// The text of an exception, and the host's error for it.
type Described = (String, Box<dyn std::error::Error + Send + Sync>);

/// As [`described`], for an exception of a call as `signature` of the callback that `option` names. A callback that does
/// not take the arguments is `invalid_argument`: nothing of it has run, and no later call does either.
pub(crate) fn described_call(py: Python<'_>, raised: &PyErr, option: &str, signature: &str) -> Described {
    let (text, error) = described(py, raised);
    if !raised.is_instance_of::<PyTypeError>(py) || raised.traceback(py).is_some() {
        return (text, error);
    }
    let message = format!("{option} cannot be called as {signature}: {text}; give it these parameters");
    (text, Error::new(Code::InvalidArgument, message).into())
}

/// The text of an exception, and the host's error for it. Exceptions of leafid keep their code.
pub(crate) fn described(py: Python<'_>, raised: &PyErr) -> Described {
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
