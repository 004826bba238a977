//! The servers of one source, and the durations of requests to them.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

/// The servers of one source.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HttpServers {
    /// The user's option that names them.
    pub option: &'static str,
    /// In the order of the user's list: the first is preferred.
    pub servers: Vec<HttpServer>,
    /// The longest duration of a request, over all servers.
    pub request_timeout: Duration,
    /// The longest duration of name look-up, connection and TLS together.
    pub connect_timeout: Duration,
}

/// A server, as messages name it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HttpServer {
    /// Its URL without a slash at its end, and without a user, password or query.
    pub url: String,
    /// The proxy that requests go through, without its user and password: "the proxy http://… (HTTP_PROXY)".
    pub proxy: Option<String>,
}

impl HttpServer {
    /// Whether it speaks TLS.
    pub(super) fn is_tls(&self) -> bool {
        self.url.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"))
    }

    /// The URL of a path below it, and the proxy. The query of the path is left out.
    pub(super) fn shown(&self, path: &str) -> String {
        let path = path.split('?').next().unwrap_or_default();
        let mut shown = self.url.clone() + path;
        if let Some(proxy) = &self.proxy {
            shown.push_str(" through ");
            shown.push_str(proxy);
        }
        shown
    }
}

impl fmt::Display for HttpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown(""))
    }
}
