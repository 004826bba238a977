//! The Python binding of leafid, module `leafid._leafid`. It converts arguments, results and errors, and has no logic.
//!
//! The public names are documented for Python users in their docstrings and in `python/leafid/_leafid.pyi`.

mod arguments;
mod attach;
mod buffer;
mod call;
mod cli;
mod errors;
mod exit;
mod green;
mod interpreter;
mod layout;
mod logs;
mod options;
mod parts;
mod public_ids;
mod segments;
mod snowflake;
mod source;
mod stats;
mod text_form;
mod value;

use pyo3::prelude::*;

/// Unique 64-bit ids made in the caller's own process. Private: import `leafid`.
#[pymodule(gil_used = false)]
fn _leafid(module: &Bound<'_, PyModule>) -> PyResult<()> {
    interpreter::refuse_others(module.py())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<public_ids::PublicIds>()?;
    module.add_class::<snowflake::Snowflake>()?;
    module.add_class::<layout::Layout>()?;
    module.add_class::<parts::Parts>()?;
    module.add_class::<stats::Stats>()?;
    module.add_class::<source::ClaimRequest>()?;
    module.add_class::<source::Lease>()?;
    module.add_class::<segments::Segments>()?;
    module.add_class::<segments::Tag>()?;
    module.add_class::<segments::SegmentsStats>()?;
    module.add_class::<segments::TagStats>()?;
    module.add_class::<segments::Call>()?;
    module.add_class::<segments::FutureInbox>()?;
    module.add_function(wrap_pyfunction!(parts::decode, module)?)?;
    module.add_function(wrap_pyfunction!(parts::compose, module)?)?;
    module.add_function(wrap_pyfunction!(parts::first_id_at, module)?)?;
    module.add_function(wrap_pyfunction!(parts::last_id_at, module)?)?;
    module.add_function(wrap_pyfunction!(text_form::format_id, module)?)?;
    module.add_function(wrap_pyfunction!(text_form::parse_id, module)?)?;
    module.add_function(wrap_pyfunction!(text_form::id_to_uuid, module)?)?;
    module.add_function(wrap_pyfunction!(text_form::uuid_to_id, module)?)?;
    module.add_function(wrap_pyfunction!(arguments::refuse, module)?)?;
    module.add_function(wrap_pyfunction!(cli::cli, module)?)?;
    module.add_function(wrap_pyfunction!(stats::metrics, module)?)?;
    errors::add_to(module)?;
    exit::close_at_exit(module)?;
    logs::set_up(module)
}
