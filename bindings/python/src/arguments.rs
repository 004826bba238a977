//! Conversion of Python values to the host's. It is strict: each error names the argument, its value and what is
//! allowed.

use crate::errors;
use leafid::{Error, allowed, shown_url};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyUnicodeEncodeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyMapping, PyString, PyTuple, PyType};
use std::path::PathBuf;

/// An integer: an int, or an object with `__index__` (NumPy's). A bool is refused, although Python counts it as an int.
pub(crate) fn int(name: &str, value: &Bound<'_, PyAny>) -> PyResult<i64> {
    if value.is_instance_of::<PyBool>() {
        return Err(refused(name, value));
    }
    value.extract::<i64>().map_err(|error| conversion(error, name, value))
}

/// An integer for a u32 of the host.
pub(crate) fn small(name: &str, value: &Bound<'_, PyAny>) -> PyResult<u32> {
    u32::try_from(int(name, value)?).map_err(|_| refused(name, value))
}

/// A number of ids. The host checks the upper bound.
pub(crate) fn count(name: &str, value: &Bound<'_, PyAny>) -> PyResult<usize> {
    usize::try_from(int(name, value)?).map_err(|_| refused(name, value))
}

/// Text.
pub(crate) fn text(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    let text = value.cast::<PyString>().map_err(|_| refused(name, value))?;
    text.extract().map_err(|error| conversion(error, name, value))
}

/// A path: text, or an `os.PathLike` of text.
pub(crate) fn path(name: &str, value: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    let path = value.py().import("os")?.call_method1("fspath", (value,));
    let path = path.map_err(|error| conversion(error, name, value))?;
    if !path.is_instance_of::<PyString>() {
        return Err(refused(name, value));
    }
    path.extract().map_err(|error| conversion(error, name, value))
}

/// One text, or several in an iterable.
pub(crate) fn texts(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    if value.is_instance_of::<PyString>() {
        return Ok(vec![text(name, value)?]);
    }
    // A mapping of URLs to something is a mistake.
    if value.cast::<PyMapping>().is_ok_and(|mapping| mapping.as_any().hasattr("keys").unwrap_or(true)) {
        return Err(refused(name, value));
    }
    let values = value.try_iter().map_err(|_| refused(name, value))?;
    values.map(|value| text(name, &value?)).collect()
}

/// The headers for servers.
pub(crate) fn headers(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<(String, String)>> {
    let pairs = copied(name, value)?;
    pairs.iter().map(|(key, value)| Ok((text(name, &key)?, text(name, &value)?))).collect()
}

/// A copy of a mapping. Errors: it is not a mapping.
pub(crate) fn copied<'py>(name: &str, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    if value.cast::<PyMapping>().is_err() {
        return Err(refused(name, value));
    }
    let copy = PyDict::new(value.py());
    copy.call_method1("update", (value,))?;
    Ok(copy)
}

/// True or false, and no other value that Python treats as such.
pub(crate) fn boolean(name: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    value.cast::<PyBool>().map(|value| value.is_true()).map_err(|_| refused(name, value))
}

/// Raises `invalid_argument` for an argument that only Python's own modules have.
#[pyfunction]
pub(crate) fn refuse(name: &str, value: &Bound<'_, PyAny>, allowed: &str) -> PyResult<()> {
    Err(errors::raise(value.py(), &leafid::refused(name, &shown(value), Some(allowed))))
}

/// `invalid_argument` for this value.
pub(crate) fn refused(name: &str, value: &Bound<'_, PyAny>) -> PyErr {
    errors::raise(value.py(), &leafid::refused(name, &shown(value), Some(allowed_value(name))))
}

/// `invalid_argument` for a mapping without this key.
pub(crate) fn missing(mapping: &Bound<'_, PyAny>, name: &str) -> PyErr {
    errors::raise(mapping.py(), &Error::invalid(name, "missing", allowed_value(name)))
}

/// The allowed values of arguments that only Python has.
fn allowed_value(name: &str) -> &'static str {
    match name {
        "claim" => {
            "as its answer a leafid.Lease, a mapping of a lease's fields, or None when no worker id is free"
        }
        "a key of the lease" => "the name of a field, as text",
        _ => allowed(name),
    }
}

/// Python's own error for a value becomes `invalid_argument`. Any other exception of the value's code is raised
/// unchanged.
fn conversion(error: PyErr, name: &str, value: &Bound<'_, PyAny>) -> PyErr {
    let py = value.py();
    let ours = error.is_instance_of::<PyTypeError>(py)
        || error.is_instance_of::<PyOverflowError>(py)
        || error.is_instance_of::<PyUnicodeEncodeError>(py);
    if ours { refused(name, value) } else { error }
}

/// The types whose repr an error may show, without the password of a URL. Anything else may hold a secret.
const SHOWN: [&str; 11] =
    ["int", "float", "bool", "NoneType", "str", "range", "date", "datetime", "timedelta", "Decimal", "UUID"];

/// The form of a value in an error: its repr. If no error may show that, or it fails (an int of 5,000 digits), its type.
pub(crate) fn shown(value: &Bound<'_, PyAny>) -> String {
    let name = type_name(value);
    let is_shown = match name.as_str() {
        "tuple" | "list" => value.try_iter().is_ok_and(|items| {
            items.into_iter().all(|item| item.is_ok_and(|item| SHOWN.contains(&type_name(&item).as_str())))
        }),
        name => SHOWN.contains(&name),
    };
    let repr = value.repr().and_then(|repr| repr.extract::<String>()).ok().filter(|_| is_shown);
    repr.map_or_else(|| format!("of type {name}"), |repr| shown_url(&repr))
}

fn type_name(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().and_then(|name| name.extract()).unwrap_or_default()
}

/// The repr of an object of leafid with these fields.
pub(crate) fn shown_fields(value: &Bound<'_, PyAny>, class: &str, names: &str) -> PyResult<String> {
    let mut fields = Vec::new();
    for name in names.split(", ") {
        fields.push(format!("{name}={}", value.getattr(name)?.repr()?));
    }
    Ok(format!("leafid.{class}({})", fields.join(", ")))
}

/// What pickle and copy make an object of leafid again from: its class, and these fields as its arguments.
pub(crate) fn reduced<'py>(
    value: &Bound<'py, PyAny>,
    names: &str,
) -> PyResult<(Bound<'py, PyType>, Bound<'py, PyTuple>)> {
    let fields: PyResult<Vec<_>> = names.split(", ").map(|name| value.getattr(name)).collect();
    Ok((value.get_type(), PyTuple::new(value.py(), fields?)?))
}

/// `invalid_argument` for a key that is not one of those that are `allowed`. `what` is "field", for example.
pub(crate) fn unknown(name: &str, value: &Bound<'_, PyAny>, what: &str, allowed: &str) -> PyErr {
    errors::raise(value.py(), &Error::invalid(&format!("{name:?}"), format!("an unknown {what}"), allowed))
}
