//! The paths, and the bounds of all requests.

use super::admin;
use super::answer;
use super::app::App;
use super::counts::Api;
use super::guard::{Gate, Granted, Guard, MOST_BODY};
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
use super::traced::{routed, traced};
use crate::scope::Scope;
use crate::traces::{self, RequestSpan};
use axum::Router;
use axum::body::HttpBody;
use axum::extract::{DefaultBodyLimit, Request};
use axum::handler::Handler;
use axum::http::{self, Uri};
use axum::middleware::from_fn;
use axum::response::Response;
use axum::routing::{MethodFilter, MethodRouter, get, on, post};
use futures_util::FutureExt;
use futures_util::future::{Either, ready};
use hyper::body::Incoming;
use leafid_core::{Code, Error};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;
use tokio::time::timeout_at;
use tower_service::Service;

/// What a listener serves, within the bounds of all requests.
pub(crate) struct Served {
    app: Arc<App>,
    routes: Router,
}

/// What everybody may ask for who has the tokens.
pub(crate) fn public_api(app: &Arc<App>) -> Served {
    let hosts = Arc::new(Hosts::new(&app.options, app.options.listen));
    let paced = |scope| guard(&hosts, scope, true);
    let (ids, ranges, claims) = (paced(Scope::Ids), paced(Scope::Ranges), paced(Scope::Leases));
    // They keep or end what was granted: a refusal would take a worker id from a process that works.
    let held = guard(&hosts, Scope::Leases, false);
    let routes = router([
        ("/decodeSnowflakeId", any_method(leaf::decode, leaf::options)),
        ("/api/segment/get/{tag}", guarded(&ids, leaf::segment)),
        ("/api/snowflake/get/{tag}", guarded(&ids, leaf::snowflake)),
        ("/api/segment/range/{tag}", post(ranges.before(range::range))),
        ("/api/worker/claim", post(claims.before(lease::claim))),
        ("/api/worker/renew", post(held.before(lease::renew))),
        ("/api/worker/release", post(held.before(lease::release))),
    ]);
    let routes = routes.merge(tinyids()).merge(watching(&hosts));
    let routes = match app.options.admin_listen {
        None => routes.merge(administration(&hosts)),
        Some(_) => routes,
    };
    served(app, routes)
}

/// What the address of `--admin-listen` serves.
pub(crate) fn admin_api(app: &Arc<App>, listens: SocketAddr) -> Served {
    let hosts = Arc::new(Hosts::new(&app.options, listens));
    served(app, watching(&hosts).merge(administration(&hosts)))
}

fn administration(hosts: &Arc<Hosts>) -> Router<Arc<App>> {
    let admin = guard(hosts, Scope::Admin, false);
    router([("/api/tag", post(admin.before(admin::set_tag)))])
}

/// Their token is a word of the request, and they check it themselves.
fn tinyids() -> Router<Arc<App>> {
    router([
        ("/tinyid/id/nextId", any_method(tinyid::next_id, leaf::options)),
        ("/tinyid/id/nextIdSimple", any_method(tinyid::next_id_simple, leaf::options)),
        ("/tinyid/id/nextSegmentId", any_method(tinyid::next_segment_id, leaf::options)),
        ("/tinyid/id/nextSegmentIdSimple", any_method(tinyid::next_segment_id_simple, leaf::options)),
    ])
}

/// A router of these routes. Spans are named by their paths.
fn router<const N: usize>(routes: [(&'static str, MethodRouter<Arc<App>>); N]) -> Router<Arc<App>> {
    routes.into_iter().fold(Router::new(), |router, (path, methods)| {
        let methods = match traces::is_on() {
            true => methods.layer(from_fn(move |request, next| routed(path, request, next))),
            false => methods,
        };
        router.route(path, methods)
    })
}

/// A handler of Spring that names no method takes all of them, and Spring answers OPTIONS itself.
fn any_method<T: 'static, O: 'static>(
    handler: impl Handler<T, Arc<App>>,
    options: impl Handler<O, Arc<App>>,
) -> MethodRouter<Arc<App>> {
    let posts = MethodFilter::POST.or(MethodFilter::PUT).or(MethodFilter::PATCH);
    on(MethodFilter::GET.or(posts).or(MethodFilter::DELETE), handler).options(options)
}

/// The same behind a gate.
fn guarded<T: 'static>(guard: &Guard, handler: impl Handler<T, Granted>) -> MethodRouter<Arc<App>> {
    any_method(guard.before(handler), guard.before(leaf::options))
}

/// What the health of a server is seen by.
fn watching(hosts: &Arc<Hosts>) -> Router<Arc<App>> {
    let watch = guard(hosts, Scope::Metrics, false);
    router([
        ("/health", get(status::health)),
        ("/ready", get(status::ready)),
        ("/openapi.json", get(status::openapi)),
        ("/monitor", get(monitor::page)),
        ("/monitor/{file}", get(monitor::file)),
        ("/metrics", get(watch.before(metrics::metrics))),
        ("/cache", guarded(&watch, pages::cache)),
        ("/db", guarded(&watch, pages::db)),
        ("/monitor/state", get(watch.before(monitor::state))),
    ])
}

fn guard(hosts: &Arc<Hosts>, scope: Scope, is_paced: bool) -> Guard {
    Guard::new(Gate { scope, hosts: hosts.clone(), is_paced })
}

fn served(app: &Arc<App>, routes: Router<Arc<App>>) -> Served {
    let again = routes.clone().fallback(leaf::not_found).with_state(app.clone());
    let routes = routes.fallback(move |request: Request| respelled(again, request));
    Served { app: app.clone(), routes: routes.with_state(app.clone()) }
}

impl Served {
    /// The answers are no async functions: each would keep the request once more for as long as it is under way.
    pub(super) fn answer(&self, request: http::Request<Incoming>) -> impl Future<Output = Response> + use<> {
        let span = traces::is_on().then(|| RequestSpan::begin(&request));
        let answered = self.bounded(request);
        match span {
            Some(span) => Either::Left(Box::pin(traced(span, answered))),
            None => Either::Right(answered),
        }
    }

    /// Counts each request, and bounds how many there are, and how long each takes.
    fn bounded(&self, mut request: http::Request<Incoming>) -> impl Future<Output = Response> + use<> {
        let (app, api, begun) = (self.app.clone(), Api::of(request.uri().path()), Instant::now());
        // Most have none, and what is kept for a request costs time.
        if !request.body().is_end_stream() {
            DefaultBodyLimit::max(MOST_BODY).apply(&mut request);
        }
        let answered = match app.room.clone().try_acquire_owned() {
            Err(_) => Either::Left(ready(unavailable("too many requests at a time: see --max-requests"))),
            Ok(place) => {
                let answered = self.routes.clone().call(request);
                let answered = timeout_at((begun + app.options.limit()).into(), answered);
                Either::Right(answered.map(move |answered| {
                    drop(place);
                    let Ok(response) =
                        answered.unwrap_or_else(|_| Ok(unavailable("the request took too long")));
                    response
                }))
            }
        };
        answered.map(move |response| {
            app.counts.count(api, response.status(), begun.elapsed());
            response
        })
    }
}

fn unavailable(message: &str) -> Response {
    answer::refused(&Error::new(Code::SegmentUnavailable, message))
}

/// Looks for the route of a path as a Leaf reads it, after there was none of the path as it is.
async fn respelled(mut again: Router, mut request: Request) -> Response {
    if let Some(uri) = plain_uri(request.uri()) {
        *request.uri_mut() = uri;
    }
    let Ok(response) = again.call(request).await;
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
