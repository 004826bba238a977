//! The URL of a server.

use leafid_core::options::{server_url, shown_url};
use leafid_core::{Error, Result};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use ureq::http::Uri;

/// `http://host:8080/prefix`, without a slash at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerUrl {
    text: String,
    host: String,
    port: u16,
    is_tls: bool,
}

impl ServerUrl {
    /// `option` is the user's option with the URL. Errors: `invalid_argument`.
    pub(crate) fn parse(option: &str, text: &str) -> Result<ServerUrl> {
        let text = server_url(option, text)?;
        // By the library that sends it.
        let wrong = || Error::invalid(option, format!("{:?}", shown_url(&text)), "a URL that can be sent");
        let uri: Uri = text.parse().map_err(|_| wrong())?;
        let is_tls = uri.scheme_str() == Some("https");
        let host = uri.host().ok_or_else(wrong)?.trim_start_matches('[').trim_end_matches(']');
        let host = host.to_ascii_lowercase();
        let port = uri.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
        Ok(ServerUrl { text, host, port, is_tls })
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
}
