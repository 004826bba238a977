//! Generators that are still open when the interpreter ends are closed, so that their last record is exact.

use crate::snowflake::Snowflake;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyList;

/// A `weakref.WeakValueDictionary` of the open generators by address: it keeps none alive.
static OPEN: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Registers with `atexit`, once.
pub(crate) fn close_at_exit(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let mut first = false;
    OPEN.get_or_try_init(py, || {
        first = true;
        py.import("weakref")?.call_method0("WeakValueDictionary").map(Bound::unbind)
    })?;
    if first {
        py.import("atexit")?.call_method1("register", (wrap_pyfunction!(close_all, module)?,))?;
    }
    Ok(())
}

/// Has a generator closed at the end of the interpreter, if it is still there.
pub(crate) fn watch(flake: &Bound<'_, Snowflake>) -> PyResult<()> {
    match OPEN.get(flake.py()) {
        Some(open) => open.bind(flake.py()).set_item(flake.as_ptr() as usize, flake),
        None => Ok(()),
    }
}

/// Closes what is open. In a forked child the host knows which are the parent's, and leaves those alone.
#[pyfunction]
fn close_all(py: Python<'_>) -> PyResult<()> {
    let Some(open) = OPEN.get(py) else { return Ok(()) };
    // A list made in one step: other threads may still be opening generators.
    let references = open.bind(py).call_method0("valuerefs")?.cast_into::<PyList>()?;
    for reference in references {
        if let Ok(flake) = reference.call0()?.cast_into::<Snowflake>()
            && let Err(error) = flake.get().close(py)
        {
            error.write_unraisable(py, Some(flake.as_any()));
        }
    }
    Ok(())
}
