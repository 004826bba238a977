//! The options of `leafid.Segments`.

use super::fetch::Fetch;
use crate::arguments::{boolean, copied, headers, int, path, refused, text, texts, unknown};
use crate::errors;
use leafid::{FileTag, Prewarm, Protocol, Segments, SegmentsBuilder};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use std::sync::Arc;

const OPTIONS: &str = "servers, fetch, protocol, step, adaptive, prefetch, timeout_ms, request_timeout_ms, \
    connect_timeout_ms, connections, block_size, token, headers, ca_file, name, state_dir, persist, shared_fs, shared_group, tags, create, prewarm, \
    keep_unused, ordered_source";

/// The arguments for the host, and the callable among them. None means the same as an omitted option.
pub(crate) fn parse(
    servers: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<(SegmentsBuilder, Option<Arc<Fetch>>)> {
    let (mut builder, mut fetch) = (Segments::builder(), None);
    if let Some(servers) = servers {
        builder = builder.servers(texts("servers", servers)?);
    }
    for (key, value) in options.into_iter().flatten() {
        let name: String = key.extract()?;
        if !OPTIONS.split(", ").any(|known| known == name) {
            return Err(unknown(&name, &value, "option", OPTIONS));
        }
        if value.is_none() {
            continue;
        }
        if name == "fetch" {
            let given = Fetch::of(&value)?;
            builder = builder.source(given.source());
            fetch = Some(given);
        } else {
            builder = option(builder, &name, &value)?;
        }
    }
    Ok((builder, fetch))
}

fn option(to: SegmentsBuilder, name: &str, value: &Bound<'_, PyAny>) -> PyResult<SegmentsBuilder> {
    Ok(match name {
        "protocol" => {
            let protocol = text(name, value)?.parse::<Protocol>();
            to.protocol(protocol.map_err(|error| errors::raise(value.py(), &error))?)
        }
        "step" => to.step(int(name, value)?),
        "adaptive" => to.adaptive(boolean(name, value)?),
        "prefetch" => to.prefetch(int(name, value)?),
        "timeout_ms" => to.timeout_ms(int(name, value)?),
        "request_timeout_ms" => to.request_timeout_ms(int(name, value)?),
        "connect_timeout_ms" => to.connect_timeout_ms(int(name, value)?),
        "connections" => to.connections(int(name, value)?),
        "block_size" => to.block_size(int(name, value)?),
        "token" => to.token(text(name, value)?),
        "headers" => to.headers(headers(name, value)?),
        "ca_file" => to.ca_file(path(name, value)?),
        "name" => to.name(text(name, value)?),
        "state_dir" => to.state_dir(path(name, value)?),
        "persist" => to.persist(boolean(name, value)?),
        "shared_fs" => to.shared_fs(boolean(name, value)?),
        "shared_group" => to.shared_group(boolean(name, value)?),
        "tags" => to.tags(tags(value)?),
        "create" => to.create(boolean(name, value)?),
        "prewarm" => to.prewarm(prewarm(value)?),
        "keep_unused" => to.keep_unused(boolean(name, value)?),
        "ordered_source" => to.ordered_source(boolean(name, value)?),
        _ => return Err(unknown(name, value, "option", OPTIONS)),
    })
}

/// Mappings of `start` and `step`, each of which may be omitted.
fn tags(value: &Bound<'_, PyAny>) -> PyResult<Vec<(String, FileTag)>> {
    let mut tags = Vec::new();
    for (tag, fields) in &copied("tags", value)? {
        let mut how = FileTag::default();
        for (field, value) in &copied("tags", &fields)? {
            match text("tags", &field)?.as_str() {
                "start" => how.start = int("start", &value)?,
                "step" => how.step = int("step", &value)?,
                other => return Err(unknown(other, &value, "field of a tag", "start, step")),
            }
        }
        tags.push((text("tag", &tag)?, how));
    }
    Ok(tags)
}

fn prewarm(value: &Bound<'_, PyAny>) -> PyResult<Prewarm> {
    if !value.is_instance_of::<PyString>() {
        return texts("prewarm", value).map(Prewarm::Tags);
    }
    match text("prewarm", value)?.as_str() {
        "last-day" => Ok(Prewarm::LastDay),
        _ => Err(refused("prewarm", value)),
    }
}
