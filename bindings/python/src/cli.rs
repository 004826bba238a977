//! The command line, for `python/leafid/__main__.py`.

use crate::call::released;
use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs a command line without the program's name, with the streams of this process, and returns the exit code.
#[pyfunction]
#[pyo3(signature = (arguments, /))]
pub(crate) fn cli(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<i32> {
    released(py, || Ok(leafid::cli::main(arguments)))
}
