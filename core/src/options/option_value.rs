//! The values that a language gives to options, before they are checked.

use super::refused::shown_value;
use super::table::{OptionKind, OptionOf, OptionRow};
use crate::format::counter::MOST_STEP;
use crate::options::allowed::allowed;
use crate::options::refused::refused;
use crate::quoted::{Quoted, QuotedBytes};
use crate::secrets::shown_urls;
use crate::{Error, LayoutFields, Result};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

/// A value as the user gave it.
#[derive(Clone, PartialEq, Eq)]
pub enum OptionValue {
    /// An integer.
    Int(i64),
    /// Text.
    Text(String),
    /// True or false.
    Flag(bool),
    /// A path, in the bytes of the system.
    Path(Vec<u8>),
    /// Several texts.
    Texts(Vec<String>),
    /// Names and their texts.
    Headers(Vec<(String, String)>),
    /// The smallest and the largest worker id.
    Range(i64, i64),
    /// The fields of a layout.
    Layout(LayoutFields),
    /// Counters of `file:DIR`, by their tags.
    Tags(Vec<(String, FileTag)>),
    /// A callback, which the host keeps.
    Callback,
    /// An object with `claim`, `renew` and `release`, which the host keeps.
    Leases,
    /// A value that no option has: as the language writes it.
    Other(String),
}

/// The start and the step of a counter of `file:DIR`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileTag {
    /// The first id, 0 to 2^63 - 2. Default 1.
    pub start: i64,
    /// How many ids a fetch gets if it requests no number, 1 to 2^24. Default 1000. A changed step takes effect without
    /// a restart.
    pub step: i64,
}

impl Default for FileTag {
    fn default() -> FileTag {
        FileTag { start: 1, step: 1_000 }
    }
}

impl FileTag {
    /// Errors: `invalid_argument` for a counter of this tag that cannot be.
    pub fn check(&self, tag: &str) -> Result<()> {
        let of = |what| format!("the {what} of the tag {}", Quoted(tag));
        if !(0..i64::MAX).contains(&self.start) {
            return Err(Error::invalid(&of("start"), self.start, allowed("start")));
        }
        if !(1..=MOST_STEP).contains(&self.step) {
            return Err(Error::invalid(&of("step"), self.step, &format!("1 to {MOST_STEP}")));
        }
        Ok(())
    }
}

/// The text of `prewarm` for the tags of the last day.
pub(crate) const LAST_DAY: &str = "last-day";

impl OptionValue {
    /// Whether an option of this kind can be set to it. The value itself may still be wrong.
    pub fn is_of(&self, kind: OptionKind) -> bool {
        use OptionValue as Is;
        match kind {
            OptionKind::Int | OptionKind::Id => matches!(self, Is::Int(_)),
            OptionKind::Text | OptionKind::Word(_) => matches!(self, Is::Text(_)),
            OptionKind::Flag => matches!(self, Is::Flag(_)),
            OptionKind::Path => matches!(self, Is::Path(_) | Is::Text(_)),
            OptionKind::Headers => matches!(self, Is::Headers(_)),
            OptionKind::Worker => matches!(
                self,
                Is::Int(_) | Is::Range(..) | Is::Text(_) | Is::Texts(_) | Is::Callback | Is::Leases
            ),
            OptionKind::Layout => matches!(self, Is::Text(_) | Is::Layout(_)),
            OptionKind::Urls => matches!(self, Is::Text(_) | Is::Texts(_)),
            OptionKind::Tags => matches!(self, Is::Tags(_)),
            OptionKind::Prewarm => matches!(self, Is::Texts(_)) || *self == Is::Text(LAST_DAY.into()),
            OptionKind::Callback => *self == Is::Callback,
        }
    }
}

