//! Objects in JSON, read field by field.
//!
//! All objects have this one reader. Derived readers, one for each struct, are most of a small program's size.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The number of characters of a wrong value that messages show.
const SHOWN: usize = 100;

/// What was wrong: it completes the sentence "it is not as expected: …".
pub type JsonResult<T> = core::result::Result<T, String>;

/// The fields of an object. Their values are checked to be JSON, and not parsed yet.
pub struct Object<'a>(Vec<(String, &'a RawValue)>);

/// The text of a value.
#[derive(Clone, Copy)]
pub(crate) struct JsonValue<'a>(&'a str);

impl<'a> Object<'a> {
    /// Parses a text that is one object.
    pub(crate) fn parse(text: &'a [u8]) -> JsonResult<Object<'a>> {
        serde_json::from_slice(text).map_err(|error| error.to_string())
    }

    /// The names and the values.
    #[cfg(all(feature = "format", feature = "options", feature = "wire"))]
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&str, JsonValue<'a>)> {
        self.0.iter().map(|(name, value)| (&name[..], JsonValue(value.get())))
    }

    /// Errors: a field that is not one of `names`, or is there twice.
    #[cfg(feature = "format")]
    pub(crate) fn check_names(&self, names: &[&str]) -> JsonResult<()> {
        self.0.iter().try_for_each(|(name, _)| match names.contains(&&name[..]) {
            true => self.find(name).map(|_| ()),
            false => Err(format!("unknown field `{name}`")),
        })
    }

    /// The value of a field; `None` if it is missing. Errors: it is there twice.
    pub(crate) fn find(&self, name: &str) -> JsonResult<Option<JsonValue<'a>>> {
        let mut found = self.0.iter().filter(|field| field.0 == name);
        let first = found.next().map(|field| JsonValue(field.1.get()));
        if found.next().is_some() { Err(format!("duplicate field `{name}`")) } else { Ok(first) }
    }

    /// As [`Object::find`]; `None` also for null.
    pub(crate) fn optional(&self, name: &str) -> JsonResult<Option<JsonValue<'a>>> {
        Ok(self.find(name)?.filter(|value| value.0 != "null"))
    }

    /// As [`Object::find`]. Errors: it is missing.
    pub(crate) fn get(&self, name: &str) -> JsonResult<JsonValue<'a>> {
        self.find(name)?.ok_or_else(|| format!("missing field `{name}`"))
    }

    /// The integer of a field.
    pub fn integer(&self, name: &str) -> JsonResult<i64> {
        self.get(name)?.integer()
    }

    /// As [`Object::integer`], of another type.
    #[cfg(feature = "format")]
    pub fn number<N: FromStr>(&self, name: &str) -> JsonResult<N> {
        let value = self.get(name)?;
        value.parsed().ok_or_else(|| value.wrong("an integer with fewer bits"))
    }

    /// The text of a field.
    pub fn text(&self, name: &str) -> JsonResult<String> {
        self.get(name)?.text()
    }
}

impl<'a> JsonValue<'a> {
    /// An integer, written as one: `7.0` and `-0` are none.
    pub(crate) fn integer(self) -> JsonResult<i64> {
        self.parsed().ok_or_else(|| self.wrong("an integer from -2^63 to 2^63-1"))
    }

    fn parsed<N: FromStr>(self) -> Option<N> {
        self.0.parse().ok().filter(|_| self.0 != "-0")
    }

    pub(crate) fn text(self) -> JsonResult<String> {
        self.parse('"', "text")
    }

    /// True or false.
    #[cfg(all(feature = "format", feature = "options", feature = "wire"))]
    pub(crate) fn flag(self) -> JsonResult<bool> {
        self.parsed().ok_or_else(|| self.wrong("true or false"))
    }

    #[cfg(all(feature = "format", feature = "options", feature = "wire"))]
    pub(crate) fn is_null(self) -> bool {
        self.0 == "null"
    }

