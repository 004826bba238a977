//! The URL of a server.

use crate::quoted::Quoted;
use crate::secrets::{scheme_of, shown_url};
use crate::{Error, Result};
use alloc::format;
use alloc::string::String;
use core::net::Ipv6Addr;

const ALLOWED: &str =
    "a URL such as https://ids.example.com:8443/leafid, whose port and path may be left out";

/// The URL without a slash at its end. `option` is the user's option with it.
///
/// Errors: `invalid_argument` for what is no `http://host:8080/prefix`.
pub fn server_url(option: &str, text: &str) -> Result<String> {
    let wrong =
        |why: &str| Err(Error::invalid(option, format!("{}, {why}", Quoted(&shown_url(text))), ALLOWED));
    if text.contains('@') {
        return wrong("which has a user or password");
    }
    if text.contains(['?', '#']) {
        return wrong("which has a query or a fragment");
    }
    let (scheme, rest) = scheme_of(text);
    if !rest.is_empty() && !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        return wrong("which begins with neither http nor https");
    }
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    if authority.is_empty() || !authority.bytes().all(is_of_authority) || !path.bytes().all(is_of_path) {
        return wrong("which is no URL");
    }
    let end =
        if authority.starts_with('[') { authority.find(']').map(|at| at + 1) } else { authority.find(':') };
    let (host, after) = authority.split_at(end.unwrap_or(authority.len()));
    if host.is_empty() {
        return wrong("which has no host");
    }
    let is_port = |port: &str| {
        let is_number = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        is_number && port.parse::<u16>().is_ok_and(|port| port > 0)
    };
    if !after.is_empty() && !after.strip_prefix(':').is_some_and(is_port) {
        return wrong("whose port is not from 1 to 65535");
    }
    let bracketed = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let is_address = bracketed.is_some_and(|address| address.parse::<Ipv6Addr>().is_ok());
    let is_name =
        |host: &str| host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
    if !is_address && !is_name(host) {
        return wrong("whose host is neither a name nor an address");
    }
    Ok(text.trim_end_matches('/').into())
}

/// RFC 3986, without the signs that begin a path, a query, a fragment or a host.
fn is_of_authority(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!$&'()*+,-.:;=[]_~".contains(&byte)
}

/// <https://url.spec.whatwg.org/#path-state>, and what clients send there as it is.
fn is_of_path(byte: u8) -> bool {
    byte >= 0x80 || byte.is_ascii_graphic() && !b"#<>?`".contains(&byte)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::server_url;
    use alloc::format;

    #[test]
    fn a_url_has_a_host_and_may_have_a_port_and_a_path() {
        for (text, taken) in [
            ("http://127.0.0.1:80", "http://127.0.0.1:80"),
            ("HTTP://[::1]:80/", "HTTP://[::1]:80"),
            ("https://LOCALHOST", "https://LOCALHOST"),
            ("http://127.1", "http://127.1"),
            ("https://ids_1.example.com/a/b%20c//", "https://ids_1.example.com/a/b%20c"),
            ("http://leaf:65535/\u{fc}|\"{}", "http://leaf:65535/\u{fc}|\"{}"),
        ] {
            assert_eq!(server_url("servers", text).unwrap(), taken);
        }
    }

    #[test]
    fn what_is_no_url_is_said() {
        for (text, why) in [
            ("", "which is no URL"),
            ("leaf-1:8080", "which begins with neither http nor https"),
            ("//leaf", "which begins with neither http nor https"),
            ("ftp://leaf", "which begins with neither http nor https"),
            ("httpx://leaf", "which begins with neither http nor https"),
            ("http://", "which is no URL"),
            ("http:///x", "which is no URL"),
            ("http://:80", "which has no host"),
            ("http://leaf:0", "whose port is not from 1 to 65535"),
            ("http://leaf:", "whose port is not from 1 to 65535"),
            ("http://leaf:65536", "whose port is not from 1 to 65535"),
            ("http://[::1]80", "whose port is not from 1 to 65535"),
            ("http://leaf?a=1", "which has a query or a fragment"),
            ("http://leaf/#a", "which has a query or a fragment"),
            ("http://le af", "which is no URL"),
            ("http://l\u{e9}af", "which is no URL"),
            ("http://le%61f", "which is no URL"),
            ("http://[leaf]", "whose host is neither a name nor an address"),
            ("http://le*af", "whose host is neither a name nor an address"),
            ("http://leaf/\n", "which is no URL"),
            ("http://leaf/a b", "which is no URL"),
            ("https://ann:secret@leaf", "which has a user or password"),
        ] {
            let error = server_url("servers", text).unwrap_err();
            assert!(error.message().contains(&format!(", {why}; allowed: a URL such as")), "{text}: {error}");
            assert!(
                error.message().starts_with("servers is ") && !error.message().contains("secret"),
                "{error}"
            );
        }
        // What is no port may be a password, and what follows it is not shown.
        for text in ["http://leaf:+80", "http://leaf:x", "http://leaf:1:2", "http://[::1"] {
            let error = server_url("servers", text).unwrap_err();
            assert!(error.message().starts_with("servers is \"http://"), "{error}");
        }
    }
}
