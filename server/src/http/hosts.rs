//! Requests that somebody else's web page can make a browser send: to another site, or to a name of its own that leads
//! to this server (DNS rebinding). A page knows no token, so requests with one are not looked at.

use crate::access::Denied;
use crate::options::Options;
use crate::scope::Scope;
use axum::http::header::{AsHeaderName, CONTENT_TYPE, HOST, HeaderName, ORIGIN};
use axum::http::{HeaderMap, Method};
use std::net::{IpAddr, SocketAddr};

/// Only browsers send it, and no page can change it.
static SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The names by which a listener is asked.
pub(super) struct Hosts {
    /// Those of `--host-name`.
    names: Vec<String>,
    is_loopback: bool,
}

impl Hosts {
    pub(super) fn new(options: &Options, listens: SocketAddr) -> Hosts {
        Hosts { names: options.host_name.clone(), is_loopback: listens.ip().is_loopback() }
    }

    /// Errors: [`Denied::Forbidden`] for what a page of another site may have made a browser send.
    pub(super) fn check(&self, method: &Method, headers: &HeaderMap, scope: Scope) -> Result<(), Denied> {
        let host = text(headers, HOST);
        // A page of such a name may read what it asks for.
        if self.is_loopback && host.is_some_and(|host| !self.knows(host)) {
            return Err(refused(
                "Host",
                host,
                "name it by --host-name, or let the proxy send the address that it asks",
            ));
        }
        if scope == Scope::Metrics {
            return Ok(());
        }
        if let Some(origin) = text(headers, ORIGIN) {
            let authority = origin.split_once("://").map_or("", |(_, authority)| authority);
            let is_own = self.has(name(authority))
                || host.is_some_and(|host| host.eq_ignore_ascii_case(authority) && self.knows(host));
            if !is_own {
                let advice =
                    "a page of another site may take no ids; --host-name names this server's own hosts";
                return Err(refused("Origin", Some(origin), advice));
            }
        } else if let Some(site @ ("cross-site" | "same-site")) = text(headers, &SEC_FETCH_SITE) {
            return Err(refused("Sec-Fetch-Site", Some(site), "a page of another site may take no ids"));
        }
        if *method != Method::POST || !matches!(scope, Scope::Leases | Scope::Admin) {
            return Ok(());
        }
        // A form sends others, and needs no leave of this server.
        match text(headers, CONTENT_TYPE) {
            Some(kind) if is_json(kind) => Ok(()),
            kind => Err(refused("Content-Type", kind, "send application/json")),
        }
    }

    /// Whether a page of this host is this server's, and no other's. Addresses and names without a dot cannot be made
    /// to lead elsewhere by the owner of a domain.
    fn knows(&self, host: &str) -> bool {
        let name = name(host);
        !name.contains('.')
            || name.parse::<IpAddr>().is_ok()
            || name.ends_with(".localhost")
            || self.has(name)
    }

    fn has(&self, name: &str) -> bool {
        self.names.iter().any(|known| known.eq_ignore_ascii_case(name))
    }
}

/// A header, with "" for one that is no text.
fn text(headers: &HeaderMap, name: impl AsHeaderName) -> Option<&str> {
    headers.get(name).map(|value| value.to_str().unwrap_or_default())
}

/// A host without its port, brackets and last dot.
fn name(host: &str) -> &str {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name.strip_suffix('.').unwrap_or(name)
}

fn is_json(kind: &str) -> bool {
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

fn refused(header: &str, value: Option<&str>, advice: &str) -> Denied {
    let value = value.map_or("missing".to_owned(), |value| format!("{value:?}"));
    Denied::Forbidden(format!("{header} is {value}, and the request has no token: {advice}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn passes(hosts: &Hosts, scope: Scope, headers: &[(&'static str, &'static str)]) -> bool {
        let headers = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        hosts.check(&Method::POST, &headers.collect(), scope).is_ok()
    }

    #[test]
    fn a_host_is_known_by_an_address_a_name_without_a_dot_or_the_option() {
        let own = Hosts { names: vec!["ids.example.com".to_owned()], is_loopback: true };
        let hosts = [
            "127.0.0.1:8080",
            "127.0.0.1",
            "[::1]:8080",
            "[::1]",
            "10.0.0.5:80",
            "localhost:8080",
            "leaf",
            "a.localhost",
            "IDS.example.com:443",
            "ids.example.com.",
        ];
        for host in hosts {
            assert!(passes(&own, Scope::Ids, &[("host", host)]), "{host}");
        }
        let foreign = [
            "evil.example:8080",
            "127.0.0.1.evil.example",
            "127.0.0.1@evil.example",
            "ids.example.com.evil.example",
            "localhost.evil.example",
            "1.2.3",
        ];
        let open = Hosts { names: Vec::new(), is_loopback: false };
        for host in foreign {
            for scope in [Scope::Ids, Scope::Metrics] {
                assert!(!passes(&own, scope, &[("host", host)]), "{host}");
                assert!(passes(&open, scope, &[("host", host)]), "{host}: clients of another host use it");
            }
        }
        assert!(passes(&own, Scope::Ids, &[]), "HTTP/1.0");
    }

    #[test]
    fn a_page_is_of_this_server_if_its_origin_is_the_host_that_was_asked() {
        let hosts =
            [true, false].map(|is_loopback| Hosts { names: vec!["app.example.com".to_owned()], is_loopback });
        for hosts in &hosts {
            let asked = |host, origin| passes(hosts, Scope::Ids, &[("host", host), ("origin", origin)]);
            assert!(asked("127.0.0.1:8080", "http://127.0.0.1:8080"));
            assert!(asked("127.0.0.1:8080", "https://app.example.com"), "it is named");
            for origin in [
                "null",
                "",
                "http://127.0.0.1:3000",
                "http://localhost:8080",
                "https://evil.example",
                "http://127.0.0.1",
            ] {
                assert!(!asked("127.0.0.1:8080", origin), "{origin}");
            }
            assert!(!asked("evil.example:8080", "http://evil.example:8080"), "a name of the page's own");
        }
    }

    #[test]
    fn a_browser_says_that_a_page_is_of_another_site() {
        let hosts = Hosts { names: Vec::new(), is_loopback: true };
        for (site, is_good) in
            [("cross-site", false), ("same-site", false), ("same-origin", true), ("none", true)]
        {
            for (scope, is_good) in [(Scope::Ids, is_good), (Scope::Ranges, is_good), (Scope::Metrics, true)]
            {
                assert_eq!(
                    passes(&hosts, scope, &[("host", "localhost"), ("sec-fetch-site", site)]),
                    is_good,
                    "{site}"
                );
            }
        }
    }

    #[test]
    fn what_forms_send_changes_nothing() {
        let hosts = Hosts { names: Vec::new(), is_loopback: true };
        for (kind, is_good) in [
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            ("text/plain", false),
            ("application/x-www-form-urlencoded", false),
            ("multipart/form-data; boundary=application/json", false),
            ("text/plain; application/json", false),
            ("", false),
        ] {
            for scope in [Scope::Leases, Scope::Admin] {
                assert_eq!(passes(&hosts, scope, &[("content-type", kind)]), is_good, "{kind}");
            }
        }
        assert!(!passes(&hosts, Scope::Admin, &[]) && passes(&hosts, Scope::Ranges, &[]));
    }
}
