//! The proxies of the environment, chosen for each server as curl and Go choose them.

use super::no_proxy::NoProxy;
use super::url::ServerUrl;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use leafid_core::http::HttpProxy;
use leafid_core::options::{ENCODED, has_raw_password, shown_url};
use leafid_core::{Error, Result};
use std::env;
use std::fmt;
use ureq::http::HeaderValue;
use ureq::{Proxy, ProxyProtocol};

/// An http:// or https:// proxy, and the variable that names it.
#[derive(Clone)]
pub(super) struct EnvProxy {
    pub(super) proxy: Proxy,
    variable: &'static str,
}

impl EnvProxy {
    /// The proxy for a server; `None` for the ones in NO_PROXY and those of this machine. Errors: `invalid_argument`.
    pub(super) fn of(server: &ServerUrl) -> Result<Option<EnvProxy>> {
        let without = value(&["no_proxy", "NO_PROXY"])?;
        let without = without.map_or_else(NoProxy::default, |(_, list)| NoProxy::parse(&list));
        if server.is_loopback() || without.contains(server.host(), server.port()) {
            return Ok(None);
        }
        let own: &[_] = match server.is_tls() {
            true => &["https_proxy", "HTTPS_PROXY"],
            // A CGI program has the header `Proxy` of its client in the second one.
            false if env::var_os("REQUEST_METHOD").is_some() => &["http_proxy"],
            false => &["http_proxy", "HTTP_PROXY"],
        };
        let found = match value(own)? {
            None => value(&["all_proxy", "ALL_PROXY"])?,
            found => found,
        };
        let Some((variable, text)) = found else { return Ok(None) };
        // The text may have a password.
        let wrong = |what: &str| {
            let allowed = "an http:// or https:// proxy, such as http://proxy.example.com:3128; NO_PROXY lists servers \
                           that need none";
            Error::invalid(variable, what, allowed)
        };
        if has_raw_password(&text) {
            let shown = format!("{}, whose password is not encoded", shown_url(&text));
            return Err(Error::invalid(variable, shown, ENCODED));
        }
        let proxy = Proxy::new(&text).map_err(|_| wrong("no URL of a proxy"))?;
        match proxy.protocol() {
            ProxyProtocol::Http | ProxyProtocol::Https => Ok(Some(EnvProxy { proxy, variable })),
            other => Err(wrong(&format!("a proxy of {other:?}"))),
        }
    }

    pub(super) fn is_tls(&self) -> bool {
        self.proxy.protocol() == ProxyProtocol::Https
    }

    /// As the machines of the core know it.
    pub(super) fn known(&self) -> HttpProxy {
        HttpProxy { url: self.url(), variable: self.variable }
    }

    /// Its URL, without the user and the password.
    pub(super) fn url(&self) -> String {
        let scheme = if self.is_tls() { "https" } else { "http" };
        format!("{scheme}://{}:{}", self.proxy.host(), self.proxy.port())
    }

    /// The value of Proxy-Authorization.
    pub(super) fn credentials(&self) -> Option<HeaderValue> {
        let (user, password) = (self.proxy.username(), self.proxy.password());
        user.or(password)?;
        let both = format!("{}:{}", user.unwrap_or_default(), password.unwrap_or_default());
        HeaderValue::from_str(&format!("Basic {}", BASE64_STANDARD.encode(both))).ok()
    }
}

impl fmt::Display for EnvProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the proxy {} ({})", self.url(), self.variable)
    }
}

/// The first variable that is neither missing nor empty. Errors: `invalid_argument`.
fn value(names: &[&'static str]) -> Result<Option<(&'static str, String)>> {
    for &name in names {
        let Some(value) = env::var_os(name) else { continue };
        let value = value.into_string().map_err(|_| Error::invalid(name, "no UTF-8", "UTF-8"))?;
        if !value.trim().is_empty() {
            return Ok(Some((name, value.trim().to_owned())));
        }
    }
    Ok(None)
}
