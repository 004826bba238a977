//! What messages show of values that may hold a secret: a URL with a password, a token, a key.

#[cfg(feature = "options")]
use alloc::borrow::ToOwned;
#[cfg(feature = "options")]
use alloc::format;
use alloc::string::String;
#[cfg(feature = "options")]
use alloc::vec::Vec;

/// Stands for what is not shown.
const HIDDEN: &str = "…";

/// A token of leafid-server has `leafid_`, and more digits than these.
#[cfg(feature = "options")]
const TOKEN_DIGITS: usize = 32;

/// How a password is written in a URL, for the advice of errors.
#[cfg(feature = "options")]
pub const ENCODED: &str = "in a user or password write / as %2F, ? as %3F, # as %23, @ as %40 and % as %25";

/// A text that may be a URL, for messages: without what stands between its scheme and its last `@`, and without its
/// query. A text without a scheme loses all before its last `@`, or all behind its first `=`.
///
/// It is certain, not clever: passwords with a raw `/`, `?`, `#` or `@` make no right URL, and are as secret as others.
pub fn shown_url(text: &str) -> String {
    let (scheme, rest) = split(text, end_of_scheme(text));
    if let Some(end) = end_of_user(rest) {
        // `host/?password=a@b` looks as `user:pa?ss@host` does, and behind its @ is a secret.
        let (user, host) = split(rest, end);
        let host = if first_of(user, b"?#").is_some() { "" } else { host.trim_ascii_end() };
        let at = if host.is_empty() { "" } else { "@" };
        return shown(&[scheme, HIDDEN, at], host);
    }
    let (name, _) = split(rest, first_of(rest, b"=").map_or(0, |at| at + 1));
    if !scheme.ends_with("://") && !name.is_empty() {
        return shown(&[scheme, name, HIDDEN], "");
    }
    match unfinished_user(rest).filter(|_| scheme.ends_with("://")) {
        Some(end) => shown(&[scheme, split(rest, end).0, HIDDEN], ""),
        None => shown(&[scheme], rest),
    }
}

/// These, and a text without its query. One that is hidden already stays, with the quote behind it.
fn shown(parts: &[&str], text: &str) -> String {
    let end = first_of(text, b"?#").map(|at| at + 1).filter(|&end| !split(text, end).1.starts_with(HIDDEN));
    let (text, hidden) = end.map_or((text, ""), |end| (split(text, end).0, HIDDEN));
    let mut all = parts.concat();
    all.push_str(text);
    all.push_str(hidden);
    all
}

/// Whether an `@` comes after the first `/`, `?` or `#`: a password that is not encoded, perhaps. A driver would take a
/// part of it for a host or a path, and name it in its errors.
#[cfg(feature = "options")]
pub fn has_raw_password(url: &str) -> bool {
    let (_, rest) = scheme_of(url);
    first_of(rest, b"/?#").is_some_and(|end| rest.rfind('@').is_some_and(|at| end < at))
}

/// Several texts as [`shown_url`] shows them.
#[cfg(feature = "options")]
pub fn shown_urls<'u>(urls: impl IntoIterator<Item = &'u String>) -> String {
    let shown: Vec<_> = urls.into_iter().map(|url| shown_url(url)).collect();
    shown.join(", ")
}

/// A text that may be a path, for messages: not the content of a file that somebody gave in place of its path, nor a token
/// of leafid-server, nor the password of a URL.
#[cfg(feature = "options")]
pub fn shown_path(text: &str) -> String {
    let is_token = text
        .strip_prefix("leafid_")
        .is_some_and(|rest| rest.len() >= TOKEN_DIGITS && rest.bytes().all(|byte| byte.is_ascii_hexdigit()));
    match is_token || text.contains(['\n', '\r']) || has(text, "-----BEGIN") {
        true => format!("a text of {} bytes that is no path", text.len()),
        false if has(text, "://") => shown_url(text),
        false => text.to_owned(),
    }
}

/// The end of `mysql://`, with the quotes or brackets before it. Without a scheme only these are before the end.
fn end_of_scheme(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_around = |b: &u8| b.is_ascii_whitespace() || b"\"'`[({<".contains(b);
    let begin = bytes.iter().position(|b| !is_around(b)).unwrap_or(bytes.len());
    let is_of_scheme = |b: &u8| b.is_ascii_alphanumeric() || b"+-.".contains(b);
    let end = begin + bytes.iter().skip(begin).take_while(|b| is_of_scheme(b)).count();
    let is_scheme = bytes.get(begin).is_some_and(u8::is_ascii_alphabetic);
    let has_mark = bytes.get(end..).is_some_and(|rest| rest.starts_with(b"://"));
    if is_scheme && has_mark { end + 3 } else { begin }
}

/// Where what follows the last `@` begins, also if the `@` is encoded.
fn end_of_user(text: &str) -> Option<usize> {
    let encoded = text.as_bytes().windows(3).rposition(|found| found == b"%40").map(|at| at + 3);
    text.as_bytes().iter().rposition(|&b| b == b'@').map(|at| at + 1).max(encoded)
}

