//! What is counted of requests: in arrays that are made at the start, so that a request costs two additions and no lock.

use axum::http::StatusCode;
use parking_lot::Mutex;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

pub(super) type Labels = Vec<(&'static str, String)>;

/// The beginning of a path, and its name. All other paths are the last one.
const APIS: [(&str, &str); 9] = [
    ("/api/segment/get/", "segment"),
    ("/api/snowflake/get/", "snowflake"),
    ("/api/segment/range/", "range"),
    ("/api/worker/claim", "claim"),
    ("/api/worker/renew", "renew"),
    ("/api/worker/release", "release"),
    ("/api/tag", "tag"),
    ("/tinyid/id/", "tinyid"),
    ("", "other"),
];
/// Each status that is answered; all others are the last one.
const STATUSES: [u16; 15] = [200, 201, 204, 400, 401, 403, 404, 405, 409, 413, 415, 429, 500, 503, 0];
/// The upper ends of the buckets, in microseconds. What takes longer is in one more.
const ENDS_US: [u64; 15] = [
    50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000, 2_500_000,
    10_000_000,
];
const BUCKETS: usize = ENDS_US.len() + 1;

/// The place of a path among the counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Api(usize);

impl Api {
    pub(super) const OTHER: Api = Api(APIS.len() - 1);

    /// That of a route.
    pub(super) fn of(path: &str) -> Api {
        let named = APIS.iter().position(|(start, _)| path.starts_with(start));
        named.map_or(Api::OTHER, Api)
    }
}

/// What is counted from the start on.
pub(super) struct RequestCounts {
    /// By API, status and how long it took: one addition counts both.
    requests: [[[AtomicU64; BUCKETS]; STATUSES.len()]; APIS.len()],
    /// How long all requests of an API took together.
    nanos: [AtomicU64; APIS.len()],
    claims_refused: AtomicU64,
    /// Granted claims of each name, each repetition by itself; the store bounds how many names there are.
    claims: Mutex<BTreeMap<String, u64>>,
}

impl Default for RequestCounts {
    fn default() -> RequestCounts {
        RequestCounts {
            requests: [const { [const { [const { AtomicU64::new(0) }; BUCKETS] }; STATUSES.len()] };
                APIS.len()],
            nanos: [const { AtomicU64::new(0) }; APIS.len()],
            claims_refused: AtomicU64::new(0),
            claims: Mutex::default(),
        }
    }
}

impl RequestCounts {
    pub(super) fn count(&self, api: Api, status: StatusCode, took: Duration) {
        let known = STATUSES.iter().position(|known| *known == status.as_u16());
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let bucket = ENDS_US.iter().position(|end| nanos < (end + 1) * 1_000).unwrap_or(BUCKETS - 1);
        self.requests[api.0][known.unwrap_or(STATUSES.len() - 1)][bucket].fetch_add(1, Relaxed);
        self.nanos[api.0].fetch_add(nanos, Relaxed);
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

    /// With `worker_in_use`: no worker id was free, or no more names are allowed, or the table may be an old one, or the
    /// same claim was granted before and its lease renewed since.
    pub(super) fn claim_refused(&self) {
        self.claims_refused.fetch_add(1, Relaxed);
    }

    pub(super) fn claims_refused(&self) -> u64 {
        self.claims_refused.load(Relaxed)
    }

    /// Requests by API and status, those that there were.
    pub(super) fn family(&self) -> Family<Labels, Counter> {
        let family: Family<Labels, Counter> = Family::default();
        for ((_, api), statuses) in APIS.iter().zip(&self.requests) {
            for (status, buckets) in STATUSES.iter().zip(statuses) {
                let count: u64 = buckets.iter().map(|count| count.load(Relaxed)).sum();
                let shown = if *status == 0 { "other".to_owned() } else { status.to_string() };
                if count > 0 {
                    let labels = vec![("api", (*api).to_owned()), ("status", shown)];
                    family.get_or_create(&labels).inc_by(count);
                }
            }
        }
        family
    }

    /// How long the requests of each API took, whatever their status.
    pub(super) fn latencies(&self) -> Latencies {
        let of = |at: usize| {
            let counts: [u64; BUCKETS] = std::array::from_fn(|bucket| {
                self.requests[at].iter().map(|of| of[bucket].load(Relaxed)).sum()
            });
            (APIS[at].1, self.nanos[at].load(Relaxed) as f64 / 1e9, counts)
        };
        Latencies((0..APIS.len()).map(of).collect())
    }
}

/// Name, seconds together, and the counts of the buckets, of each API.
#[derive(Debug)]
pub(super) struct Latencies(Vec<(&'static str, f64, [u64; BUCKETS])>);

impl Collector for Latencies {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let help = "How long requests took, by API";
        let mut metric = encoder.encode_descriptor("request_seconds", help, None, MetricType::Histogram)?;
        let ends = ENDS_US.iter().map(|end| *end as f64 / 1e6).chain([f64::INFINITY]);
        for (api, seconds, counts) in &self.0 {
            let buckets: Vec<(f64, u64)> = ends.clone().zip(counts.iter().copied()).collect();
            let labels = [("api", *api)];
            let mut of_api = metric.encode_family(&labels)?;
            of_api.encode_histogram::<NoLabelSet>(*seconds, counts.iter().sum(), &buckets, None)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prometheus_client::encoding::text::encode;
    use prometheus_client::registry::Registry;

    #[test]
    fn a_request_is_in_its_row_and_in_its_bucket() {
        let counts = RequestCounts::default();
        for (path, status, took_us) in [
            ("/api/segment/get/order", 200, 50),
            ("/api/segment/get/order", 200, 51),
            ("/api/segment/get/order", 503, 20_000_000),
            ("/api/segment/range/order", 200, 100),
            ("/health", 418, 0),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            counts.count(Api::of(path), status, Duration::from_micros(took_us));
        }
        let mut registry = Registry::with_prefix("leafid_server");
        registry.register("requests", "of each", counts.family());
        registry.register_collector(Box::new(counts.latencies()));
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        for line in [
            "leafid_server_requests_total{api=\"segment\",status=\"200\"} 2",
            "leafid_server_requests_total{api=\"segment\",status=\"503\"} 1",
            "leafid_server_requests_total{api=\"range\",status=\"200\"} 1",
            "leafid_server_requests_total{api=\"other\",status=\"other\"} 1",
            "leafid_server_request_seconds_bucket{le=\"0.00005\",api=\"segment\"} 1",
            "leafid_server_request_seconds_bucket{le=\"0.0001\",api=\"segment\"} 2",
            "leafid_server_request_seconds_bucket{le=\"10.0\",api=\"segment\"} 2",
            "leafid_server_request_seconds_bucket{le=\"+Inf\",api=\"segment\"} 3",
            "leafid_server_request_seconds_count{api=\"segment\"} 3",
            "leafid_server_request_seconds_sum{api=\"segment\"} 20.000101",
            "leafid_server_request_seconds_count{api=\"claim\"} 0",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }

    #[test]
    fn each_path_has_its_name() {
        let named = |path: &str| -> &'static str { APIS[Api::of(path).0].1 };
        for (start, name) in APIS {
            assert_eq!(named(&format!("{start}x")), name);
        }
        assert_eq!((named("/api/segment"), named("")), ("other", "other"));
    }
}
