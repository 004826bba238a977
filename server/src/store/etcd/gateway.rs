//! Requests to the JSON gateway of etcd.

use super::Read;
use axum::body::{Body, to_bytes};
use base64::{Engine, engine::general_purpose::STANDARD};
use hyper::{Request, client::conn::http1};
use hyper_util::rt::TokioIo;
use leafid_core::{Code, Error, Result};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;

const MOST_BYTES: usize = 16 << 20;

pub(super) struct Gateway {
    nodes: Vec<String>,
    limit: Duration,
    /// The node that is asked first.
    first: AtomicUsize,
}

impl Gateway {
    pub(super) fn new(nodes: Vec<String>, limit: Duration) -> Gateway {
        Gateway { nodes, limit, first: AtomicUsize::new(0) }
    }

    /// Asks one node after the other.
    pub(super) async fn read(&self, path: &str, request: &Value) -> Result<Value> {
        let mut last = failed("no node");
        for _ in &self.nodes {
            match self.write(path, request).await {
                Ok(answer) => return Ok(answer),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Asks one node, once. After an error nobody knows whether it has written.
    pub(super) async fn write(&self, path: &str, request: &Value) -> Result<Value> {
        let at = self.first.load(Relaxed);
        let node = &self.nodes[at % self.nodes.len()];
        let share = self.limit / u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        let done = match timeout(share, exchange(node, path, request.to_string())).await {
            Ok(done) => done,
            Err(_) => Err(failed(&format!("no answer within {} ms", share.as_millis()))),
        };
        done.map_err(|error| {
            let _ = self.first.compare_exchange(at, at + 1, Relaxed, Relaxed);
            error.context(format!("node {node}"))
        })
    }
}

async fn exchange(node: &str, path: &str, body: String) -> Result<Value> {
    let stream = TcpStream::connect(node).await.map_err(|error| failed(&error.to_string()))?;
    let (mut sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|error| failed(&error.to_string()))?;
    let request = Request::post(path)
        .header("host", node)
        .header("content-type", "application/json")
        .body(Body::from(body))
        .map_err(|error| failed(&error.to_string()))?;
    let answer = async {
        let answer = sender.send_request(request).await.map_err(|error| failed(&error.to_string()))?;
        let status = answer.status();
        let bytes = to_bytes(Body::new(answer.into_body()), MOST_BYTES)
            .await
            .map_err(|error| failed(&error.to_string()))?;
        if !status.is_success() {
            return Err(failed(&format!("status {status}: {}", String::from_utf8_lossy(&bytes))));
        }
        serde_json::from_slice::<Value>(&bytes).map_err(|error| failed(&error.to_string()))
    };
    // The connection works only while it is polled. It ends with this function.
    let work = async {
        let _ = connection.await;
        std::future::pending::<()>().await;
    };
    tokio::select! {
        answer = answer => answer,
        () = work => Err(failed("the connection ended")),
    }
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
