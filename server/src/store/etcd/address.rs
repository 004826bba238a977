//! The address of a cluster: `etcd://USER:PASSWORD@HOST:PORT,HOST:PORT/PREFIX?ca=FILE&cert=FILE&key=FILE`.

use crate::exchange::trusting;
use crate::pem::{authorities, certificates, private_key, system_roots};
use leafid_core::options::{ENCODED, has_raw_password, shown_url};
use leafid_core::{Error, Result};
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::rustls::ClientConfig;

const ALLOWED: &str =
    "etcd://HOST:PORT,HOST:PORT/PREFIX, with USER:PASSWORD@ before the hosts and ?ca=FILE behind if need be";

pub(super) struct EtcdAddress {
    pub(super) nodes: Vec<String>,
    /// Of all keys.
    pub(super) prefix: String,
    /// The user and the password.
    pub(super) login: Option<(String, String)>,
    pub(super) tls: Option<Arc<ClientConfig>>,
    /// All of it but for secrets.
    pub(super) shown: String,
}

impl EtcdAddress {
    /// `text`: what follows `etcd://`. Errors: `invalid_argument`, which show no secret.
    pub(super) fn parse(text: &str) -> Result<EtcdAddress> {
        let shown = shown_url(&format!("etcd://{text}"));
        let wrong = || Error::invalid("store", &shown, &format!("{ALLOWED}; {ENCODED}"));
        if has_raw_password(text) {
            return Err(wrong());
        }
        let (text, query) = text.split_once('?').unwrap_or((text, ""));
        let (login, text) = match text.rsplit_once('@') {
            Some((login, text)) => {
                let (user, password) = login.split_once(':').ok_or_else(wrong)?;
                (Some((decoded(user), decoded(password))), text)
            }
            None => (None, text),
        };
        let (nodes, path) = text.split_once('/').unwrap_or((text, "leafid"));
        let nodes: Vec<String> = nodes.split(',').map(str::to_owned).collect();
        // An encoded @ would make a password the name of a host.
        let is_host = |host: &str| {
            !host.is_empty() && host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._[]:".contains(&b))
        };
        let is_node = |node: &String| {
            node.rsplit_once(':').is_some_and(|(host, port)| is_host(host) && port.parse::<u16>().is_ok())
        };
        if text.contains('#') || !nodes.iter().all(is_node) {
            return Err(wrong());
        }
        let path = path.trim_matches('/');
        let shown = format!("etcd://{}/{path}", nodes.join(","));
        Ok(EtcdAddress { prefix: format!("{path}/"), login, tls: tls(query)?, shown, nodes })
    }
}

/// `None` without a query: nothing is encrypted.
fn tls(query: &str) -> Result<Option<Arc<ClientConfig>>> {
    let (mut ca, mut cert, mut key) = (None, None, None);
    for (name, value) in form_urlencoded::parse(query.as_bytes()).into_owned() {
        match name.as_str() {
            "ca" => ca = Some(value),
            "cert" => cert = Some(value),
            "key" => key = Some(value),
            // The name may be the rest of a password.
            _ => return Err(Error::invalid("store", "a ?name= that is unknown", "ca, cert and key")),
        }
    }
    let Some(ca) = ca else {
        return match query {
            "" => Ok(None),
            _ => Err(Error::invalid("store", "no ca", "ca=FILE of the authorities, or ca=system")),
        };
    };
    let wrong =
        |error: &dyn std::fmt::Display| Error::invalid("store", error, "a certificate and its key in PEM");
    let roots = if ca == "system" { system_roots() } else { authorities(Path::new(&ca), "store")? };
    let builder = trusting(roots).map_err(|error| wrong(&error))?;
    let config = match (cert, key) {
        (Some(cert), Some(key)) => builder
            .with_client_auth_cert(
                certificates(Path::new(&cert), "store")?,
                private_key(Path::new(&key), "store")?,
            )
            .map_err(|error| wrong(&error))?,
        (None, None) => builder.with_no_client_auth(),
        _ => return Err(Error::invalid("store", "one of cert and key", "both, or none")),
    };
    Ok(Some(Arc::new(config)))
}

/// `%40` is an `@`.
fn decoded(text: &str) -> String {
    let pair = format!("={}", text.replace('+', "%2B"));
    form_urlencoded::parse(pair.as_bytes()).next().map_or_else(String::new, |(_, value)| value.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_names_nodes_and_a_prefix() {
        let parsed = |text| {
            EtcdAddress::parse(text)
                .map(|address| (address.prefix, address.login, address.shown))
                .map_err(|_| ())
        };
        let shown = |prefix: &str, shown: &str| Ok((prefix.to_owned(), None, shown.to_owned()));
        assert_eq!(parsed("a:1,b:2"), shown("leafid/", "etcd://a:1,b:2/leafid"));
        assert_eq!(parsed("[::1]:1/x/y/"), shown("x/y/", "etcd://[::1]:1/x/y"));
        let login = Some(("me".to_owned(), "p@s:+&".to_owned()));
        assert_eq!(parsed("me:p%40s:+%26@a:1/x"), Ok(("x/".to_owned(), login, "etcd://a:1/x".to_owned())));
        for wrong in ["", "a", "a:1,", "a:b", "me@a:1", "a:1/x#y", "a:1?ca=/none", "a:1?cert=x", "a:1?tls=1"]
        {
            assert_eq!(parsed(wrong), Err(()), "{wrong}");
        }
    }

    #[test]
    fn no_error_shows_the_password() {
        for text in [
            "me:hidden@a",
            "me:hidden@a:1?ca=/none",
            "me:hid/den@a:1",
            "me:hid?den@a:1",
            "me:hid#den@a:1",
            "me:1/hidden@a:1",
            "me:1?hidden@a:1",
            "me:1?hidden",
            "me:hid@den@a",
            "hidden@a:1",
            "me:hidden",
            "me:hidden%40a:1",
        ] {
            let message = EtcdAddress::parse(text).map(|_| ()).unwrap_err().to_string();
            assert!(!message.contains("hid") && !message.contains("den"), "{message}");
        }
    }
}
