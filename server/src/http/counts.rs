//! What is counted of requests.

use super::spelling;
use axum::http::StatusCode;
use parking_lot::Mutex;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use std::collections::BTreeMap;

pub(super) type Labels = Vec<(&'static str, String)>;

/// What is counted from the start on.
#[derive(Default)]
pub(super) struct RequestCounts {
    requests: Family<Labels, Counter>,
    /// Granted claims of each name; the store bounds how many names there are.
    claims: Mutex<BTreeMap<String, u64>>,
}

impl RequestCounts {
    pub(super) fn family(&self) -> Family<Labels, Counter> {
        self.requests.clone()
    }

    pub(super) fn claimed(&self, name: &str) {
        let mut claims = self.claims.lock();
        match claims.get_mut(name) {
            Some(count) => *count += 1,
            None => drop(claims.insert(name.to_owned(), 1)),
        }
    }

    pub(super) fn claims(&self) -> BTreeMap<String, u64> {
        self.claims.lock().clone()
    }

    pub(super) fn count(&self, path: &str, status: StatusCode) {
        let labels = vec![("api", api(path).to_owned()), ("status", status.as_str().to_owned())];
        self.requests.get_or_create(&labels).inc();
    }
}

/// A few names, whatever clients ask for.
fn api(path: &str) -> &'static str {
    const NAMES: [(&str, &str); 8] = [
        ("/api/segment/get/", "segment"),
        ("/api/snowflake/get/", "snowflake"),
        ("/api/segment/range/", "range"),
        ("/api/worker/claim", "claim"),
        ("/api/worker/renew", "renew"),
        ("/api/worker/release", "release"),
        ("/api/tag", "tag"),
        ("/tinyid/id/", "tinyid"),
    ];
    let named = |path: &str| NAMES.iter().find(|(start, _)| path.starts_with(start)).map(|(_, name)| *name);
    named(path).or_else(|| named(&spelling::plain(path)?)).unwrap_or("other")
}
