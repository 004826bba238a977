//! Tags, and names of files after them.

use leafid_core::{Error, Result};

/// Bytes of a file's name that a text may take; more are shortened.
const LONGEST: usize = 120;
/// What is left of a shortened one, before its checksum.
const SHORTENED: usize = 100;

/// Bytes of JSON that a name takes inside a file: any tag fits.
const LONGEST_INSIDE: usize = 2 + 2 * 128;

/// Errors: `invalid_argument` for what is no tag.
pub(crate) fn check_tag(tag: &str) -> Result<()> {
    match (1..=128).contains(&tag.len()) && !tag.chars().any(char::is_control) {
        true => Ok(()),
        false => {
            let allowed = "1 to 128 bytes of UTF-8 without control characters";
            Err(Error::invalid("tag", format!("{tag:?}"), allowed))
        }
    }
}

/// A name as it stands inside a file: one that is too long as that file would be called.
pub(crate) fn inside(name: &str) -> String {
    let fits = serde_json::to_string(name).is_ok_and(|json| json.len() <= LONGEST_INSIDE);
    if fits { name.to_owned() } else { file_name(name) }
}

/// A name for this text, safe as a part of a file's: letters, digits, `-` and `_` stay, every other byte is written in
/// hex after a `%`. Of long ones the beginning, and a checksum: two of them may be alike, if hardly ever, so whoever
/// opens the file compares the text that stands in it.
pub(crate) fn file_name(text: &str) -> String {
    let mut name = String::new();
    let mut end = 0;
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => name.push(char::from(byte)),
            _ => name.push_str(&format!("%{byte:02x}")),
        }
        if name.len() <= SHORTENED {
            end = name.len();
        }
    }
    if name.len() > LONGEST {
        name.truncate(end);
        name.push_str(&format!("~{}", checksum(text)));
    }
    name
}

/// 64 bits in hex: FNV-1a, as its authors' page gives it (draft-eastlake-fnv).
pub(crate) fn checksum(text: &str) -> String {
    let sum = text.bytes().fold(0xcbf2_9ce4_8422_2325, |sum: u64, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{sum:016x}")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_tag_has_a_name_of_its_own_that_is_one_file() {
        let long = "é".repeat(64);
        let other = format!("{}ü", "é".repeat(63));
        let tags = [
            "order", "Order", ".", "..", "a/b", "a%2fb", "a~b", "/", " ", "%", "~", "日本", "\u{7f}", &long,
            &other,
        ];
        let names: BTreeSet<String> = tags.iter().map(|tag| file_name(tag)).collect();
        assert_eq!(names.len(), tags.len(), "{names:?}");
        for name in names {
            assert!(name.len() <= LONGEST && !name.starts_with('.'), "{name}");
            assert!(
                name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"%~-_".contains(&byte)),
                "{name}"
            );
        }
        assert_eq!(file_name("order-2_a"), "order-2_a");
        assert_eq!(file_name("a/b"), "a%2fb");
    }

    #[test]
    fn what_is_too_long_by_one_byte_is_shortened() {
        let longest = "a".repeat(LONGEST);
        assert_eq!(file_name(&longest), longest);
        let name = file_name(&format!("{longest}a"));
        assert_eq!(name, format!("{}~{}", &longest[..SHORTENED], checksum(&format!("{longest}a"))));
    }

    #[test]
    fn the_checksum_is_the_published_one() {
        for (text, sum) in
            [("", "cbf29ce484222325"), ("a", "af63dc4c8601ec8c"), ("foobar", "85944171f73967e8")]
        {
            assert_eq!(checksum(text), sum);
        }
    }
}
