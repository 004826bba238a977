//! The paths, and the bounds of all requests.

use super::admin;
use super::answer;
use super::app::App;
use super::counts::Api;
use super::guard::{Gate, MOST_BODY, guard, paced};
use super::hosts::Hosts;
use super::leaf;
use super::lease;
use super::metrics;
use super::monitor;
use super::pages;
use super::range;
use super::spelling;
use super::status;
use super::tinyid;
use super::traced::traced;
use crate::scope::Scope;
use crate::traces;
use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::handler::Handler;
use axum::http::Uri;
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::Response;
use axum::routing::{MethodFilter, MethodRouter, get, on, post};
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use leafid_core::{Code, Error};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;
use tokio::time::timeout;

/// What everybody may ask for who has the tokens.
pub(crate) fn public_api(app: &Arc<App>) -> Router {
    let hosts = Arc::new(Hosts::new(&app.options, app.options.listen));
    let guarded = |app: &Arc<App>, scope, routes| guarded(app, &hosts, scope, routes);
    let ids = Router::new()
        .route("/api/segment/get/{tag}", any_method(leaf::segment))
        .route("/api/snowflake/get/{tag}", any_method(leaf::snowflake));
    let ranges = Router::new().route("/api/segment/range/{tag}", post(range::range));
    let claims = Router::new().route("/api/worker/claim", post(lease::claim));
    // They keep or end what was granted: a refusal would take a worker id from a process that works.
    let held = Router::new()
        .route("/api/worker/renew", post(lease::renew))
        .route("/api/worker/release", post(lease::release));
    let open = Router::new().route("/decodeSnowflakeId", any_method(leaf::decode));
    let routes = open
        .merge(guarded(app, Scope::Ids, bounded_rate(app, ids)))
        .merge(guarded(app, Scope::Ranges, bounded_rate(app, ranges)))
        .merge(guarded(app, Scope::Leases, bounded_rate(app, claims).merge(held)))
        .merge(tinyids())
        .merge(watching(app, &hosts));
    let routes = match app.options.admin_listen {
        None => routes.merge(administration(app, &hosts)),
        Some(_) => routes,
    };
    bounded(app, routes)
}

/// What the address of `--admin-listen` serves.
pub(crate) fn admin_api(app: &Arc<App>, listens: SocketAddr) -> Router {
    let hosts = Arc::new(Hosts::new(&app.options, listens));
    bounded(app, watching(app, &hosts).merge(administration(app, &hosts)))
}

fn administration(app: &Arc<App>, hosts: &Arc<Hosts>) -> Router<Arc<App>> {
    guarded(app, hosts, Scope::Admin, Router::new().route("/api/tag", post(admin::set_tag)))
}

/// Their token is a word of the request, and they check it themselves.
fn tinyids() -> Router<Arc<App>> {
    Router::new()
        .route("/tinyid/id/nextId", any_method(tinyid::next_id))
        .route("/tinyid/id/nextIdSimple", any_method(tinyid::next_id_simple))
        .route("/tinyid/id/nextSegmentId", any_method(tinyid::next_segment_id))
        .route("/tinyid/id/nextSegmentIdSimple", any_method(tinyid::next_segment_id_simple))
}

/// A handler of Spring that names no method takes all of them.
fn any_method<T: 'static>(handler: impl Handler<T, Arc<App>>) -> MethodRouter<Arc<App>> {
    let posts = MethodFilter::POST.or(MethodFilter::PUT).or(MethodFilter::PATCH);
    on(MethodFilter::GET.or(posts).or(MethodFilter::DELETE), handler).options(leaf::options)
}

/// What the health of a server is seen by.
fn watching(app: &Arc<App>, hosts: &Arc<Hosts>) -> Router<Arc<App>> {
    let watched = Router::new()
        .route("/metrics", get(metrics::metrics))
        .route("/cache", any_method(pages::cache))
        .route("/db", any_method(pages::db))
        .route("/monitor/state", get(monitor::state));
    Router::new()
        .route("/health", get(status::health))
        .route("/ready", get(status::ready))
        .route("/openapi.json", get(status::openapi))
        .route("/monitor", get(monitor::page))
        .route("/monitor/{file}", get(monitor::file))
        .merge(guarded(app, hosts, Scope::Metrics, watched))
}

fn guarded(app: &Arc<App>, hosts: &Arc<Hosts>, scope: Scope, routes: Router<Arc<App>>) -> Router<Arc<App>> {
    let gate = Gate { app: app.clone(), scope, hosts: hosts.clone() };
    routes.route_layer(from_fn_with_state(Arc::new(gate), guard))
}

fn bounded_rate(app: &Arc<App>, routes: Router<Arc<App>>) -> Router<Arc<App>> {
    match app.rate_limits {
        Some(_) => routes.route_layer(from_fn_with_state(app.clone(), paced)),
        None => routes,
    }
}

fn bounded(app: &Arc<App>, routes: Router<Arc<App>>) -> Router {
    let again = routes.clone().fallback(leaf::not_found).with_state(app.clone());
    let routes = routes
        .fallback(move |request: Request| respelled(again, request))
        .layer(DefaultBodyLimit::max(MOST_BODY))
        .layer(from_fn_with_state(app.clone(), limited));
    let routes = if traces::is_on() { routes.layer(from_fn(traced)) } else { routes };
    routes.with_state(app.clone())
}

/// Looks for the route of a path as a Leaf reads it, after there was none of the path as it is.
async fn respelled(again: Router, mut request: Request) -> Response {
    if let Some(uri) = plain_uri(request.uri()) {
        *request.uri_mut() = uri;
    }
    let Ok(response) = TowerToHyperService::new(again).call(request).await;
    response
}

fn plain_uri(uri: &Uri) -> Option<Uri> {
    let (mut parts, mut path) = (uri.clone().into_parts(), spelling::plain(uri.path())?);
    if let Some(query) = uri.query() {
        path = path + "?" + query;
    }
    parts.path_and_query = Some(path.parse().ok()?);
    Uri::from_parts(parts).ok()
}

/// Counts each request, and bounds how many there are, and how long each takes.
async fn limited(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let (api, begun) = (Api::of(request.uri().path()), Instant::now());
    let response = match app.room.try_acquire() {
        Err(_) => {
            let message = "too many requests at a time: see --max-requests";
            answer::refused(&Error::new(Code::SegmentUnavailable, message))
        }
        Ok(_place) => timeout(app.options.limit(), next.run(request)).await.unwrap_or_else(|_| {
            answer::refused(&Error::new(Code::SegmentUnavailable, "the request took too long"))
        }),
    };
    app.counts.count(api, response.status(), begun.elapsed());
    response
}
