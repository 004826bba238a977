//! Objects in JSON, read field by field.
//!
//! All objects have this one reader. Derived readers, one for each struct, are most of a small program's size.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::str::FromStr;

/// The number of characters of a wrong value that messages show.
const SHOWN: usize = 100;
/// The largest number of lists and objects within each other.
const DEEPEST: usize = 128;

/// What was wrong: it completes the sentence "it is not as expected: …".
pub type JsonResult<T> = core::result::Result<T, String>;

/// The fields of an object. Their values are checked to be JSON, and not parsed yet.
pub struct Object<'a>(Vec<(String, JsonValue<'a>)>);

/// The text of a value.
#[derive(Clone, Copy)]
pub(crate) struct JsonValue<'a>(&'a str);

impl<'a> Object<'a> {
    /// Parses a text that is one object.
    pub(crate) fn parse(text: &'a [u8]) -> JsonResult<Object<'a>> {
        let text = core::str::from_utf8(text).map_err(|_| "invalid unicode code point")?;
        Reader::whole(text, b'{').map(Object)
    }

    /// The names and the values.
    #[cfg(all(feature = "format", feature = "options", feature = "wire"))]
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&str, JsonValue<'a>)> {
        self.0.iter().map(|(name, value)| (&name[..], *value))
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
        let first = found.next().map(|field| field.1);
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
        let quoted = self.0.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        unescaped(quoted.ok_or_else(|| self.wrong("text"))?)
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
        let values = self.members(b'[', "a list")?;
        Ok(values.into_iter().map(|(_, value)| value).collect())
    }

    #[cfg(feature = "format")]
    pub(crate) fn object(self) -> JsonResult<Object<'a>> {
        self.members(b'{', "an object").map(Object)
    }

    fn members(self, open: u8, expected: &str) -> JsonResult<Vec<(String, JsonValue<'a>)>> {
        match self.0.as_bytes().first() {
            Some(first) if *first == open => Reader::whole(self.0, open),
            _ => Err(self.wrong(expected)),
        }
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

/// A text in JSON (RFC 8259), and how far it is read. Its errors never contain a value, which may be a token.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// The number of lists and objects that are open.
    depth: usize,
}

impl<'a> Reader<'a> {
    /// The members of the list or object that a text is. In a list they have no names.
    fn whole(text: &'a str, open: u8) -> JsonResult<Vec<(String, JsonValue<'a>)>> {
        let mut reader = Reader { text, at: 0, depth: 0 };
        let members = reader.members(open)?;
        if reader.next().is_some() { Err(reader.wrong("trailing characters")) } else { Ok(members) }
    }

    /// The byte after white space, which is not passed.
    fn next(&mut self) -> Option<u8> {
        let mut rest = self.text.as_bytes()[self.at..].iter();
        self.at += rest.by_ref().take_while(|byte| b" \n\t\r".contains(byte)).count();
        self.text.as_bytes().get(self.at).copied()
    }

    /// Passes this byte, after white space.
    fn pass(&mut self, byte: u8) -> JsonResult<()> {
        if self.next() != Some(byte) {
            return Err(self.wrong(&format!("expected `{}`", char::from(byte))));
        }
        self.at += 1;
        Ok(())
    }

    fn members(&mut self, open: u8) -> JsonResult<Vec<(String, JsonValue<'a>)>> {
        let (is_object, mut members) = (open == b'{', Vec::new());
        let close = if is_object { b'}' } else { b']' };
        self.pass(open)?;
        while self.next() != Some(close) {
            if !members.is_empty() {
                self.pass(b',')?;
            }
            let name = if is_object { unescaped(self.quoted()?)? } else { String::new() };
            if is_object {
                self.pass(b':')?;
            }
            members.push((name, self.value()?));
        }
        self.at += 1;
        Ok(members)
    }

    fn value(&mut self) -> JsonResult<JsonValue<'a>> {
        let (first, from) = (self.next(), self.at);
        match first {
            Some(open @ (b'{' | b'[')) if self.depth < DEEPEST => {
                self.depth += 1;
                self.members(open)?;
                self.depth -= 1;
            }
            Some(b'"') => _ = self.quoted()?,
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => {
                let rest = &self.text[from..];
                let word = ["null", "true", "false"].into_iter().find(|word| rest.starts_with(word));
                self.at += word.ok_or_else(|| self.wrong("expected value"))?.len();
            }
        }
        Ok(JsonValue(&self.text[from..self.at]))
    }

    /// A text as it is written, without its quotes.
    fn quoted(&mut self) -> JsonResult<&'a str> {
        self.pass(b'"')?;
        let from = self.at;
        loop {
            let rest = &self.text.as_bytes()[self.at..];
            self.at += match rest {
                [b'"', ..] => break,
                [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 2,
                [b'\\', b'u', digits @ ..] if hex(digits).is_some() => 6,
                [byte, ..] if *byte >= b' ' && *byte != b'\\' => 1,
                [] => return Err(self.wrong("EOF while parsing a string")),
                _ => return Err(self.wrong("invalid escape or control character")),
            };
        }
        self.at += 1;
        Ok(&self.text[from..self.at - 1])
    }

    fn number(&mut self) -> JsonResult<()> {
        let bytes = self.text.as_bytes();
        let has = |at: usize, signs: &[u8]| bytes.get(at).is_some_and(|byte| signs.contains(byte));
        let end_of =
            |from: usize| from + bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let first = self.at + usize::from(has(self.at, b"-"));
        let mut end = end_of(first);
        let mut is_right = end > first && !(has(first, b"0") && end > first + 1);
        if has(end, b".") {
            let from = end + 1;
            end = end_of(from);
            is_right &= end > from;
        }
        if has(end, b"eE") {
            let from = end + 1 + usize::from(has(end + 1, b"+-"));
            end = end_of(from);
            is_right &= end > from;
        }
        self.at = end;
        if is_right { Ok(()) } else { Err(self.wrong("invalid number")) }
    }

    #[cold]
    fn wrong(&self, what: &str) -> String {
        let before = &self.text.as_bytes()[..self.at];
        let line = before.rsplit(|byte| *byte == b'\n').next().map_or(0, <[u8]>::len);
        let lines = before.iter().filter(|byte| **byte == b'\n').count();
        format!("{what} at line {} column {}", lines + 1, line + 1)
    }
}

