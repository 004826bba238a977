//! The connection to a collector.

use crate::exchange::{exchange, trusting};
use crate::pem::{authorities, system_roots};
use axum::body::Body;
use axum::http::header::HOST;
use axum::http::uri::{PathAndQuery, Scheme};
use axum::http::{HeaderValue, Uri};
use leafid_core::options::shown_url;
use leafid_core::{Error, Result};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

/// How long a collector may take for a batch of spans.
const LIMIT: Duration = Duration::from_secs(10);
const MOST_BYTES: usize = 1 << 20;
const ALLOWED: &str = "a URL such as http://127.0.0.1:4318";
/// A file of authorities, for all programs that send to a collector.
const CERTIFICATE: &str = "OTEL_EXPORTER_OTLP_CERTIFICATE";

/// A collector. Each batch has a connection of its own.
#[derive(Debug)]
pub(super) struct Collector {
    target: Arc<Target>,
    runtime: Handle,
    is_failing: AtomicBool,
}

struct Target {
    address: String,
    tls: Option<(TlsConnector, ServerName<'static>)>,
}

impl std::fmt::Debug for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.address)
    }
}

impl Collector {
    /// Nothing is connected yet. Errors: `invalid_argument`.
    pub(super) fn new(endpoint: &str) -> Result<Collector> {
        let wrong = |error: &dyn std::fmt::Display| Error::invalid("otlp-endpoint", error, ALLOWED);
        let shown = shown_url(endpoint);
        if endpoint.contains('@') {
            let allowed = format!("{ALLOWED}, without a user; OTEL_EXPORTER_OTLP_HEADERS are sent");
            return Err(Error::invalid("otlp-endpoint", &shown, &allowed));
        }
        let uri: Uri = endpoint.parse().map_err(|error| wrong(&error))?;
        let (Some(scheme), Some(host)) = (uri.scheme(), uri.host()) else { return Err(wrong(&shown)) };
        let is_encrypted = *scheme == Scheme::HTTPS;
        if !is_encrypted && *scheme != Scheme::HTTP || uri.query().is_some() {
            return Err(wrong(&shown));
        }
        let port = uri.port_u16().unwrap_or(if is_encrypted { 443 } else { 80 });
        let tls = match is_encrypted {
            false => None,
            true => {
                let name = ServerName::try_from(host.trim_matches(['[', ']']).to_owned());
                Some((connector()?, name.map_err(|error| wrong(&error))?))
            }
        };
        let target = Arc::new(Target { address: format!("{host}:{port}"), tls });
        Ok(Collector { target, runtime: Handle::current(), is_failing: AtomicBool::new(false) })
    }

    /// Logs the first failure of several.
    fn sent(&self, failure: Option<&str>) {
        let was_failing = self.is_failing.swap(failure.is_some(), Relaxed);
        match failure {
            Some(failure) if !was_failing => {
                log::warn!("the collector {} takes no traces, they are lost: {failure}", self.target.address);
            }
            None if was_failing => log::info!("the collector {} takes traces again", self.target.address),
            _ => {}
        }
    }
}

#[async_trait::async_trait]
impl HttpClient for Collector {
    /// It is called on the thread that sends spans, which is none of the runtime's.
    async fn send_bytes(&self, request: Request<Bytes>) -> std::result::Result<Response<Bytes>, HttpError> {
        let target = self.target.clone();
        let sending = self.runtime.spawn(async move { timeout(LIMIT, send(&target, request)).await });
        let done = match sending.await? {
            Ok(done) => done,
            Err(_) => Err(format!("no answer within {} s", LIMIT.as_secs()).into()),
        };
        match &done {
            Ok(answer) if answer.status().is_success() => self.sent(None),
            Ok(answer) => self.sent(Some(&format!("status {}", answer.status()))),
            Err(error) => self.sent(Some(&error.to_string())),
        }
        done
    }
}

fn connector() -> Result<TlsConnector> {
    let roots = match std::env::var_os(CERTIFICATE).filter(|file| !file.is_empty()) {
        Some(file) => authorities(Path::new(&file), CERTIFICATE)?,
        None => system_roots(),
    };
    let config = trusting(roots).map_err(|error| Error::invalid("otlp-endpoint", error, ALLOWED))?;
    Ok(TlsConnector::from(Arc::new(config.with_no_client_auth())))
}

async fn send(target: &Target, request: Request<Bytes>) -> std::result::Result<Response<Bytes>, HttpError> {
    let (mut head, body) = request.into_parts();
    head.headers.insert(HOST, HeaderValue::from_str(&target.address)?);
    head.uri = Uri::from(head.uri.path_and_query().cloned().unwrap_or(PathAndQuery::from_static("/")));
    let request = Request::from_parts(head, Body::from(body));
    let tls = target.tls.as_ref().map(|(tls, name)| (tls, name.clone()));
    exchange(&target.address, tls, request, MOST_BYTES).await
}
