//! The options for requests to servers, checked once.

use super::forward::Forward;
use super::proxy::EnvProxy;
use super::tls_roots;
use super::url::ServerUrl;
use leafid_core::http::{HttpServer, HttpServers};
use leafid_core::options::{
    ServerOptions, allowed, check_connections, check_header, check_header_bytes, check_servers,
};
use leafid_core::{Error, Result};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;
use ureq::config::AutoHeaderValue;
use ureq::http::{HeaderName, HeaderValue, header};
use ureq::tls::TlsConfig;

/// The options for requests to servers.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct HttpOptions {
    /// The user's option that names the servers.
    pub(crate) option: &'static str,
    /// `http://` or `https://`; the first is preferred.
    pub(crate) servers: Vec<String>,
    /// Sent as `Authorization: Bearer`.
    pub(crate) token: Option<String>,
    /// Headers that are sent in addition.
    pub(crate) headers: Vec<(String, String)>,
    /// A PEM file of authorities that are trusted in addition to the system's.
    pub(crate) ca_file: Option<PathBuf>,
    /// The longest duration of a request, over all servers.
    pub(crate) request_timeout: Duration,
    /// The longest duration of name look-up, connection and TLS together.
    pub(crate) connect_timeout: Duration,
    /// The number of connections to each server that are kept alive.
    pub(crate) connections: usize,
}

impl HttpOptions {
    /// Without an authority of the user's.
    pub(crate) fn of(servers: &ServerOptions) -> HttpOptions {
        HttpOptions {
            option: servers.said,
            servers: servers.urls.clone(),
            token: servers.token.clone(),
            headers: servers.headers.clone(),
            ca_file: None,
            request_timeout: servers.request_timeout,
            connect_timeout: servers.connect_timeout,
            connections: servers.connections as usize,
        }
    }
}

/// The idle time after which a connection is closed when the next request starts.
const IDLE: Duration = Duration::from_secs(5);
/// The largest size of the head of a response.
const LARGEST_HEAD: usize = 16 * 1024;
/// The size for all headers of the user together and the URL of a request.
const OUTPUT_BYTES: usize = 16 * 1024;

/// The valid options.
pub(super) struct Settings {
    pub(super) option: &'static str,
    pub(super) servers: Vec<Server>,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) request_timeout: Duration,
    pub(super) connect_timeout: Duration,
    connections: usize,
    tls: Option<TlsConfig>,
}

/// A server, and the proxy that passes requests on to it.
pub(super) struct Server {
    pub(super) url: ServerUrl,
    proxy: Option<EnvProxy>,
}

impl Server {
    fn new(option: &str, text: &str) -> Result<Server> {
        let url = ServerUrl::parse(option, text)?;
        let proxy = EnvProxy::of(&url)?;
        Ok(Server { url, proxy })
    }

    /// As the machines of the core know it.
    fn known(&self) -> HttpServer {
        HttpServer { url: self.url.to_string(), proxy: self.proxy.as_ref().map(EnvProxy::known) }
    }

    /// What messages say after the URL.
    pub(super) fn through(&self) -> String {
        self.proxy.as_ref().map_or_else(String::new, |proxy| format!(" through {proxy}"))
    }

    /// The proxy that gets requests with the whole URL. For TLS it only connects.
    fn forwarder(&self) -> Option<&EnvProxy> {
        self.proxy.as_ref().filter(|_| !self.url.is_tls())
    }

    pub(super) fn forward(&self) -> Forward {
        Forward { origin: self.forwarder().map(|_| self.url.split_at_path().0.into()) }
    }

    /// The headers for a proxy that gets requests with the whole URL.
    pub(super) fn proxy_headers(&self) -> Vec<(HeaderName, HeaderValue)> {
        let Some(proxy) = self.forwarder() else { return Vec::new() };
        let credentials = proxy.credentials().map(|value| (header::PROXY_AUTHORIZATION, value));
        let (_, host) = self.url.split_at_path().0.split_once("://").unwrap_or_default();
        let host = HeaderValue::from_str(host).ok().map(|value| (header::HOST, value));
        host.into_iter().chain(credentials).collect()
    }

