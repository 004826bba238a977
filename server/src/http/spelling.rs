//! How a Leaf reads a path: the rules of its Tomcat and of Spring. Only a path that no route has, or a name that no row
//! has, is looked at.

use percent_encoding::percent_decode_str;

/// What Spring serves with any ending, such as `/cache.html`. The ending of a tag is not cut here: see `dots`.
const PAGES: [&str; 3] = ["/cache", "/db", "/decodeSnowflakeId"];

/// The path without `//`, `/./`, `/../`, `;jsessionid=…`, a slash at its end, and letters that are encoded without need.
/// `None`: it leads above the root.
pub(super) fn plain(path: &str) -> Option<String> {
    let (path, mut parts) = (decoded_letters(path), Vec::new());
    for part in path.split('/') {
        match part.split(';').next().unwrap_or_default() {
            "" | "." => {}
            ".." => _ = parts.pop()?,
            part => parts.push(part),
        }
    }
    let plain = format!("/{}", parts.join("/"));
    let has_ending = |page: &&str| plain.strip_prefix(*page).is_some_and(|rest| rest.starts_with('.'));
    let page = PAGES.into_iter().find(has_ending);
    Some(page.map_or(plain, ToOwned::to_owned))
}

/// The last part of a path as a Leaf reads it: what is no UTF-8 becomes another character.
pub(super) fn name(path: &str) -> String {
    let plain = plain(path).unwrap_or_default();
    percent_decode_str(plain.rsplit('/').next().unwrap_or_default()).decode_utf8_lossy().into_owned()
}

/// Whether Tomcat answers a path with 400: a `%` without two digits, or an encoded slash, backslash or zero.
pub(super) fn is_malformed(path: &str) -> bool {
    let is_wrong = |part: &str| match part.get(..2) {
        Some(digits) if digits.bytes().all(|digit| digit.is_ascii_hexdigit()) => {
            ["2f", "5c", "00"].iter().any(|refused| digits.eq_ignore_ascii_case(refused))
        }
        _ => true,
    };
    path.split('%').skip(1).any(is_wrong)
}

/// Decodes what RFC 3986 calls unreserved: encoded or not, it is the same.
fn decoded_letters(path: &str) -> String {
    let mut parts = path.split('%');
    let mut decoded = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let byte = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte.map(char::from).filter(|letter| letter.is_ascii_alphanumeric() || "-._~".contains(*letter))
        {
            Some(letter) => {
                decoded.push(letter);
                decoded += &part[2..];
            }
            None => {
                decoded.push('%');
                decoded += part;
            }
        }
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_read_as_tomcat_and_spring_read_it() {
        for (path, read) in [
            ("/api/segment/get/order", "/api/segment/get/order"),
            ("//api///segment/get/order", "/api/segment/get/order"),
            ("/api/segment/get/order/", "/api/segment/get/order"),
            ("/api/./segment/x/../get/order", "/api/segment/get/order"),
            ("/api;v=1/segment/get/order;jsessionid=1F", "/api/segment/get/order"),
            ("/%61pi/segment/%67et/%6Frder", "/api/segment/get/order"),
            ("/%2E/api/%2e%2E/cache", "/cache"),
            ("/cache.html", "/cache"),
            ("/db.x.json/", "/db"),
            ("/api/segment/get/shop.order", "/api/segment/get/shop.order"),
            ("/a%20b%2Fc%3B%", "/a%20b%2Fc%3B%"),
            ("/%é/%+5/%4", "/%é/%+5/%4"),
            ("/", "/"),
            ("", "/"),
        ] {
            assert_eq!(plain(path).as_deref(), Some(read), "{path}");
        }
        assert_eq!(plain("/../api"), None);
    }

    #[test]
    fn a_name_is_decoded_and_what_is_no_utf_8_is_another_character() {
        for (path, read) in [
            ("/get/a%3Bb;c", "a;b"),
            ("/get/%E8%AE%A2;v=1/", "订"),
            ("/get/a+b%20c", "a+b c"),
            ("/get/%C3%28", "\u{fffd}("),
            ("/..", ""),
        ] {
            assert_eq!(name(path), read, "{path}");
        }
    }

    #[test]
    fn what_tomcat_refuses_is_known() {
        for path in ["/%2Fa", "/a%5c", "/%00", "/%zz", "/a%", "/%4", "/%é"] {
            assert!(is_malformed(path), "{path}");
        }
        for path in ["/a%20b", "/%25%32%46", "/order"] {
            assert!(!is_malformed(path), "{path}");
        }
    }
}
