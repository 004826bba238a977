//! The close of generators and segments that are still open when the interpreter ends, or when a cycle of objects is
//! collected, so that their last record is exact.

use crate::green;
use crate::logs;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyList;
use std::sync::Arc;

/// A `weakref.WeakValueDictionary` of the open objects by address. It keeps none of them alive.
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

/// Calls an object's `close` at the end of the interpreter, if it still exists.
pub(crate) fn watch(object: &Bound<'_, PyAny>) -> PyResult<()> {
    match OPEN.get(object.py()) {
        Some(open) => open.bind(object.py()).set_item(object.as_ptr() as usize, object),
        None => Ok(()),
    }
}

/// Closes a generator before the collector clears the objects of its cycle, because the user's own object releases the
/// lease.
pub(crate) fn close_before_collected(
    flake: &Bound<'_, PyAny>,
    closes: Arc<leafid::Snowflake>,
) -> PyResult<()> {
    let finalize = flake.py().import("weakref")?.getattr("finalize")?;
    // `close_all` is responsible for the end of the interpreter.
    finalize.call1((flake, Closer(closes)))?.setattr("atexit", false)
}

/// Called when the generator's object is gone, or about to be.
#[pyclass(frozen, module = "leafid")]
struct Closer(Arc<leafid::Snowflake>);

#[pymethods]
impl Closer {
    fn __call__(&self, py: Python<'_>) {
        // No caller is there for an error; the host logs it.
        let _ = py.detach(|| self.0.close());
    }
}

/// Closes the open objects. In a forked child the host knows the parent's objects, and leaves them alone.
#[pyfunction]
fn close_all(py: Python<'_>) -> PyResult<()> {
    green::end();
    let Some(open) = OPEN.get(py) else { return Ok(()) };
    // The list is created in one step, because other threads may open more objects.
    let references = open.bind(py).call_method0("valuerefs")?.cast_into::<PyList>()?;
    for reference in references {
        let object = reference.call0()?;
        if !object.is_none()
            && let Err(error) = object.call_method0("close")
        {
            error.write_unraisable(py, Some(&object));
        }
    }
    logs::end(py);
    Ok(())
}
