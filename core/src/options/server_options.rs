//! The checked options for requests to servers.

use super::checks::milliseconds;
use super::environment::Environment;
use super::option_value::OptionValues;
use super::server_url::server_url;
use super::servers::{check_connections, check_headers, check_servers};
use crate::options::allowed::allowed;
use crate::secrets::shown_urls;
use crate::{Error, Result};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

/// Kept connections to each server, and concurrent requests to a Leaf.
const CONNECTIONS: i64 = 4;

/// The options that have no meaning without servers.
pub(crate) const OF_SERVERS: [&str; 5] =
    ["token", "headers", "ca_file", "request_timeout_ms", "connect_timeout_ms"];

/// How to ask the servers of one source.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ServerOptions {
    /// The option or the variable that names the servers.
    pub said: &'static str,
    /// Without slashes at their ends; the first is preferred.
    pub urls: Vec<String>,
    /// Sent as `Authorization: Bearer …`, or in the way of tinyid.
    pub token: Option<String>,
    /// Headers that are sent in addition.
    pub headers: Vec<(String, String)>,
    /// The path of a PEM file of authorities that are trusted in addition to the system's. Whether it is one is for the
    /// host.
    pub ca_file: Option<Vec<u8>>,
    /// The longest duration of a request, over all servers.
    pub request_timeout: Duration,
    /// The longest duration of a connection, with name look-up and TLS.
    pub connect_timeout: Duration,
    /// The number of connections to each server that are kept.
    pub connections: u32,
}

impl ServerOptions {
    /// `said`: the option or the variable with the URLs. `sends_token`: the token is a header. A variable that is empty is
    /// as if it were not set.
    ///
    /// Errors: `invalid_argument`.
    pub(crate) fn parse(
        set: &OptionValues,
        environment: &Environment<'_>,
        said: &'static str,
        urls: &[String],
        sends_token: bool,
    ) -> Result<ServerOptions> {
        let ms = |name, default| milliseconds(name, set.int(name).unwrap_or(default), 1);
        let (request_timeout, connect_timeout) =
            (ms("request_timeout_ms", 1_000)?, ms("connect_timeout_ms", 300)?);
        check_servers(said, urls)?;
        let urls = urls.iter().map(|url| server_url(said, url)).collect::<Result<_>>()?;
        let token = match set.text("token") {
            Some(token) => Some(("token", token.into())),
            None => environment.text("token").filter(|(_, token)| !token.is_empty()),
        };
        let sent = token.as_ref().filter(|_| sends_token);
        check_headers(sent.map(|(said, token)| (*said, token.as_str())), set.headers())?;
        let found = || environment.found("ca_file").filter(|(_, path)| !path.is_empty());
        let ca_file = set.path("ca_file").map(Into::into).or_else(|| found().map(|(_, path)| path));
        let connections = set.int("connections").unwrap_or(CONNECTIONS);
        let wrong = || Error::invalid("connections", connections, allowed("connections"));
        let connections = u32::try_from(connections).map_err(|_| wrong())?;
        check_connections(connections as usize)?;
        Ok(ServerOptions {
            said,
            urls,
            token: token.map(|(_, token)| token),
            headers: set.headers().to_vec(),
            ca_file,
            request_timeout,
            connect_timeout,
            connections,
        })
    }
}

/// Without what may be secret.
impl fmt::Debug for ServerOptions {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{} {}", self.said, shown_urls(&self.urls))
    }
}
