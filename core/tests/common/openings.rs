//! Openings with values of tests/vectors/options.json.

use crate::common::text;
use leafid_core::Result;
use leafid_core::options::{Environment, OptionOf, OptionValue, OptionValues, RunOptions, SupplyOptions};
use serde_json::Value;

/// No variable is set.
pub(crate) const EMPTY: Environment<'_> = Environment { variable: &|_| None, host_name: "orders-3" };
pub(crate) const URL: &str = "http://127.0.0.1:1";

/// A value of the vectors, as a language passes it.
pub(crate) fn given(value: &Value) -> OptionValue {
    let texts = |list: &[Value]| {
        list.iter().map(|text| text.as_str().map(Into::into)).collect::<Option<Vec<String>>>()
    };
    let headers = |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.into()));
    match value {
        Value::Bool(flag) => OptionValue::Flag(*flag),
        Value::String(text) => OptionValue::Text(text.clone()),
        Value::Number(_) if value.is_i64() => OptionValue::Int(value.as_i64().unwrap()),
        Value::Array(list) if texts(list).is_some() => OptionValue::Texts(texts(list).unwrap()),
        Value::Object(fields) if fields.iter().all(|field| headers(field).is_some()) => {
            OptionValue::Headers(fields.iter().filter_map(headers).collect())
        }
        _ => OptionValue::Other(value.to_string()),
    }
}

/// The options that every opening of the vectors has.
pub(crate) fn base(of: OptionOf, but: &str) -> OptionValues {
    let mut set = OptionValues::new(of);
    let (name, value) = match of {
        OptionOf::Segments => ("servers", OptionValue::Text(URL.into())),
        _ => ("worker", OptionValue::Int(7)),
    };
    if name != but && but != "fetch" {
        set.set(name, value).unwrap();
    }
    set
}

pub(crate) fn parsed(of: OptionOf, set: &OptionValues, environment: &Environment<'_>) -> Result<()> {
    match of {
        OptionOf::Segments => SupplyOptions::parse(set, environment).map(drop),
        _ => RunOptions::parse(set, environment).map(drop),
    }
}

pub(crate) fn of(row: &Value) -> OptionOf {
    if row["of"] == "segments" { OptionOf::Segments } else { OptionOf::Snowflake }
}

/// What the opening with a value of the vectors answers.
pub(crate) fn opened(row: &Value, value: &Value) -> Result<()> {
    let mut set = base(of(row), text(row, "option"));
    for (name, value) in row["with"].as_object().into_iter().flatten() {
        set.set(name, given(value)).unwrap();
    }
    set.set(text(row, "option"), given(value))?;
    parsed(of(row), &set, &EMPTY)
}

/// An environment with one variable.
pub(crate) fn with_variable<T>(name: &str, value: &[u8], parse: impl FnOnce(&Environment<'_>) -> T) -> T {
    let variable = |asked: &str| (asked == name).then(|| value.to_vec());
    parse(&Environment { variable: &variable, ..EMPTY })
}
