//! The options of `leafid.Snowflake`.

use crate::arguments::{boolean, headers, int, path, refused, text, unknown};
use crate::errors;
use crate::layout::layout;
use crate::source::{self, UserObjectHandle};
use leafid::{ClockSource, OnClockBackwards, OnExhausted, Snowflake, SnowflakeBuilder, Worker};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyRange, PyRangeMethods, PyString, PyTuple};

const OPTIONS: &str = "worker, name, state_dir, layout, epoch_ms, on_clock_backwards, max_backwards_ms, on_exhausted, \
    random_start, timeout_ms, persist, shared_fs, shared_group, exclusive_range, no_record_wait_ms, clock_source, start_after, lazy, peer_times, token, headers, ca_file, \
    request_timeout_ms, connect_timeout_ms";

/// The arguments of a snowflake, converted for the host.
pub(crate) struct Options {
    pub(crate) builder: SnowflakeBuilder,
    /// The id space.
    pub(crate) name: String,
    /// The user's objects that the host calls.
    pub(crate) objects: Vec<UserObjectHandle>,
}

impl Options {
    /// None means the same as an omitted option.
    pub(crate) fn parse(
        py: Python<'_>,
        worker: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Options> {
        let mut parsed =
            Options { builder: Snowflake::builder(), name: "default".into(), objects: Vec::new() };
        if let Some(worker) = worker {
            parsed.builder = parsed.builder.worker(worker_ids(worker, &mut parsed.objects)?);
        }
        for (key, value) in options.into_iter().flatten() {
            let name: String = key.extract()?;
            parsed.builder = option(py, parsed.builder, &name, &value, &mut parsed.objects)?;
            if name == "name" && !value.is_none() {
                parsed.name = text(&name, &value)?;
            }
        }
        Ok(parsed)
    }
}

fn option(
    py: Python<'_>,
    to: SnowflakeBuilder,
    name: &str,
    value: &Bound<'_, PyAny>,
    objects: &mut Vec<UserObjectHandle>,
) -> PyResult<SnowflakeBuilder> {
    let raise = |error| errors::raise(py, &error);
    if !OPTIONS.split(", ").any(|known| known == name) {
        return Err(unknown(name, value, "option", OPTIONS));
    }
    if value.is_none() {
        return Ok(to);
    }
    Ok(match name {
        "name" => to.name(text(name, value)?),
        "state_dir" => to.state_dir(path(name, value)?),
        "layout" => to.layout(layout(value)?),
        "epoch_ms" => to.epoch_ms(int(name, value)?),
        "on_clock_backwards" => {
            to.on_clock_backwards(OnClockBackwards::parse(&text(name, value)?).map_err(raise)?)
        }
        "max_backwards_ms" => to.max_backwards_ms(int(name, value)?),
        "on_exhausted" => to.on_exhausted(OnExhausted::parse(&text(name, value)?).map_err(raise)?),
        "random_start" => to.random_start(int(name, value)?),
        "timeout_ms" => to.timeout_ms(int(name, value)?),
        "persist" => to.persist(boolean(name, value)?),
        "shared_fs" => to.shared_fs(boolean(name, value)?),
        "shared_group" => to.shared_group(boolean(name, value)?),
        "exclusive_range" => to.exclusive_range(boolean(name, value)?),
        "no_record_wait_ms" => to.no_record_wait_ms(int(name, value)?),
        "clock_source" => to.clock_source(ClockSource::parse(&text(name, value)?).map_err(raise)?),
        "start_after" => to.start_after(int(name, value)?),
        "lazy" => to.lazy(boolean(name, value)?),
        "peer_times" => {
            let (ask, object) = source::peer_times(value)?;
            objects.push(object);
            to.peer_times(ask)
        }
        "token" => to.token(text(name, value)?),
        "headers" => to.headers(headers(name, value)?),
        "ca_file" => to.ca_file(path(name, value)?),
        "request_timeout_ms" => to.request_timeout_ms(int(name, value)?),
        "connect_timeout_ms" => to.connect_timeout_ms(int(name, value)?),
        _ => return Err(unknown(name, value, "option", OPTIONS)),
    })
}

/// An int, a range of step 1, text, the URLs of lease servers, or a source of worker ids.
fn worker_ids(value: &Bound<'_, PyAny>, objects: &mut Vec<UserObjectHandle>) -> PyResult<Worker> {
    if value.is_instance_of::<PyString>() {
        return text("worker", value).map(Worker::Text);
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        return servers(value).map(Worker::Servers);
    }
    let Ok(range) = value.cast::<PyRange>() else {
        if let Some((source, object)) = source::worker_source(value)? {
            objects.push(object);
            return Ok(Worker::Source(source));
        }
        return int("worker", value).map(Worker::Id);
    };
    // Bounds beyond 64 bits do not fit into isize. They are refused like any other invalid range.
    match (range.start(), range.stop(), range.step()) {
        (Ok(start), Ok(stop), Ok(1)) if start < stop => {
            Ok(Worker::Range { first: start as i64, last: stop as i64 - 1 })
        }
        _ => Err(refused("worker", value)),
    }
}

/// A list or tuple of texts. If it contains anything else, the error shows all of it: a number could be meant as a
/// worker id.
fn servers(value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let texts = value.try_iter()?.map(|url| text("worker", &url?));
    texts.collect::<PyResult<_>>().map_err(|_| refused("worker", value))
}
