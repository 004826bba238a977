//! The options in the form of JavaScript, converted by the kinds that the host's table says.

use crate::error::thrown;
use crate::events::whole;
use crate::id::existing;
use crate::layout::{LayoutArgument, layout};
use leafid::{
    FileTag, Named, OPTIONS, OptionKind, OptionOf, OptionRow, OptionValue, Segments, SegmentsBuilder,
    Snowflake, SnowflakeBuilder,
};
use napi::bindgen_prelude::{BigInt, Either, Either4, Env, Object};
use napi_derive::napi;
use std::collections::BTreeMap;

/// A longer wait of the JavaScript thread returns `would_block`.
pub(crate) const MAX_WAIT_MS: i64 = 2;

/// A row of the table, by which JavaScript checks types.
#[napi(object, object_from_js = false)]
pub struct OptionObject {
    /// Its name, in camel case.
    pub name: String,
    /// The name of its kind.
    pub kind: String,
}

/// A range of worker ids, both ends included.
#[napi(object, object_to_js = false)]
pub struct WorkerRange {
    /// The smallest id.
    pub first: i64,
    /// The largest id.
    pub last: i64,
}

/// A counter of a directory.
#[napi(object, object_to_js = false)]
pub struct FileTagObject {
    /// Its name.
    pub name: String,
    /// Its first id.
    pub start: Option<BigInt>,
    /// The number of ids of a fetch.
    pub step: Option<i64>,
}

impl From<FileTagObject> for (String, FileTag) {
    fn from(tag: FileTagObject) -> (String, FileTag) {
        let default = FileTag::default();
        let start = tag.start.map_or(default.start, |start| whole(&start));
        (tag.name, FileTag { start, step: tag.step.unwrap_or(default.step) })
    }
}

const fn kind(of_segments: bool) -> OptionOf {
    if of_segments { OptionOf::Segments } else { OptionOf::Snowflake }
}

fn rows(of: OptionOf) -> impl Iterator<Item = &'static OptionRow> {
    OPTIONS.iter().filter(move |row| row.of.includes(of))
}

/// The options of a snowflake, or of segments.
#[napi(catch_unwind)]
pub fn option_rows(of_segments: bool) -> Vec<OptionObject> {
    let row = |row: &OptionRow| OptionObject { name: name_of(row), kind: row.kind.name().into() };
    rows(kind(of_segments)).map(row).collect()
}

/// Has all messages name options as JavaScript does.
#[napi(catch_unwind)]
pub fn camel_case() {
    leafid::Spelling::Camel.set();
}

fn name_of(row: &OptionRow) -> String {
    Named(row.name).to_string()
}

/// The options of a snowflake but its callbacks, whatever waits for its calls.
pub(crate) fn of_snowflake(env: &Env, given: &Object<'_>) -> napi::Result<SnowflakeBuilder> {
    let mut builder = Snowflake::builder();
    for (name, value) in values(env, OptionOf::Snowflake, given)? {
        builder.set_value(name, value).map_err(|error| thrown(env, &error))?;
    }
    Ok(builder)
}

/// The options of segments but the callback, for handles that the JavaScript thread uses.
pub(crate) fn of_segments(env: &Env, given: &Object<'_>) -> napi::Result<SegmentsBuilder> {
    let mut builder = Segments::builder().max_wait_ms(MAX_WAIT_MS);
    for (name, value) in values(env, OptionOf::Segments, given)? {
        builder.set_value(name, value).map_err(|error| thrown(env, &error))?;
    }
    Ok(builder)
}

/// What an object has of the options; a missing one has the host's default.
fn values(env: &Env, of: OptionOf, given: &Object<'_>) -> napi::Result<Vec<(&'static str, OptionValue)>> {
    let mut values = Vec::new();
    for row in rows(of) {
        values.extend(value(env, row, given)?.map(|value| (row.name, value)));
    }
    Ok(values)
}

fn value(env: &Env, row: &OptionRow, given: &Object<'_>) -> napi::Result<Option<OptionValue>> {
    let name = &*name_of(row);
    let wrong = |error| thrown(env, &error);
    Ok(match row.kind {
        OptionKind::Int => given.get(name)?.map(OptionValue::Int),
        OptionKind::Id => {
            let id = given.get::<Either<BigInt, String>>(name)?;
            id.map(|id| existing(row.name, id)).transpose().map_err(wrong)?.map(OptionValue::Int)
        }
        OptionKind::Text | OptionKind::Word(_) | OptionKind::Path => given.get(name)?.map(OptionValue::Text),
        OptionKind::Flag => given.get(name)?.map(OptionValue::Flag),
        OptionKind::Headers => {
            let headers = given.get::<BTreeMap<String, String>>(name)?;
            headers.map(|headers| OptionValue::Headers(headers.into_iter().collect()))
        }
        OptionKind::Layout => {
            let fields = given.get::<LayoutArgument>(name)?.map(|given| layout(Some(given)));
            fields.transpose().map_err(wrong)?.map(|layout| OptionValue::Layout(layout.fields()))
        }
        OptionKind::Urls => given.get(name)?.map(OptionValue::Texts),
        OptionKind::Tags => {
            let tags = given.get::<Vec<FileTagObject>>(name)?;
            tags.map(|tags| OptionValue::Tags(tags.into_iter().map(Into::into).collect()))
        }
        OptionKind::Prewarm => given.get::<Either<String, Vec<String>>>(name)?.map(|given| match given {
            Either::A(word) => OptionValue::Text(word),
            Either::B(tags) => OptionValue::Texts(tags),
        }),
        // The array comes first, because it is an object too.
        OptionKind::Worker => {
            given.get::<Either4<i64, Vec<String>, WorkerRange, String>>(name)?.map(|given| match given {
                Either4::A(id) => OptionValue::Int(id),
                Either4::B(urls) => OptionValue::Texts(urls),
                Either4::C(WorkerRange { first, last }) => OptionValue::Range(first, last),
                Either4::D(text) => OptionValue::Text(text),
            })
        }
        // An argument of its own.
        OptionKind::Callback => None,
    })
}