    /// For messages. What holds others may hold a secret.
    #[cfg(all(feature = "format", feature = "options", feature = "wire"))]
    pub(crate) fn shown(self) -> &'a str {
        match self.0.as_bytes().first() {
            Some(b'{') => "an object",
            Some(b'[') => "a list",
            _ => self.0,
        }
    }

    pub(crate) fn list(self) -> JsonResult<Vec<JsonValue<'a>>> {
        let values: Vec<&RawValue> = self.parse('[', "a list")?;
        Ok(values.into_iter().map(|value| JsonValue(value.get())).collect())
    }

    #[cfg(feature = "format")]
    pub(crate) fn object(self) -> JsonResult<Object<'a>> {
        self.parse('{', "an object")
    }

    fn parse<T: Deserialize<'a>>(self, first: char, expected: &str) -> JsonResult<T> {
        if !self.0.starts_with(first) {
            return Err(self.wrong(expected));
        }
        // This error never contains the value, which may be a token.
        serde_json::from_slice(self.0.as_bytes()).map_err(|error| error.to_string())
    }

    /// Its type, what was expected, and the beginning of a number or a text.
    #[cold]
    fn wrong(self, expected: &str) -> String {
        let kind = match self.0.as_bytes().first() {
            Some(b'"') => "string",
            Some(b'-' | b'0'..=b'9') if self.0.contains(['.', 'e', 'E']) => "floating point",
            Some(b'-' | b'0'..=b'9') => "integer",
            Some(b'[') => return format!("invalid type: sequence, expected {expected}"),
            Some(b'{') => return format!("invalid type: map, expected {expected}"),
            _ => "constant",
        };
        let shown: String = self.0.chars().take(SHOWN).collect();
        let what = if kind == "integer" && expected.starts_with("an integer") { "value" } else { "type" };
        format!("invalid {what}: {kind} {shown}, expected {expected}")
    }
}

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> core::result::Result<Object<'de>, D::Error> {
        from.deserialize_map(ObjectVisitor)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = Object<'de>;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> core::result::Result<Object<'de>, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = from.next_entry()? {
            fields.push(field);
        }
        Ok(Object(fields))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn integer(text: &str) -> JsonResult<i64> {
        Object::parse(format!("{{\"n\":{text}}}").as_bytes())?.integer("n")
    }

    #[test]
    fn integers_are_written_as_integers() {
        for (text, number) in [("0", 0), ("-7", -7), (" 7 ", 7), ("9223372036854775807", i64::MAX)] {
            assert_eq!(integer(text), Ok(number));
        }
        for text in ["1.0", "1e3", "\"1\"", "[1]", "null", "true"] {
            assert!(integer(text).unwrap_err().starts_with("invalid type: "), "{text}");
        }
        for text in ["-0", "9223372036854775808", "-9223372036854775809"] {
            assert!(integer(text).unwrap_err().starts_with("invalid value: integer"), "{text}");
        }
        for text in ["+1", "01", "1_0", "", "1 1", "1}{"] {
            assert!(integer(text).is_err_and(|why| !why.starts_with("invalid type")), "{text}");
        }
    }

    #[test]
    fn a_field_that_comes_twice_is_refused_when_it_is_read() {
        let object = Object::parse(br#"{"a":1,"b":[2,{}],"\u0061":1,"c":null}"#).unwrap();
        assert_eq!(object.integer("a"), Err("duplicate field `a`".into()));
        assert_eq!(object.get("b").unwrap().list().unwrap().len(), 2);
        assert!(object.optional("c").unwrap().is_none() && object.find("c").unwrap().is_some());
        assert_eq!(object.text("d"), Err("missing field `d`".into()));
        assert!(object.check_names(&["a", "b", "c"]).unwrap_err().starts_with("duplicate"));
        assert!(object.check_names(&["a", "b"]).is_err());
    }

    #[test]
    fn texts_are_unescaped_and_must_be_unicode() {
        let text = |text: &str| Object::parse(format!("{{\"t\":\"{text}\"}}").as_bytes())?.text("t");
        assert_eq!(text("a\\u00e9\\n\\ud83d\\ude00"), Ok("aé\n😀".into()));
        for wrong in ["\\ud800", "\\x", "\n", "\\u00"] {
            assert!(text(wrong).is_err(), "{wrong}");
        }
        assert!(Object::parse(b"{\"t\":\"\xff\"}").is_err());
        assert!(Object::parse(b"[1]").is_err() && Object::parse(b"{} {}").is_err());
    }
}
