//! Python values to the host's: strict, and each refusal names the argument, its value and what is allowed.

use crate::errors;
use leafid::{Error, allowed};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyUnicodeEncodeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};
use std::path::PathBuf;

/// An integer: an int, or what has `__index__` (NumPy's). A bool is one to Python, but never a number meant as such.
pub(crate) fn int(name: &str, value: &Bound<'_, PyAny>) -> PyResult<i64> {
    if value.is_instance_of::<PyBool>() {
        return Err(refused(name, value));
    }
    value.extract::<i64>().map_err(|error| conversion(error, name, value))
}

/// An integer that the host takes as u32.
pub(crate) fn small(name: &str, value: &Bound<'_, PyAny>) -> PyResult<u32> {
    u32::try_from(int(name, value)?).map_err(|_| refused(name, value))
}

/// A number of ids. The host bounds it above.
pub(crate) fn count(name: &str, value: &Bound<'_, PyAny>) -> PyResult<usize> {
    usize::try_from(int(name, value)?).map_err(|_| refused(name, value))
}

/// Text.
pub(crate) fn text(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    let text = value.cast::<PyString>().map_err(|_| refused(name, value))?;
    text.extract().map_err(|error| conversion(error, name, value))
}

/// A path: text or an `os.PathLike` of text.
pub(crate) fn path(name: &str, value: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    let path = value.py().import("os")?.call_method1("fspath", (value,));
    let path = path.map_err(|error| conversion(error, name, value))?;
    if !path.is_instance_of::<PyString>() {
        return Err(refused(name, value));
    }
    path.extract().map_err(|error| conversion(error, name, value))
}

/// `invalid_argument` for this value.
pub(crate) fn refused(name: &str, value: &Bound<'_, PyAny>) -> PyErr {
    errors::raise(value.py(), &Error::invalid(name, shown(value), allowed(name)))
}

/// Python's own complaint about a value becomes ours; whatever else the value's own code raised goes through.
fn conversion(error: PyErr, name: &str, value: &Bound<'_, PyAny>) -> PyErr {
    let py = value.py();
    let ours = error.is_instance_of::<PyTypeError>(py)
        || error.is_instance_of::<PyOverflowError>(py)
        || error.is_instance_of::<PyUnicodeEncodeError>(py);
    if ours { refused(name, value) } else { error }
}

/// How an error shows a value: its repr; where that fails (an int of 5,000 digits), its type.
pub(crate) fn shown(value: &Bound<'_, PyAny>) -> String {
    let repr = value.repr().and_then(|repr| repr.extract::<String>());
    repr.or_else(|_| value.get_type().name().map(|name| format!("of type {name}"))).unwrap_or_default()
}

/// `invalid_argument` for a keyword that is none of `known`.
pub(crate) fn unknown(name: &str, value: &Bound<'_, PyAny>, known: &str) -> PyErr {
    let allowed = format!("no such option; the options are {known}");
    errors::raise(value.py(), &Error::invalid(name, shown(value), &allowed))
}
