//! The options of `leafid.Segments`.

use super::fetch::Fetch;
use crate::arguments::texts;
use crate::errors;
use crate::options::{Given, for_each};
use leafid::{OptionKind, OptionOf, Segments, SegmentsBuilder};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// The arguments for the host, and the callable among them. None means the same as an omitted option.
pub(crate) fn parse(
    servers: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<(SegmentsBuilder, Option<Arc<Fetch>>)> {
    let (mut builder, mut fetch) = (Segments::builder(), None);
    if let Some(servers) = servers {
        builder = builder.servers(texts("servers", servers)?);
    }
    for_each(OptionOf::Segments, options, |row, value| {
        if row.kind == OptionKind::Callback {
            let given = Fetch::of(value)?;
            builder = std::mem::take(&mut builder).source(given.source());
            fetch = Some(given);
            return Ok(());
        }
        let set = match Given::of(row, value)? {
            Given::Value(value) => builder.set_value(row.name, value),
            Given::Path(path) => builder.set_path_value(row.name, path),
        };
        set.map_err(|error| errors::raise(value.py(), &error))
    })?;
    Ok((builder, fetch))
}
