//! Names of sources and tags, as names of files and inside files.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;

/// The largest number of bytes that a text takes in a file name. Longer texts are shortened.
const LONGEST: usize = 120;
/// The length of a shortened text before its checksum.
const SHORTENED: usize = 100;

/// The largest number of bytes that a name takes as JSON inside a file. Any tag fits.
const LONGEST_INSIDE: usize = 2 + 2 * 128;

/// The form of a name inside a file: a name that is too long is shortened as for a file name.
pub(crate) fn inside(name: &str) -> String {
    let fits = serde_json::to_string(name).is_ok_and(|json| json.len() <= LONGEST_INSIDE);
    if fits { name.to_owned() } else { file_name(name) }
}

/// Converts a text to a safe part of a file name: letters, digits, `-` and `_` stay, every other byte becomes `%` and
/// hex.
///
/// A long text is shortened and gets a checksum. In rare cases two long texts get the same name, so a reader must
/// compare the text inside the file.
pub fn file_name(text: &str) -> String {
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

/// 64 bits in hex: FNV-1a, as its authors define it (draft-eastlake-fnv).
pub fn checksum(text: &str) -> String {
    let sum = text.bytes().fold(0xcbf2_9ce4_8422_2325, |sum: u64, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{sum:016x}")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;

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
