//! The options, converted by the kinds that the host's table says; and those of `leafid.Snowflake`.

use crate::arguments::{boolean, copied, headers, int, path, refused, text, texts, unknown};
use crate::errors;
use crate::layout::layout;
use crate::source::{self, UserObjectHandle};
use leafid::{FileTag, OptionKind, OptionOf, OptionRow, OptionValue, Snowflake, SnowflakeBuilder, Worker};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyRange, PyRangeMethods, PyString, PyTuple};
use std::collections::BTreeMap;
use std::path::PathBuf;

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
        worker: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Options> {
        let (mut builder, mut objects) = (Snowflake::builder(), Vec::new());
        if let Some(worker) = worker {
            builder = builder.worker(worker_ids(worker, &mut objects)?);
        }
        let mut name = "default".into();
        for_each(OptionOf::Snowflake, options, |row, value| {
            if row.kind == OptionKind::Callback {
                let (ask, object) = source::peer_times(value)?;
                objects.push(object);
                builder = std::mem::take(&mut builder).peer_times(ask);
                return Ok(());
            }
            let given = Given::of(row, value)?;
            if let ("name", Given::Value(OptionValue::Text(text))) = (row.name, &given) {
                name = text.clone();
            }
            let set = match given {
                Given::Value(value) => builder.set_value(row.name, value),
                Given::Path(path) => builder.set_path_value(row.name, path),
            };
            set.map_err(|error| errors::raise(value.py(), &error))
        })?;
        Ok(Options { builder, name, objects })
    }
}

/// Passes each option that is set and not None. Errors: an unknown name.
pub(crate) fn for_each(
    of: OptionOf,
    options: Option<&Bound<'_, PyDict>>,
    mut set: impl FnMut(&OptionRow, &Bound<'_, PyAny>) -> PyResult<()>,
) -> PyResult<()> {
    for (key, value) in options.into_iter().flatten() {
        let name: String = key.extract()?;
        let row = OptionRow::find(of, &name).map_err(|error| errors::raise(value.py(), &error))?;
        if !value.is_none() {
            set(row, &value)?;
        }
    }
    Ok(())
}

/// A value as the host takes it.
pub(crate) enum Given {
    Value(OptionValue),
    Path(PathBuf),
}

impl Given {
    pub(crate) fn of(row: &OptionRow, value: &Bound<'_, PyAny>) -> PyResult<Given> {
        let name = row.name;
        Ok(Given::Value(match row.kind {
            OptionKind::Int | OptionKind::Id => OptionValue::Int(int(name, value)?),
            OptionKind::Text | OptionKind::Word(_) => OptionValue::Text(text(name, value)?),
            OptionKind::Flag => OptionValue::Flag(boolean(name, value)?),
            OptionKind::Path => return path(name, value).map(Given::Path),
            OptionKind::Headers => OptionValue::Headers(headers(name, value)?),
            OptionKind::Layout => OptionValue::Layout(layout(value)?.fields()),
            OptionKind::Urls => OptionValue::Texts(texts(name, value)?),
            OptionKind::Tags => OptionValue::Tags(tags(name, value)?),
            OptionKind::Prewarm if value.is_instance_of::<PyString>() => {
                match OptionValue::Text(text(name, value)?) {
                    word if word.is_of(row.kind) => word,
                    _ => return Err(refused(name, value)),
                }
            }
            OptionKind::Prewarm => OptionValue::Texts(texts(name, value)?),
            // Arguments of their own.
            OptionKind::Worker | OptionKind::Callback => return Err(refused(name, value)),
        }))
    }
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

/// Mappings of `start` and `step`, each of which may be omitted.
fn tags(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<(String, FileTag)>> {
    let mut tags = BTreeMap::new();
    for (tag, fields) in &copied(name, value)? {
        let mut how = FileTag::default();
        for (field, value) in &copied(name, &fields)? {
            match text(name, &field)?.as_str() {
                "start" => how.start = int("start", &value)?,
                "step" => how.step = int("step", &value)?,
                other => return Err(unknown(other, &value, "field of a tag", "start, step")),
            }
        }
        tags.insert(text("tag", &tag)?, how);
    }
    Ok(tags.into_iter().collect())
}
