//! The servers of a store: `server/HOST URL` has a key for each, which etcd removes when it is not put again.

use super::{Etcd, gateway};
use crate::holder::Holder;
use crate::store::servers::{LIVES_MS, key};
use leafid_core::Result;
use serde_json::json;

/// A server that goes on keeps the lease of its key: nothing is written.
pub(crate) async fn announce(etcd: &Etcd, who: &Holder, ends: bool) -> Result<()> {
    let key = gateway::encode(format!("{}server/{}", etcd.prefix, key(who)).as_bytes());
    let value = gateway::encode(who.text().as_bytes());
    let failed = |error| etcd.failed(error);
    if ends {
        let gone = etcd.gateway.write("/v3/kv/deleterange", &json!({ "key": key })).await;
        return gone.map(drop).map_err(failed);
    }
    let found = etcd.gateway.read("/v3/kv/range", &json!({ "key": key })).await.map_err(failed)?;
    let known = &found["kvs"][0];
    if let Some(id) = known["lease"].as_str().filter(|_| known["value"] == json!(value)) {
        let kept = etcd.gateway.read("/v3/lease/keepalive", &json!({ "ID": id })).await.map_err(failed)?;
        // One that has just ended has none left, which the gateway leaves out.
        if kept["result"]["TTL"].is_string() {
            return Ok(());
        }
    }
    let ttl = (LIVES_MS / 1000).to_string();
    let granted = etcd.gateway.read("/v3/lease/grant", &json!({ "TTL": ttl })).await.map_err(failed)?;
    let id = granted["ID"].as_str().ok_or_else(|| gateway::failed("a lease without an id"))?;
    let put = json!({ "key": key, "value": value, "lease": id });
    etcd.gateway.write("/v3/kv/put", &put).await.map(drop).map_err(failed)
}

pub(crate) async fn servers(etcd: &Etcd) -> Result<Vec<Holder>> {
    let mut request = etcd.all("server");
    request["limit"] = json!("1000");
    let reads = etcd.read_all(&request).await?;
    Ok(reads.iter().map(|read| Holder::parse(&String::from_utf8_lossy(&read.value))).collect())
}
