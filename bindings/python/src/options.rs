//! The options of `leafid.Snowflake`.

use crate::arguments::{int, path, refused, text, unknown};
use crate::errors;
use crate::layout::layout;
use leafid::{OnClockBackwards, OnExhausted, Snowflake, SnowflakeBuilder, Worker};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyRange, PyRangeMethods, PyString};

const OPTIONS: &str = "worker, name, state_dir, layout, epoch_ms, on_clock_backwards, max_backwards_ms, on_exhausted, \
    random_start, timeout_ms";

/// The host's builder for these arguments. None is the same as an option left out.
pub(crate) fn builder(
    py: Python<'_>,
    worker: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<SnowflakeBuilder> {
    let mut builder = Snowflake::builder();
    if let Some(worker) = worker {
        builder = builder.worker(worker_ids(worker)?);
    }
    for (key, value) in options.into_iter().flatten() {
        let name: String = key.extract()?;
        builder = option(py, builder, &name, &value)?;
    }
    Ok(builder)
}

fn option(
    py: Python<'_>,
    to: SnowflakeBuilder,
    name: &str,
    value: &Bound<'_, PyAny>,
) -> PyResult<SnowflakeBuilder> {
    let raise = |error| errors::raise(py, &error);
    if !OPTIONS.split(", ").any(|known| known == name) {
        return Err(unknown(name, value, OPTIONS));
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
        _ => return Err(unknown(name, value, OPTIONS)),
    })
}

/// An int, a range of step 1, or text.
fn worker_ids(value: &Bound<'_, PyAny>) -> PyResult<Worker> {
    if value.is_instance_of::<PyString>() {
        return text("worker", value).map(Worker::Text);
    }
    let Ok(range) = value.cast::<PyRange>() else {
        return int("worker", value).map(Worker::Id);
    };
    // Bounds beyond 64 bits do not fit isize: refused like any other bad range.
    match (range.start(), range.stop(), range.step()) {
        (Ok(start), Ok(stop), Ok(1)) if start < stop => {
            Ok(Worker::Range { first: start as i64, last: stop as i64 - 1 })
        }
        _ => Err(refused("worker", value)),
    }
}