    /// The URL that ureq is given for a path.
    pub(super) fn join(&self, path: &str) -> String {
        match self.forwarder() {
            Some(proxy) => format!("{}{}{path}", proxy.url(), self.url.split_at_path().1),
            None => self.url.join(path),
        }
    }
}

impl Settings {
    /// Reads `ca_file`, the system's authorities and the proxy variables. Errors: `invalid_argument`.
    pub(super) fn parse(options: HttpOptions) -> Result<Settings> {
        let option = options.option;
        check_servers(option, &options.servers)?;
        let servers = options.servers.iter().map(|text| Server::new(option, text));
        let servers = servers.collect::<Result<Vec<_>>>()?;
        let headers = headers(options.token.as_deref(), &options.headers)?;
        check_connections(options.connections)?;
        let needs_tls = servers
            .iter()
            .any(|server| server.url.is_tls() || server.proxy.as_ref().is_some_and(EnvProxy::is_tls));
        let ca_file = options.ca_file.as_deref();
        // A named file is checked even if it is not used.
        let tls = if needs_tls || ca_file.is_some() { Some(tls_roots::tls(ca_file)?) } else { None };
        Ok(Settings {
            option,
            servers,
            headers,
            request_timeout: options.request_timeout,
            connect_timeout: options.connect_timeout,
            connections: options.connections,
            tls,
        })
    }

    /// The servers, as the machines of the core know them.
    pub(super) fn known(&self) -> HttpServers {
        HttpServers {
            option: self.option,
            servers: self.servers.iter().map(Server::known).collect(),
            request_timeout: self.request_timeout,
            connect_timeout: self.connect_timeout,
        }
    }

    /// The configuration of ureq without timeouts: `deadline` holds them.
    pub(super) fn config(&self, server: &Server) -> ureq::config::Config {
        let mut config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(server.proxy.as_ref().filter(|_| server.url.is_tls()).map(|of| of.proxy.clone()))
            .user_agent(concat!("leafid/", env!("CARGO_PKG_VERSION")))
            .accept("application/json")
            .accept_encoding(AutoHeaderValue::None)
            .max_response_header_size(LARGEST_HEAD)
            .input_buffer_size(2 * LARGEST_HEAD)
            .output_buffer_size(OUTPUT_BYTES)
            .max_idle_connections(self.connections)
            .max_idle_connections_per_host(self.connections)
            .max_idle_age(IDLE);
        if let Some(tls) = &self.tls {
            config = config.tls_config(tls.clone());
        }
        config.build()
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.url, self.through())
    }
}

fn headers(token: Option<&str>, others: &[(String, String)]) -> Result<Vec<(HeaderName, HeaderValue)>> {
    let mut headers = Vec::new();
    if let Some(token) = token {
        // The text is a secret, so no message contains it.
        let value = HeaderValue::from_str(&format!("Bearer {token}")).ok().filter(|_| !token.is_empty());
        let wrong = if token.is_empty() { "empty" } else { "a text with a control character" };
        let value = value.ok_or_else(|| Error::invalid("token", wrong, allowed("token")))?;
        headers.push((HeaderName::from_static("authorization"), value));
    }
    for (name, value) in others {
        let wrong = |allowed: &str| Error::invalid("headers", format!("{name:?}"), allowed);
        // What is no name may be the value, and a secret.
        let parsed = HeaderName::from_bytes(name.as_bytes()).map_err(|_| {
            let shown = format!("a name of {} bytes with another character", name.len());
            Error::invalid("headers", shown, "names of letters, digits and -")
        })?;
        check_header(parsed.as_str(), name, headers.iter().map(|(known, _)| known.as_str()))?;
        let value =
            HeaderValue::from_str(value).map_err(|_| wrong("a value without control characters for it"))?;
        headers.push((parsed, value));
    }
    let bytes: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    check_header_bytes(bytes)?;
    Ok(headers)
}
