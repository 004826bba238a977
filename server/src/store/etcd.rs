//! etcd, through its JSON gateway. Every read is linearizable, and every write is a transaction that compares what was
//! read.
//!
//! | What could go wrong | Rule |
//! | --- | --- |
//! | two servers read one counter | the write compares revision and value; the second one reads again |
//! | the answer to a write is lost | an error; the write is never sent again, the next request reads first |
//! | an old copy is restored, and its revisions come again | the value is compared, too |
//! | a node is cut off from the others | it cannot answer a linearizable read; the next node is asked |
//! | an answer comes after its time-out | each request has a connection of its own, which is closed |

mod address;
pub(super) mod counters;
mod gateway;
pub(super) mod server_keys;
pub(super) mod worker_keys;

use super::stride::Stride;
use crate::clock::filtered_ms;
use address::EtcdAddress;
use gateway::Gateway;
use leafid_core::{Error, Result};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// A client of a cluster. Cloning shares it.
#[derive(Clone)]
pub(crate) struct Etcd {
    gateway: Arc<Gateway>,
    prefix: String,
    shown: String,
    stride: Stride,
}

/// A key with its value, as it was read.
struct Read {
    key: String,
    /// 0: there is no such key.
    revision: i64,
    value: Vec<u8>,
}

impl Etcd {
    /// `address`: what follows `etcd://`. Errors: `invalid_argument`.
    pub(super) fn new(address: &str, limit: Duration, stride: Stride) -> Result<Etcd> {
        let EtcdAddress { nodes, prefix, login, tls, shown } = EtcdAddress::parse(address)?;
        Ok(Etcd { gateway: Arc::new(Gateway::new(nodes, login, tls, limit)), prefix, shown, stride })
    }

    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    /// This server's clock, once the cluster has answered: etcd has none. docs/SERVER.md says what follows.
    pub(super) async fn now_ms(&self) -> Result<i64> {
        self.read(&format!("{}alive", self.prefix)).await?;
        Ok(filtered_ms())
    }

    async fn read(&self, key: &str) -> Result<Read> {
        let request = json!({ "key": gateway::encode(key.as_bytes()) });
        let found = self.read_all(&request).await?.into_iter().next();
        Ok(found.unwrap_or_else(|| Read { key: key.to_owned(), revision: 0, value: Vec::new() }))
    }

    /// A request for all keys of a kind.
    fn all(&self, kind: &str) -> Value {
        // 0 is behind the slash: the first key behind all that begin with the prefix.
        let [key, end] =
            ["/", "0"].map(|end| gateway::encode(format!("{}{kind}{end}", self.prefix).as_bytes()));
        json!({ "key": key, "range_end": end })
    }

    async fn read_all(&self, request: &Value) -> Result<Vec<Read>> {
        let answer = self.gateway.read("/v3/kv/range", request).await.map_err(|error| self.failed(error))?;
        gateway::reads(&answer)
    }

    /// Writes if this key is still as it was read. Returns whether it was.
    async fn write_if(&self, read: &Read, writes: &[Value]) -> Result<bool> {
        let key = gateway::encode(read.key.as_bytes());
        let revision = json!({ "key": key, "target": "MOD", "result": "EQUAL", "mod_revision": read.revision.to_string() });
        let value = json!({ "key": key, "target": "VALUE", "result": "EQUAL", "value": gateway::encode(&read.value) });
        let compare = if read.revision == 0 { vec![revision] } else { vec![revision, value] };
        let request = json!({ "compare": compare, "success": writes });
        let answer = self.gateway.write("/v3/kv/txn", &request).await.map_err(|error| self.failed(error))?;
        Ok(answer["succeeded"] == json!(true))
    }

    fn failed(&self, error: Error) -> Error {
        error.context(&self.shown)
    }
}
