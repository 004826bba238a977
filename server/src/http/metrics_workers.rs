//! The metrics of worker ids: those of this server's own snowflakes, as the library shows its own, and the claims.

use super::app::App;
use super::counts::Labels;
use crate::access::Grant;
use leafid_core::Layout;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// Names beyond these are left out: a page of all would be too long.
const MOST_NAMES: usize = 1_000;

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

/// What is leased to others.
pub(super) fn leased(app: &App, grant: &Grant, registry: &mut Registry) {
    let workers: Family<Labels, Gauge> = Family::default();
    let ends = [("first", app.options.workers.start()), ("last", app.options.workers.end())];
    workers.get_or_create(&ends.map(|(label, id)| (label, id.to_string())).to_vec()).set(1);
    registry.register("workers", "The worker ids to lease, as labels", workers);
    let claims: Family<Labels, Counter> = Family::default();
    let counted = app.counts.claims();
    for (name, count) in counted.iter().filter(|(name, _)| grant.check_tag(name).is_ok()).take(MOST_NAMES) {
        claims.get_or_create(&vec![("name", name.clone())]).inc_by(*count);
    }
    registry.register("claims", "Worker ids granted by id space", claims);
}
