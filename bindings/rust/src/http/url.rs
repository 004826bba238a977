//! The URL of a server.

use leafid_core::options::shown_url;
use leafid_core::{Error, Result};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use ureq::http::Uri;

/// `http://host:8080/prefix`, without a slash at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerUrl {
    text: String,
    host: String,
    port: u16,
    is_tls: bool,
}

const ALLOWED: &str =
    "a URL such as https://ids.example.com:8443/leafid, whose port and path may be left out";

impl ServerUrl {
    /// `option` is the user's option with the URL. Errors: `invalid_argument`.
    pub(crate) fn parse(option: &str, text: &str) -> Result<ServerUrl> {
        let wrong = |why: &str| Error::invalid(option, format!("{:?}, {why}", shown_url(text)), ALLOWED);
        if text.contains('@') {
            return Err(wrong("which has a user or password"));
        }
        if text.contains(['?', '#']) {
            return Err(wrong("which has a query or a fragment"));
        }
        let uri: Uri = text.parse().map_err(|_| wrong("which is no URL"))?;
        let is_tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(wrong("which begins with neither http nor https")),
        };
        let host = uri.host().filter(|host| !host.is_empty()).ok_or_else(|| wrong("which has no host"))?;
        let after = uri.authority().and_then(|all| all.as_str().strip_prefix(host)).unwrap_or_default();
        if !after.is_empty() && uri.port_u16().is_none_or(|port| port == 0) {
            return Err(wrong("whose port is not from 1 to 65535"));
        }
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let is_address = host.starts_with('[') && bare.parse::<Ipv6Addr>().is_ok();
        let is_name = |host: &str| {
            host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'))
        };
        if !is_address && !is_name(host) {
            return Err(wrong("whose host is neither a name nor an address"));
        }
        let port = uri.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
        Ok(ServerUrl {
            text: text.trim_end_matches('/').into(),
            host: bare.to_ascii_lowercase(),
            port,
            is_tls,
        })
    }

    /// The URL of a path below this one.
    pub(crate) fn join(&self, path: &str) -> String {
        format!("{}{path}", self.text)
    }

    /// `http://host:8080`, and what follows.
    pub(crate) fn split_at_path(&self) -> (&str, &str) {
        let host = self.text.find("://").map_or(0, |scheme| scheme + 3);
        let path = self.text[host..].find('/').map_or(self.text.len(), |path| host + path);
        self.text.split_at(path)
    }

    /// The host in small letters, without brackets.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn is_tls(&self) -> bool {
        self.is_tls
    }

    /// Whether it is on this machine.
    pub(crate) fn is_loopback(&self) -> bool {
        match self.host.parse::<IpAddr>() {
            Ok(address) => address.is_loopback(),
            // inet_aton(3) reads 127.1 as 127.0.0.1.
            Err(_) => {
                let name = self.host.trim_end_matches('.');
                name == "localhost" || name.ends_with(".localhost") || is_short_loopback(name)
            }
        }
    }
}

fn is_short_loopback(name: &str) -> bool {
    let padded =
        |rest: &str| format!("127.{}{rest}", "0.".repeat(2usize.saturating_sub(rest.matches('.').count())));
    name.strip_prefix("127.").is_some_and(|rest| padded(rest).parse::<Ipv4Addr>().is_ok())
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken() {
        for (text, joined, is_loopback) in [
            ("http://127.0.0.1:80", "http://127.0.0.1:80/x", true),
            ("http://[::1]:80/", "http://[::1]:80/x", true),
            ("https://LOCALHOST", "https://LOCALHOST/x", true),
            ("http://a.localhost.", "http://a.localhost./x", true),
            ("http://127.1", "http://127.1/x", true),
            ("http://127.example.com", "http://127.example.com/x", false),
            ("https://ids_1.example.com/a/b%20c/", "https://ids_1.example.com/a/b%20c/x", false),
            ("HTTPS://10.0.0.1", "HTTPS://10.0.0.1/x", false),
        ] {
            let url = ServerUrl::parse("servers", text).unwrap();
            assert_eq!((url.join("/x").as_str(), url.is_loopback()), (joined, is_loopback), "{text}");
        }
    }

    #[test]
    fn its_parts() {
        for (text, origin, path, host, port) in [
            ("http://LEAF", "http://LEAF", "", "leaf", 80),
            ("https://leaf/a/b/", "https://leaf", "/a/b", "leaf", 443),
            ("HTTP://[FD00::1]:8080/a", "HTTP://[FD00::1]:8080", "/a", "fd00::1", 8080),
        ] {
            let url = ServerUrl::parse("servers", text).unwrap();
            assert_eq!((url.split_at_path(), url.host(), url.port()), ((origin, path), host, port), "{text}");
        }
    }

    #[test]
    fn what_is_refused() {
        for text in [
            "",
            "leaf-1:8080",
            "//leaf",
            "ftp://leaf",
            "http://",
            "http:///x",
            "http://:80",
            "http://leaf:0",
            "http://leaf:",
            "http://leaf:65536",
            "http://leaf:x",
            "http://leaf?a=1",
            "http://leaf/#a",
            "http://le af",
            "http://l\u{e9}af",
            "http://[::1",
            "http://[leaf]",
            "http://le*af",
            "http://leaf/\n",
        ] {
            let error = ServerUrl::parse("servers", text).unwrap_err();
            assert_eq!(error.code(), leafid_core::Code::InvalidArgument, "{text}");
            assert!(error.message().starts_with("servers is "), "{error}");
        }
        let error = ServerUrl::parse("servers", "https://ann:secret@leaf").unwrap_err();
        assert!(!error.message().contains("secret"), "{error}");
    }
}
