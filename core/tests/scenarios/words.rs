//! The words of a step, of which each must be read, and what came instead of what a step says.

use crate::common::openings::given;
use leafid_core::options::{OptionOf, OptionValue, OptionValues};
use leafid_core::{Code, Error, Result};
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::collections::BTreeSet;

pub(super) struct Words<'v> {
    fields: &'v Map<String, Value>,
    read: RefCell<BTreeSet<&'v str>>,
}

impl<'v> Words<'v> {
    pub(super) fn of(value: &'v Value) -> Words<'v> {
        let fields = value.as_object().unwrap_or_else(|| panic!("no object: {value}"));
        Words { fields, read: RefCell::default() }
    }

    pub(super) fn get(&self, name: &str) -> Option<&'v Value> {
        let (name, value) = self.fields.get_key_value(name)?;
        self.read.borrow_mut().insert(name);
        Some(value)
    }

    pub(super) fn text(&self, name: &str) -> Option<&'v str> {
        self.get(name).map(|value| value.as_str().unwrap_or_else(|| panic!("{name} is no text: {value}")))
    }

    pub(super) fn int(&self, name: &str) -> Option<i64> {
        self.get(name).map(|value| value.as_i64().unwrap_or_else(|| panic!("{name} is no number: {value}")))
    }

    pub(super) fn is_set(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| *value == Value::Bool(true) || panic!("{name} is not true"))
    }

    pub(super) fn list(&self, name: &str) -> &'v [Value] {
        self.get(name).map_or(&[], |value| value.as_array().unwrap_or_else(|| panic!("{name} is no list")))
    }

    /// The one of these that it has.
    pub(super) fn one_of(&self, names: &[&'static str]) -> &'static str {
        let found: Vec<_> = names.iter().filter(|name| self.fields.contains_key(**name)).collect();
        match found[..] {
            [one] => one,
            _ => panic!("it has {found:?}, and not one of {names:?}"),
        }
    }

    pub(super) fn all_read(&self) {
        let read = self.read.borrow();
        let left: Vec<_> = self.fields.keys().filter(|name| !read.contains(name.as_str())).collect();
        assert!(left.is_empty(), "not expected here, or no word at all: {left:?}");
    }
}

/// The options of an opening; later ones go before earlier ones.
pub(super) fn options(of: OptionOf, said: &[&Value]) -> Result<OptionValues> {
    let mut set = OptionValues::new(of);
    for (name, value) in said.iter().flat_map(|said| said.as_object()).flatten() {
        let value = match value.as_str() {
            Some("<function>") => OptionValue::Callback,
            Some("<leases>") => OptionValue::Leases,
            _ => given(value),
        };
        set.set(name, value)?;
    }
    Ok(set)
}

/// Whether a text is as a step says it: "…" is any text.
pub(super) fn fits(said: &str, text: &str) -> bool {
    let mut parts = said.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Ends with a failure if the error is not as the words say.
pub(super) fn check_error(words: &Words<'_>, error: &Error) {
    let (code, says) = (words.text("error"), words.text("says"));
    assert_eq!(code, Some(error.code().name()), "{error}");
    assert!(says.is_none_or(|says| fits(says, error.message())), "it says: {}", error.message());
}

/// An error as a step gives it: a text is that of another exception.
pub(super) fn failure(said: &Value) -> std::result::Result<String, Error> {
    if let Some(text) = said.as_str() {
        return Ok(text.into());
    }
    let words = Words::of(said);
    let (name, says) = (words.text("error"), words.text("says").unwrap_or_default());
    words.all_read();
    let code = Code::ALL.into_iter().find(|code| Some(code.name()) == name);
    Err(Error::new(code.unwrap_or_else(|| panic!("no code {name:?}")), says))
}

/// Ends with a failure if the ids are not as a step says: all of them, or how many and which are the ends.
pub(super) fn check_ids(said: &Value, ids: &[Value]) {
    if said.is_array() {
        assert_eq!(*said, json!(ids));
        return;
    }
    let words = Words::of(said);
    let count = words.int("count").map(|count| count as usize);
    assert_eq!((count, words.get("first"), words.get("last")), (Some(ids.len()), ids.first(), ids.last()));
    words.all_read();
}

/// The names of times in requests and responses.
const TIMES: [&str; 8] =
    ["from", "until", "now", "server_time", "peer_times", "from_ms", "until_ms", "now_ms"];

/// Moves times by so many milliseconds: scenarios count from their beginning.
pub(super) fn moved(name: &str, value: &Value, by: i64) -> Value {
    match value {
        Value::Number(number) if TIMES.contains(&name) => json!(number.as_i64().unwrap() + by),
        Value::Array(list) => list.iter().map(|value| moved(name, value, by)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), moved(name, value, by))).collect()
        }
        other => other.clone(),
    }
}
