//! What messages show of values that may hold a secret: a URL with a password, a token, a key.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
#[cfg(feature = "options")]
use alloc::vec::Vec;

/// Stands for what is not shown.
const HIDDEN: char = '…';

/// How a password is written in a URL, for the advice of errors.
#[cfg(feature = "options")]
pub const ENCODED: &str = "in a user or password write / as %2F, ? as %3F, # as %23, @ as %40 and % as %25";

/// A text that may be a URL, for messages: without what stands between its scheme and its last `@`, and without its
/// query. A text without a scheme loses all before its last `@`, or all behind its first `=`.
///
/// It is certain, not clever: passwords with a raw `/`, `?`, `#` or `@` make no right URL, and are as secret as others.
pub fn shown_url(text: &str) -> String {
    let (scheme, rest) = split_scheme(text);
    if let Some(end) = end_of_user(rest) {
        // `host/?password=a@b` looks as `user:pa?ss@host` does, and behind its @ is a secret.
        let host = if rest[..end].contains(['?', '#']) { "" } else { rest[end..].trim_end() };
        let at = if host.is_empty() { "" } else { "@" };
        return format!("{scheme}{HIDDEN}{at}{}", without_query(host));
    }
    if !scheme.ends_with("://") {
        return match rest.split_once('=') {
            Some((name, _)) => format!("{scheme}{name}={HIDDEN}"),
            None => format!("{scheme}{}", without_query(rest)),
        };
    }
    match unfinished_user(rest) {
        Some(colon) => format!("{scheme}{}{HIDDEN}", &rest[..=colon]),
        None => format!("{scheme}{}", without_query(rest)),
    }
}

/// Whether an `@` comes after the first `/`, `?` or `#`: a password that is not encoded, perhaps. A driver would take a
/// part of it for a host or a path, and name it in its errors.
#[cfg(feature = "options")]
pub fn has_raw_password(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let end = rest.find(['/', '?', '#']);
    end.is_some_and(|end| rest.rfind('@').is_some_and(|at| end < at))
}

/// Several texts as [`shown_url`] shows them.
#[cfg(feature = "options")]
pub fn shown_urls<'u>(urls: impl IntoIterator<Item = &'u String>) -> String {
    let shown: Vec<_> = urls.into_iter().map(|url| shown_url(url)).collect();
    shown.join(", ")
}

/// A text that may be a path, for messages: not the content of a file that somebody gave in place of its path.
#[cfg(feature = "options")]
pub fn shown_path(text: &str) -> String {
    match text.contains(['\n', '\r']) || text.contains("-----BEGIN") {
        true => format!("a text of {} bytes that is no path", text.len()),
        false => text.to_owned(),
    }
}

/// `mysql://`, with the quotes or brackets before it, and what follows. Without a scheme only these are before it.
fn split_scheme(text: &str) -> (&str, &str) {
    let is_of_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let is_around = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '[' | '(' | '{' | '<');
    let begin = text.len() - text.trim_start_matches(is_around).len();
    let end = text.find("://").filter(|&end| {
        let scheme = text.get(begin..end).unwrap_or_default();
        scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(is_of_scheme)
    });
    text.split_at(end.map_or(begin, |end| end + "://".len()))
}

/// Where what follows the last `@` begins, also if the `@` is encoded.
fn end_of_user(text: &str) -> Option<usize> {
    let encoded = text.rfind("%40").map(|at| at + "%40".len());
    text.rfind('@').map(|at| at + 1).max(encoded)
}

/// The colon before what is no port (or hidden already): a password whose `@` and host are missing.
fn unfinished_user(rest: &str) -> Option<usize> {
    let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    let mut from = 0;
    for host in authority.split(',') {
        let address = if host.starts_with('[') { host.find(']') } else { None };
        let bracket = address.map_or(0, |at| at + 1);
        if let Some(colon) = host[bracket..].find(':').map(|at| bracket + at) {
            let port = host[colon + 1..].trim_end_matches(['\'', '"', ']', ')', ' ']);
            if port != "…" && !port.bytes().all(|b| b.is_ascii_digit()) {
                return Some(from + colon);
            }
        }
        from += host.len() + 1;
    }
    // Another URL follows, of a list or by mistake.
    let next = authority.len() + "//".len();
    rest[authority.len()..].strip_prefix("//").and_then(unfinished_user).map(|colon| next + colon)
}

fn without_query(text: &str) -> String {
    match text.find(['?', '#']) {
        Some(at) if text[at + 1..].starts_with(HIDDEN) => text.to_owned(),
        Some(at) => format!("{}{HIDDEN}", &text[..=at]),
        None => text.to_owned(),
    }
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
        assert_eq!(shown_path("/etc/key.pem"), "/etc/key.pem");
        for content in ["s3cret\n", "-----BEGIN PRIVATE KEY----- s3cret"] {
            assert!(!shown_path(content).contains("s3cret"));
        }
    }
}
