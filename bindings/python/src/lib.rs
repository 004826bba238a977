//! The Python binding of leafid, module `leafid._leafid`: it converts arguments, results and errors, and holds no
//! logic. What is public is documented for Python users in their docstrings and in `python/leafid/_leafid.pyi`.

mod arguments;
mod buffer;
mod call;
mod errors;
mod exit;
mod interpreter;
mod layout;
mod options;
mod parts;
mod snowflake;
mod stats;

use pyo3::prelude::*;

/// Unique 64-bit ids made in the caller's own process. Private: import `leafid`.
#[pymodule(gil_used = false)]
fn _leafid(module: &Bound<'_, PyModule>) -> PyResult<()> {
    interpreter::refuse_others(module.py())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<snowflake::Snowflake>()?;
    module.add_class::<layout::Layout>()?;
    module.add_class::<parts::Parts>()?;
    module.add_class::<stats::Stats>()?;
    module.add_function(wrap_pyfunction!(parts::decode, module)?)?;
    module.add_function(wrap_pyfunction!(parts::compose, module)?)?;
    errors::add_to(module)?;
    exit::close_at_exit(module)
}
