//! The fake server, as one that leases worker ids.

use crate::fake_server::FakeServer;
use leafid::Layout;
use serde_json::{Value, json};
use std::ops::Deref;

pub(crate) struct Server(FakeServer);

impl Deref for Server {
    type Target = FakeServer;

    fn deref(&self) -> &FakeServer {
        &self.0
    }
}

impl Server {
    /// Gives 4 worker ids, each for this long.
    pub(crate) fn new(lease_ms: i64) -> Server {
        let lease_ms = lease_ms.to_string();
        Server(FakeServer::with(&["--pool", "4", "--lease-ms", &lease_ms, "--threshold-ms", "0"]))
    }

    pub(crate) fn url(&self) -> String {
        self.url.clone()
    }

    /// How calls of this kind are answered from now on.
    pub(crate) fn fault(&self, call: &str, fault: Value) {
        self.tell(json!({"do": "fault", "fault": fault, "tag": call}));
    }

    /// Refuses connections, or takes them again.
    pub(crate) fn down(&self, down: bool) {
        self.tell(json!({"do": "dead", "how": down.then_some("refused")}));
    }

    /// The calls of this kind: their `headers`, and the object of their `body`.
    pub(crate) fn seen(&self, call: &str) -> Vec<Value> {
        let mut report = self.tell(json!({"do": "report"}));
        let mut seen: Vec<Value> = std::mem::take(report["requests"].as_array_mut().unwrap());
        seen.retain(|seen| seen["tag"] == call);
        for seen in &mut seen {
            seen["body"] = serde_json::from_str(seen["body"].as_str().unwrap()).unwrap();
        }
        seen
    }

    /// Whether an id of Leaf's layout lies in a span that was given.
    pub(crate) fn covers(&self, id: i64) -> bool {
        let parts = Layout::LEAF.decode(id).unwrap();
        let given = self.tell(json!({"do": "spans"}));
        given["spans"].as_array().unwrap().iter().any(|span| {
            let [from, until] = [2, 3].map(|at| span[at].as_i64().unwrap());
            span[1] == parts.worker_id && (from..until).contains(&parts.timestamp_ms)
        })
    }

    /// The token of a worker id.
    pub(crate) fn token(&self, worker_id: usize) -> String {
        self.tell(json!({"do": "leases"}))["leases"][worker_id]["token"].as_str().unwrap().to_owned()
    }
}
