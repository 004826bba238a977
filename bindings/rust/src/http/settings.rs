//! The options for requests to servers, checked once.

use super::forward::Forward;
use super::proxy::EnvProxy;
use super::tls_roots;
use super::url::ServerUrl;
use leafid_core::http::{HttpServer, HttpServers};
use leafid_core::options::ServerOptions;
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
    /// As the core has checked them. Their token, if they have one, is sent as `Authorization: Bearer`.
    pub(crate) servers: ServerOptions,
    /// A PEM file of authorities that are trusted in addition to the system's.
    pub(crate) ca_file: Option<PathBuf>,
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
        let asked = options.servers;
        let servers = asked.urls.iter().map(|text| Server::new(asked.said, text));
        let servers = servers.collect::<Result<Vec<_>>>()?;
        let needs_tls = servers
            .iter()
            .any(|server| server.url.is_tls() || server.proxy.as_ref().is_some_and(EnvProxy::is_tls));
        let ca_file = options.ca_file.as_deref();
        // A named file is checked even if it is not used.
        let tls = if needs_tls || ca_file.is_some() { Some(tls_roots::tls(ca_file)?) } else { None };
        Ok(Settings {
            option: asked.said,
            servers,
            headers: headers(&asked)?,
            request_timeout: asked.request_timeout,
            connect_timeout: asked.connect_timeout,
            connections: asked.connections as usize,
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

fn headers(asked: &ServerOptions) -> Result<Vec<(HeaderName, HeaderValue)>> {
    let token = asked.token.iter().map(|token| ("authorization".to_owned(), format!("Bearer {token}")));
    let all = token.chain(asked.headers.iter().cloned());
    let parsed = all.map(|(name, value)| Some((name.parse().ok()?, value.parse().ok()?)));
    // They may be secrets, so no message contains them.
    let wrong = || Error::invalid("headers", "no header of HTTP", "headers that can be sent");
    parsed.collect::<Option<_>>().ok_or_else(wrong)
}