/// The number of four hex digits.
fn hex(digits: &[u8]) -> Option<u32> {
    let digit = |sum: u32, byte: &u8| Some(sum * 16 + char::from(*byte).to_digit(16)?);
    digits.get(..4)?.iter().try_fold(0, digit)
}

/// A text between quotes that a [`Reader`] has passed, with its escapes replaced.
fn unescaped(mut quoted: &str) -> JsonResult<String> {
    let mut text = String::new();
    while let Some(at) = quoted.bytes().position(|byte| byte == b'\\') {
        text.push_str(&quoted[..at]);
        let escape = &quoted.as_bytes()[at + 1..];
        let mut length = 2;
        text.push(match escape {
            [b'u', digits @ ..] => {
                length = 6;
                let mut number = hex(digits).unwrap_or(0);
                if let (0xd800..0xdc00, [_, _, _, _, b'\\', b'u', low @ ..]) = (number, digits)
                    && let Some(low @ 0xdc00..0xe000) = hex(low)
                {
                    length = 12;
                    number = 0x1_0000 + ((number - 0xd800) << 10) + (low - 0xdc00);
                }
                char::from_u32(number).ok_or("lone surrogate in a hex escape")?
            }
            [b'b', ..] => '\u{8}',
            [b'f', ..] => '\u{c}',
            [b'n', ..] => '\n',
            [b'r', ..] => '\r',
            [b't', ..] => '\t',
            _ => char::from(escape[0]),
        });
        quoted = &quoted[at + length..];
    }
    text.push_str(quoted);
    Ok(text)
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

    #[test]
    fn it_takes_what_serde_json_takes() {
        let whole =
            r#"{"a":[1,-0.5e+7,"\\\"\u00e9\ud83d\ude00"], "b" :{"c":null,"d":[[],{}]},"e":"é","f":true}"#;
        let pieces = b"{}[]:,\"\\u0e1.-+ntrd8c\n \x01\xc3";
        let mut random = 7u64;
        let (mut taken, mut refused) = (0, 0);
        for _ in 0..40_000 {
            let mut next = |below: usize| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (random >> 33) as usize % below
            };
            let mut text = whole.as_bytes().to_vec();
            for _ in 0..1 + next(2) {
                let (at, piece) = (next(text.len()), pieces[next(pieces.len())]);
                match next(3) {
                    0 => text[at] = piece,
                    1 => text.insert(at, piece),
                    _ => drop(text.remove(at)),
                }
            }
            let raw: core::result::Result<
                alloc::collections::BTreeMap<String, &serde_json::value::RawValue>,
                _,
            > = serde_json::from_slice(&text);
            let object = Object::parse(&text);
            assert_eq!(object.is_ok(), raw.is_ok(), "{}: {:?}", String::from_utf8_lossy(&text), raw.err());
            let (Ok(object), Ok(raw)) = (object, raw) else {
                refused += 1;
                continue;
            };
            taken += 1;
            for (name, value) in &object.0 {
                assert!(object.find(name).is_err() || value.0 == raw[name].get());
                let text: core::result::Result<String, _> = serde_json::from_str(value.0);
                assert_eq!(value.text().ok(), text.ok(), "{}", value.0);
                let list: core::result::Result<Vec<&serde_json::value::RawValue>, _> =
                    serde_json::from_str(value.0);
                let list = list.map(|list| list.into_iter().map(|value| value.get()).collect::<Vec<_>>());
                assert_eq!(
                    value.list().map(|list| list.iter().map(|value| value.0).collect()).ok(),
                    list.ok()
                );
            }
        }
        assert!(taken > 2_000 && refused > 2_000, "{taken} {refused}");
    }

    #[test]
    fn lists_within_lists_have_a_bound() {
        let deep = |depth| format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        assert!(Object::parse(deep(DEEPEST).as_bytes()).is_ok());
        assert!(Object::parse(deep(DEEPEST + 1).as_bytes()).is_err());
    }
}
