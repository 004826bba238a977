//! Requests to the JSON gateway of etcd.

use super::Read;
use crate::exchange::exchange;
use axum::body::Body;
use axum::http::Request;
use base64::{Engine, engine::general_purpose::STANDARD};
use leafid_core::{Code, Error, Result};
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;

const MOST_BYTES: usize = 16 << 20;

pub(super) struct Gateway {
    nodes: Vec<String>,
    login: Option<(String, String)>,
    tls: Option<TlsConnector>,
    limit: Duration,
    /// The node that is asked first.
    first: AtomicUsize,
    /// etcd's answer to the login.
    token: Mutex<Option<String>>,
}

impl Gateway {
    pub(super) fn new(
        nodes: Vec<String>,
        login: Option<(String, String)>,
        tls: Option<Arc<ClientConfig>>,
        limit: Duration,
    ) -> Gateway {
        let tls = tls.map(TlsConnector::from);
        Gateway { nodes, login, tls, limit, first: AtomicUsize::new(0), token: Mutex::default() }
    }

    /// Asks one node after the other.
    pub(super) async fn read(&self, path: &str, request: &Value) -> Result<Value> {
        let mut last = failed("no node");
        // Once more than there are nodes: a token may have ended.
        for _ in 0..=self.nodes.len() {
            match self.write(path, request).await {
                Ok(answer) => return Ok(answer),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Asks one node, once. After an error it may have written.
    pub(super) async fn write(&self, path: &str, request: &Value) -> Result<Value> {
        let at = self.first.load(Relaxed);
        let node = &self.nodes[at % self.nodes.len()];
        let share = self.limit / u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        let done = match timeout(share, self.with_token(node, path, request)).await {
            Ok(done) => done,
            Err(_) => Err(failed(&format!("no answer within {} ms", share.as_millis()))),
        };
        done.map_err(|error| {
            let _ = self.first.compare_exchange(at, at + 1, Relaxed, Relaxed);
            error.context(format!("node {node}"))
        })
    }

    async fn with_token(&self, node: &str, path: &str, request: &Value) -> Result<Value> {
        let known = self.token.lock().clone();
        let token = match (&self.login, known) {
            (Some((user, password)), None) => {
                let login = json!({ "name": user, "password": password });
                let answer = self.exchange(node, "/v3/auth/authenticate", &login, None).await?;
                let token =
                    answer["token"].as_str().ok_or_else(|| failed("a login without a token"))?.to_owned();
                *self.token.lock() = Some(token.clone());
                Some(token)
            }
            (_, known) => known,
        };
        let done = self.exchange(node, path, request, token.as_deref()).await;
        if done.is_err() {
            // It may have ended.
            *self.token.lock() = None;
        }
        done
    }

    async fn exchange(&self, node: &str, path: &str, body: &Value, token: Option<&str>) -> Result<Value> {
        let mut request = Request::post(path).header("host", node).header("content-type", "application/json");
        if let Some(token) = token {
            request = request.header("authorization", token);
        }
        let request = request.body(Body::from(body.to_string())).map_err(of)?;
        let host = node.rsplit_once(':').map_or(node, |(host, _)| host).trim_matches(['[', ']']);
        let named = |tls| ServerName::try_from(host.to_owned()).map(|name| (tls, name)).map_err(of);
        let tls = self.tls.as_ref().map(named).transpose()?;
        let (head, bytes) = exchange(node, tls, request, MOST_BYTES).await.map_err(of)?.into_parts();
        match head.status.is_success() {
            true => serde_json::from_slice(&bytes).map_err(of),
            false => Err(of(format!("status {}: {}", head.status, String::from_utf8_lossy(&bytes)))),
        }
    }
}

/// What the gateway, or the way to it, says.
fn of(error: impl ToString) -> Error {
    failed(&error.to_string())
}

pub(super) fn failed(message: &str) -> Error {
    Error::new(Code::SegmentUnavailable, format!("etcd failed: {message}"))
}

pub(super) fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

pub(super) fn put(key: &str, value: &[u8]) -> Value {
    json!({ "request_put": { "key": encode(key.as_bytes()), "value": encode(value) } })
}

/// The keys of an answer to a range request. Zero and empty fields are left out by the gateway.
pub(super) fn reads(answer: &Value) -> Result<Vec<Read>> {
    let keys = answer["kvs"].as_array().map(Vec::as_slice).unwrap_or_default();
    keys.iter().map(|key| read(key).ok_or_else(|| failed(&format!("unexpected answer: {key}")))).collect()
}

fn read(key: &Value) -> Option<Read> {
    let bytes = |name: &str| STANDARD.decode(key.get(name).map_or(Some(""), Value::as_str)?).ok();
    Some(Read {
        key: String::from_utf8(bytes("key")?).ok()?,
        revision: key["mod_revision"].as_str()?.parse().ok()?,
        value: bytes("value")?,
    })
}
