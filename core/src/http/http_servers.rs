//! The servers of one source, and the durations of requests to them.

#[cfg(all(feature = "format", feature = "options"))]
use crate::options::ServerOptions;
use crate::secrets::shown_url;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
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
    /// Its URL, without a slash at its end.
    pub url: String,
    /// The proxy that requests go through.
    pub proxy: Option<HttpProxy>,
}

/// A proxy, as messages name it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HttpProxy {
    /// Its URL.
    pub url: String,
    /// The variable of the environment that names it.
    pub variable: &'static str,
}

#[cfg(all(feature = "format", feature = "options"))]
impl HttpServers {
    /// The servers of these options. `proxy`: the proxy to a URL, if there is one.
    pub fn of(options: &ServerOptions, mut proxy: impl FnMut(&str) -> Option<HttpProxy>) -> HttpServers {
        let server = |url: &String| HttpServer { url: url.clone(), proxy: proxy(url) };
        HttpServers {
            option: options.said,
            servers: options.urls.iter().map(server).collect(),
            request_timeout: options.request_timeout,
            connect_timeout: options.connect_timeout,
        }
    }
}

impl HttpServer {
    /// Whether it speaks TLS.
    pub(super) fn is_tls(&self) -> bool {
        self.url.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"))
    }

    /// The URL of a path below it, and the proxy; without a user, password or query.
    pub(super) fn shown(&self, path: &str) -> String {
        let path = path.split('?').next().unwrap_or_default();
        let url = shown_url(&self.url);
        match &self.proxy {
            None => format!("{url}{path}"),
            Some(HttpProxy { url: proxy, variable }) => {
                format!("{url}{path} through the proxy {} ({variable})", shown_url(proxy))
            }
        }
    }
}
