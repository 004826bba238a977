//! The metrics of worker ids: those of this server's own snowflakes, as the library shows its own, and the claims.

use super::app::App;
use super::counts::Labels;
use super::monitor_leases::Held;
use crate::access::Grant;
use leafid_core::Layout;
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::registry::Registry;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

type Seconds = Gauge<f64, AtomicU64>;

/// Names and leases beyond these are left out: a page of all would be too long.
const MOST_NAMES: usize = 1_000;
/// How long a store may take to say what is leased. Whoever asks waits for ten seconds, as a rule.
const PATIENCE: Duration = Duration::from_secs(2);

/// With `leafid_snowflake_handles` alerts and `leafid check --against` see this server as any other host.
pub(super) fn own(app: &App, grant: &Grant) -> Registry {
    let mut registry = Registry::with_prefix("leafid");
    let handles: Family<Labels, Gauge> = Family::default();
    let name = &app.options.snowflake_name;
    let worker_id = app.snowflake.as_ref().and_then(|snowflake| snowflake.worker_id());
    if let Some(worker_id) = worker_id.filter(|_| grant.check_tag(name).is_ok()) {
        let labels = vec![
            ("name", name.clone()),
            ("worker_id", worker_id.to_string()),
            ("state_dir", String::new()),
            ("layout", Layout::LEAF.to_string()),
        ];
        handles.get_or_create(&labels).set(1);
    }
    registry.register("snowflake_handles", "1 for this server's own snowflakes", handles);
    registry
}

/// What is leased, and to whom.
pub(super) async fn leased(app: &App, grant: &Grant, registry: &mut Registry) {
    let workers: Family<Labels, Gauge> = Family::default();
    let ends = [("first", app.options.workers.start()), ("last", app.options.workers.end())];
    workers.get_or_create(&ends.map(|(label, id)| (label, id.to_string())).to_vec()).set(1);
    registry.register("workers", "The worker ids to lease, as labels", workers);
    let claims: Family<Labels, Counter> = Family::default();
    let counted = app.counts.claims();
    for (name, count) in counted.iter().filter(|(name, _)| grant.check_tag(name).is_ok()).take(MOST_NAMES) {
        claims.get_or_create(&vec![("name", name.clone())]).inc_by(*count);
    }
    registry.register("claims", "Claims over HTTP that were granted, by id space", claims);
    let refused = ConstCounter::new(app.counts.claims_refused());
    registry.register("claims_refused", "Claims over HTTP that were refused with worker_in_use", refused);
    let seconds = ConstGauge::new(app.options.lease_ms as f64 / 1e3);
    registry.register("lease_seconds", "How long a lease lasts without a renewal", seconds);
    let (count, left, ahead): (Family<Labels, Gauge>, Family<Labels, Seconds>, Family<Labels, Seconds>) =
        Default::default();
    let look = app.monitor_leases.look(&app.store, PATIENCE.min(app.options.timeout())).await;
    // An old one would say that all leases end soon.
    let held = if look.is_old() { Vec::new() } else { look.held(grant) };
    for of_name in held.chunk_by(|one, other| one.row.name == other.row.name).take(MOST_NAMES) {
        count.get_or_create(&vec![("name", of_name[0].row.name.clone())]).inc_by(of_name.len() as i64);
    }
    for Held { row, left_ms } in held.iter().take(MOST_NAMES) {
        let labels = vec![
            ("name", row.name.clone()),
            ("worker_id", row.worker_id.to_string()),
            ("host", row.holder.host.clone()),
            ("pid", row.holder.pid.clone()),
            ("version", row.holder.version.clone()),
        ];
        left.get_or_create(&labels).set(*left_ms as f64 / 1e3);
        ahead.get_or_create(&labels).set(row.clock_ahead_ms as f64 / 1e3);
    }
    registry.register(
        "leases",
        "Worker ids that are held, by id space, of the first 10,000 of the store",
        count,
    );
    registry.register("lease_left_seconds", "Until a lease ends unless it is renewed", left);
    registry.register(
        "lease_clock_ahead_seconds",
        "How far the holder's clock was ahead at its claim",
        ahead,
    );
}