/// For the errors about it.
impl fmt::Display for OptionValue {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionValue::Int(number) => number.fmt(to),
            OptionValue::Text(text) => Quoted(text).fmt(to),
            OptionValue::Flag(flag) => flag.fmt(to),
            OptionValue::Path(bytes) => QuotedBytes(bytes).fmt(to),
            OptionValue::Texts(texts) => write!(to, "[{}]", shown_urls(texts)),
            OptionValue::Headers(_) => to.write_str("names with texts"),
            OptionValue::Range(first, last) => write!(to, "{first}-{last}"),
            OptionValue::Layout(_) => to.write_str("the fields of a layout"),
            OptionValue::Tags(_) => to.write_str("tags"),
            OptionValue::Callback => to.write_str("a callback"),
            OptionValue::Leases => to.write_str("an object with claim, renew and release"),
            OptionValue::Other(shown) => to.write_str(shown),
        }
    }
}

/// The options that a user set for one snowflake, or for segments.
#[derive(Clone, PartialEq, Eq)]
pub struct OptionValues {
    of: OptionOf,
    /// At most one value for each name.
    set: Vec<(&'static str, OptionValue)>,
}

impl OptionValues {
    /// No option is set.
    pub const fn new(of: OptionOf) -> OptionValues {
        OptionValues { of, set: Vec::new() }
    }

    /// Sets an option, again if it is set. The value is checked when all are set.
    ///
    /// Errors: `invalid_argument` for an unknown name, and for a value of another kind.
    pub fn set(&mut self, name: &str, value: OptionValue) -> Result<()> {
        let row = OptionRow::find(self.of, name)?;
        if !value.is_of(row.kind) {
            return Err(refused(name, &value.to_string(), None));
        }
        match self.set.iter_mut().find(|(known, _)| *known == name) {
            Some((_, before)) => *before = value,
            None => self.set.push((row.name, value)),
        }
        Ok(())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&OptionValue> {
        self.set.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    pub(crate) fn int(&self, name: &str) -> Option<i64> {
        match self.get(name) {
            Some(OptionValue::Int(number)) => Some(*number),
            _ => None,
        }
    }

    pub(crate) fn flag(&self, name: &str) -> Option<bool> {
        match self.get(name) {
            Some(OptionValue::Flag(flag)) => Some(*flag),
            _ => None,
        }
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(OptionValue::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The bytes of a path.
    pub(crate) fn path(&self, name: &str) -> Option<&[u8]> {
        match self.get(name) {
            Some(OptionValue::Path(bytes)) => Some(bytes),
            Some(OptionValue::Text(text)) => Some(text.as_bytes()),
            _ => None,
        }
    }

    /// The texts, also if it is one.
    pub(crate) fn texts(&self, name: &str) -> Vec<String> {
        match self.get(name) {
            Some(OptionValue::Text(text)) => Vec::from([text.clone()]),
            Some(OptionValue::Texts(texts)) => texts.clone(),
            _ => Vec::new(),
        }
    }

    pub(crate) fn headers(&self) -> &[(String, String)] {
        match self.get("headers") {
            Some(OptionValue::Headers(headers)) => headers,
            _ => &[],
        }
    }

    pub(crate) fn tags(&self) -> &[(String, FileTag)] {
        match self.get("tags") {
            Some(OptionValue::Tags(tags)) => tags,
            _ => &[],
        }
    }

    /// Whether each of these was set to something. Empty lists and `create = false` are nothing.
    pub(crate) fn which_are_set<const N: usize>(
        &self,
        names: [&'static str; N],
    ) -> [(&'static str, bool); N] {
        names.map(|name| {
            let is_set = match self.get(name) {
                None => false,
                Some(OptionValue::Headers(headers)) => !headers.is_empty(),
                Some(OptionValue::Tags(tags)) => !tags.is_empty(),
                Some(OptionValue::Flag(flag)) => *flag || name != "create",
                Some(_) => true,
            };
            (name, is_set)
        })
    }
}

/// Without values that may be secrets.
impl fmt::Debug for OptionValues {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = to.debug_map();
        for (name, value) in &self.set {
            map.entry(name, &format_args!("{}", shown_value(name, &value.to_string())));
        }
        map.finish()
    }
}

/// The text of a word, as the parser of its type takes it. Errors: those of `parse`.
pub(crate) fn word<T: Default>(
    set: &OptionValues,
    name: &str,
    parse: impl FnOnce(&str) -> Result<T>,
) -> Result<T> {
    set.text(name).map_or_else(|| Ok(T::default()), parse)
}