/// The end of the colon before what is no port (or hidden already): a password whose `@` and host are missing.
fn unfinished_user(rest: &str) -> Option<usize> {
    let mut begin = 0;
    loop {
        let (_, all) = split(rest, begin);
        let (authority, after) = split(all, first_of(all, b"/?#").unwrap_or(all.len()));
        for host in authority.as_bytes().split(|&b| b == b',') {
            let bracket = match host.first() {
                Some(b'[') => host.iter().position(|&b| b == b']').map_or(0, |at| at + 1),
                _ => 0,
            };
            let colon = host.iter().skip(bracket).position(|&b| b == b':').map(|at| bracket + at + 1);
            if let Some(port) = colon.and_then(|colon| host.get(colon..)) {
                let digits = port.iter().take_while(|b| b.is_ascii_digit()).count();
                let is_port = port.iter().skip(digits).all(|b| b"'\"]) ".contains(b));
                if !is_port && port != HIDDEN.as_bytes() {
                    return colon.map(|colon| begin + colon);
                }
            }
            begin += host.len() + 1;
        }
        // Another URL follows, of a list or by mistake.
        begin += 1;
        after.strip_prefix("//")?;
    }
}

/// What is before `://`, and what is behind it.
#[cfg(feature = "options")]
pub(crate) fn scheme_of(url: &str) -> (&str, &str) {
    match url.as_bytes().windows(3).position(|found| found == b"://") {
        Some(end) => (split(url, end).0, split(url, end + 3).1),
        None => ("", url),
    }
}

/// Whether the sign is in the text.
pub(crate) fn has(text: &str, sign: &str) -> bool {
    text.as_bytes().windows(sign.len()).any(|found| found == sign.as_bytes())
}

fn first_of(text: &str, wanted: &[u8]) -> Option<usize> {
    text.as_bytes().iter().position(|b| wanted.contains(b))
}

/// At a place before or behind an ASCII character. The searches are for bytes: those for characters and patterns would be
/// a tenth of the WebAssembly module.
fn split(text: &str, at: usize) -> (&str, &str) {
    text.split_at_checked(at).unwrap_or((text, ""))
}

#[cfg(all(test, feature = "options"))]
mod tests {
    use super::{shown_path, shown_url};

    #[test]
    fn what_stands_before_the_last_at_is_not_shown() {
        for (text, shown) in [
            ("mysql://leaf:s3cret@db:3306/leaf", "mysql://…@db:3306/leaf"),
            ("mysql://leaf:s3/cret@db/leaf", "mysql://…@db/leaf"),
            ("postgres://leaf:s3@cret@db/leaf?password=s3cret", "postgres://…@db/leaf?…"),
            ("mysql://leaf:12/s3cret@db/leaf", "mysql://…@db/leaf"),
            ("https://s3cret@ids", "https://…@ids"),
            ("https://:s3cret@[::1]:8443/x", "https://…@[::1]:8443/x"),
            ("HTTPS://u:s3cret@ids", "HTTPS://…@ids"),
            (" http://u:s3cret@ids\n", " http://…@ids"),
            ("leaf:s3cret@db:3306/leaf", "…@db:3306/leaf"),
            ("mysql:/leaf:s3cret@db", "…@db"),
            ("jdbc:mysql://leaf:s3cret@db", "…@db"),
            ("s3cret://leaf@db/x://y", "s3cret://…@db/x://y"),
            ("u:s3cret://s3cret@db", "…@db"),
            ("['http://u:s3cret@a', 'http://u:s3cret@b']", "['http://…@b']"),
            // An @ that is encoded, or in what looks as a query.
            ("mysql://leaf:s3cret%40db/leaf", "mysql://…@db/leaf"),
            ("mysql://leaf:s3?cret@db/leaf", "mysql://…"),
            ("mysql://leaf:s3#cret@db/leaf", "mysql://…"),
            ("postgres://db/leaf?password=a@s3cret", "postgres://…"),
            ("postgres://db/leaf?password=s3cret", "postgres://db/leaf?…"),
            // The host is missing.
            ("mysql://leaf:s3cret", "mysql://leaf:…"),
            ("mysql://leaf:s3/cret", "mysql://leaf:…"),
            ("['mysql://leaf:s3cret']", "['mysql://leaf:…"),
            ("http://http://leaf:s3cret", "http://http://leaf:…"),
            ("etcd://a:1,leaf:s3cret", "etcd://a:1,leaf:…"),
            // No URLs at all.
            ("host=db password=s3cret", "host=…"),
            ("s3cret@", "…"),
            ("\"s3cret@x\", which is no URL", "\"…@x\", which is no URL"),
            ("\"http://b?…\"", "\"http://b?…\""),
        ] {
            assert_eq!((shown_url(text).as_str(), shown_url(shown).as_str()), (shown, shown));
            assert!(!shown_url(text).contains("s3cret") || text.starts_with("s3cret://"), "{text}");
        }
    }

    #[test]
    fn what_holds_no_secret_is_shown_as_it_is() {
        for text in [
            "",
            "7",
            "0-31",
            "hostname:orders*8",
            "http://leaf-1:8080",
            "https://[::1]:80/a/b",
            "etcd://a:1,b:2/x",
            "ids.db",
            "sqlite:/var/lib/ids.db",
            "/a b/ü",
            "http://a,http://b:80",
        ] {
            assert_eq!(shown_url(text), text);
        }
    }

    #[test]
    fn a_file_s_content_is_no_path() {
        for path in ["/etc/key.pem", "leafid_tokens.toml", "/run/leafid_0123", "/etc/key@host.pem"] {
            assert_eq!(shown_path(path), path);
        }
        let token = alloc::format!("leafid_{}", "5ec2e7".repeat(11));
        for content in ["s3cret\n", "-----BEGIN PRIVATE KEY----- s3cret", "http://u:s3cret@ids", &token] {
            assert!(!shown_path(content).contains("s3cret") && !shown_path(content).contains("5ec2e7"));
        }
    }
}
