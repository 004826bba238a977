//! The monitor page, and the figures that it asks for every second.
//!
//! The page itself holds nothing secret, so it needs no token. No foreign text is in it: what it shows, its script
//! sets as text.

use super::answer::{self, Handled};
use super::app::App;
use super::guard::Granted;
use super::leaf;
use super::monitor_leases::{LeasesView, PATIENCE};
use super::monitor_tags::{Order, TagsView, Wanted};
use crate::access::Grant;
use crate::clock::running;
use crate::holder::Holder;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{Response, StatusCode, Uri};
use leafid_core::{Code, Error, Result};
use serde::Serialize;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Nothing but this server's own files, and no script in the page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const PAGE: &str = include_str!("monitor/page.html");
/// Name, type and text.
const FILES: [(&str, &str, &str); 7] = [
    ("style.css", CSS, include_str!("monitor/style.css")),
    ("page.js", SCRIPT, include_str!("monitor/page.js")),
    ("session.js", SCRIPT, include_str!("monitor/session.js")),
    ("tags.js", SCRIPT, include_str!("monitor/tags.js")),
    ("workers.js", SCRIPT, include_str!("monitor/workers.js")),
    ("text.js", SCRIPT, include_str!("monitor/text.js")),
    ("icon.svg", "image/svg+xml", include_str!("monitor/icon.svg")),
];
const HTML: &str = "text/html;charset=UTF-8";
const CSS: &str = "text/css;charset=UTF-8";
const SCRIPT: &str = "text/javascript;charset=UTF-8";
/// A larger page number is a mistake.
const MOST_PAGES: usize = 1_000_000;

/// The answer of /monitor/state.
#[derive(Serialize)]
struct MonitorState {
    server: ServerView,
    /// Those of this store, this one among them.
    servers: Vec<Holder>,
    store: StoreView,
    #[serde(flatten)]
    tags: TagsView,
    leases: LeasesView,
}

#[derive(Serialize)]
struct ServerView {
    version: &'static str,
    host: String,
    pid: String,
    url: String,
    uptime_ms: u64,
    is_stopping: bool,
}

#[derive(Serialize)]
struct StoreView {
    kind: &'static str,
    is_up: bool,
    /// How long the last look at it took.
    latency_ms: Option<f64>,
    error: Option<String>,
}

pub(super) async fn page() -> Response<Body> {
    secured(answer::body(StatusCode::OK, HTML, PAGE.to_owned()), "no-cache")
}

/// A file of the page.
pub(super) async fn file(State(app): State<Arc<App>>, uri: Uri) -> Response<Body> {
    let name = uri.path().rsplit('/').next().unwrap_or_default();
    match FILES.iter().find(|file| file.0 == name) {
        Some((_, kind, text)) => secured(answer::body(StatusCode::OK, kind, (*text).to_owned()), "no-cache"),
        None => leaf::not_found(State(app), uri).await,
    }
}

pub(super) async fn state(
    State(Granted { app, grant }): State<Granted>,
    Query(words): Query<HashMap<String, String>>,
) -> Handled {
    Ok(secured(answer::json(StatusCode::OK, &figures(&app, grant, &words).await?), "no-store"))
}

async fn figures(app: &Arc<App>, grant: Grant, words: &HashMap<String, String>) -> Result<MonitorState> {
    let wanted = wanted(words)?;
    let own = app.snowflake.as_ref().and_then(|snowflake| snowflake.worker_id());
    let look = app.monitor_leases.look(&app.store, PATIENCE).await;
    let servers = look.servers().to_vec();
    let leases = look.view(&app.options, &grant, words.get("name").map(String::as_str), own);
    // With very many tags this takes some milliseconds of computing.
    let of = app.clone();
    let tags = tokio::task::spawn_blocking(move || of.monitor_tags.view(&of.tags, &grant, &wanted)).await;
    let tags = tags.map_err(|error| Error::new(Code::Internal, format!("no figures of tags: {error}")))?;
    let error = app.store_error.lock().as_ref().map(|error| error.message().to_owned());
    Ok(MonitorState {
        servers,
        server: ServerView {
            version: env!("CARGO_PKG_VERSION"),
            host: app.who.host.clone(),
            pid: app.who.pid.clone(),
            url: app.who.url.clone(),
            uptime_ms: running().saturating_sub(app.started).as_millis() as u64,
            is_stopping: app.is_stopping.load(Relaxed),
        },
        store: StoreView {
            kind: app.store.name(),
            is_up: error.is_none(),
            latency_ms: app.store_time.lock().map(as_ms),
            error,
        },
        tags,
        leases,
    })
}

/// Errors: `invalid_argument`.
fn wanted(words: &HashMap<String, String>) -> Result<Wanted> {
    let page = match words.get("page").map(|text| (text, text.parse())) {
        None => 0,
        Some((_, Ok(page))) if page <= MOST_PAGES => page,
        Some((text, _)) => {
            return Err(Error::invalid("page", format!("{text:?}"), &format!("0 to {MOST_PAGES}")));
        }
    };
    let order = match words.get("order").map_or("busiest", String::as_str) {
        "busiest" => Order::Busiest,
        "urgent" => Order::Urgent,
        "name" => Order::Name,
        text => return Err(Error::invalid("order", format!("{text:?}"), "busiest, urgent, name")),
    };
    let search = words.get("search").map_or("", String::as_str).to_lowercase();
    Ok(Wanted { search, order, page })
}

/// Milliseconds, with digits enough to look at.
pub(super) fn as_ms(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e5).round() / 100.0
}

fn secured(mut response: Response<Body>, cache: &'static str) -> Response<Body> {
    let set: [(HeaderName, &str); 4] = [
        (CACHE_CONTROL, cache),
        (CONTENT_SECURITY_POLICY, POLICY),
        (REFERRER_POLICY, "no-referrer"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    for (name, value) in set {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
