//! Prometheus' text.

use super::answer;
use super::counts::Labels;
use super::guard::Granted;
use super::metrics_workers;
use axum::body::Body;
use axum::extract::State;
use axum::http::{Response, StatusCode};
use prometheus_client::encoding::text::{encode, encode_registry};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;
use std::sync::atomic::Ordering::Relaxed;

const KIND: &str = "application/openmetrics-text;version=1.0.0;charset=utf-8";
/// Tags beyond these, by name, are in the sums only: a page of all would be too long.
const MOST_TAGS: usize = 1_000;

pub(super) async fn metrics(State(Granted { app, grant }): State<Granted>) -> Response<Body> {
    let mut registry = Registry::with_prefix("leafid_server");
    let build = vec![("version", env!("CARGO_PKG_VERSION")), ("store", app.store.name())];
    registry.register("build", "The version, and the kind of the store", Info::new(build));
    registry.register("requests", "Requests by API and status", app.counts.family());
    registry.register_collector(Box::new(app.counts.latencies()));
    let gauge = ConstGauge::new;
    let seconds = app.store_time.lock().unwrap_or_default().as_secs_f64();
    registry.register(
        "store_look_seconds",
        "How long the last look at the store took",
        ConstGauge::new(seconds),
    );
    let ahead = app.store_ahead_ms.load(Relaxed) as f64 / 1e3;
    registry.register(
        "store_clock_ahead_seconds",
        "How far the store's clock is ahead of this host's",
        ConstGauge::new(ahead),
    );
    let is_up = app.store_error.lock().is_none();
    registry.register("store_up", "Whether the store has answered last", gauge(i64::from(is_up)));
    let worker_id = app.snowflake.as_ref().and_then(|snowflake| snowflake.worker_id());
    registry.register(
        "worker_id",
        "The worker id of this server's snowflakes, or -1",
        gauge(worker_id.unwrap_or(-1)),
    );
    let mut stats = app.tags.stats();
    stats.retain(|tag| grant.check_tag(&tag.name).is_ok());
    registry.register("tags", "Tags that are held", gauge(as_gauge(stats.len() as u64)));
    let (left, step): (Family<Labels, Gauge>, Family<Labels, Gauge>) = Default::default();
    let (taken, ranged): (Family<Labels, Counter>, Family<Labels, Counter>) = Default::default();
    let (fetches, failures): (Family<Labels, Counter>, Family<Labels, Counter>) = Default::default();
    for tag in stats.iter().take(MOST_TAGS) {
        let labels = vec![("tag", tag.name.to_string())];
        left.get_or_create(&labels).set(as_gauge(tag.left));
        taken.get_or_create(&labels).inc_by(tag.taken);
        ranged.get_or_create(&labels).inc_by(tag.ranged);
        step.get_or_create(&labels).set(tag.step);
        fetches.get_or_create(&labels).inc_by(tag.fetches);
        failures.get_or_create(&labels).inc_by(tag.failures);
    }
    registry.register("tag_ids_left", "Ids in the buffer of a tag", left);
    registry.register("tag_ids", "Ids taken from the buffer of a tag", taken);
    registry.register("tag_range_ids", "Ids of a tag that went out in ranges, past its buffer", ranged);
    registry.register("tag_step", "Ids of the last range", step);
    registry.register("tag_fetches", "Ranges asked of the store", fetches);
    registry.register("tag_fetch_failures", "Ranges that did not come", failures);
    metrics_workers::leased(&app, &grant, &mut registry).await;
    let mut text = String::new();
    let own = metrics_workers::own(&app, &grant);
    match encode_registry(&mut text, &own).and_then(|()| encode(&mut text, &registry)) {
        Ok(()) => answer::body(StatusCode::OK, KIND, text),
        Err(error) => answer::body(StatusCode::INTERNAL_SERVER_ERROR, answer::TEXT, error.to_string()),
    }
}

fn as_gauge(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
