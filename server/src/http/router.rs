//! What each listener serves, and the bounds of all requests.

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
use super::routes::{Answered, Methods, Routes, any_method, get, post};
use super::status;
use super::tinyid;
use crate::scope::Scope;
use crate::traces::{self, RequestSpan};
use axum::body::{Body, HttpBody};
use axum::extract::{DefaultBodyLimit, Request};
use axum::handler::Handler;
use axum::http;
use axum::response::Response;
use futures_util::FutureExt;
use futures_util::future::{Either, ready};
use hyper::body::Incoming;
use leafid_core::{Code, Error};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;
use tokio::time::timeout_at;

/// What a listener serves, within the bounds of all requests.
pub(crate) struct Served {
    app: Arc<App>,
    routes: Routes<Arc<App>>,
}

/// What everybody may ask for who has the tokens.
pub(crate) fn public_api(app: &Arc<App>) -> Served {
    let hosts = Arc::new(Hosts::new(&app.options, app.options.listen));
    let paced = |scope| guard(&hosts, scope, true);
    let (ids, ranges, claims) = (paced(Scope::Ids), paced(Scope::Ranges), paced(Scope::Leases));
    // They keep or end what was granted: a refusal would take a worker id from a process that works.
    let held = guard(&hosts, Scope::Leases, false);
    let routes = Routes::new(leaf::not_found).with([
        ("/api/segment/get/{tag}", guarded(&ids, leaf::segment)),
        ("/api/snowflake/get/{tag}", guarded(&ids, leaf::snowflake)),
        ("/api/segment/range/{tag}", post(ranges.before(range::range))),
        ("/api/worker/claim", post(claims.before(lease::claim))),
        ("/api/worker/renew", post(held.before(lease::renew))),
        ("/api/worker/release", post(held.before(lease::release))),
        ("/decodeSnowflakeId", any_method(leaf::decode, leaf::options)),
        // Their token is a word of the request, and they check it themselves.
        ("/tinyid/id/nextId", any_method(tinyid::next_id, leaf::options)),
        ("/tinyid/id/nextIdSimple", any_method(tinyid::next_id_simple, leaf::options)),
        ("/tinyid/id/nextSegmentId", any_method(tinyid::next_segment_id, leaf::options)),
        ("/tinyid/id/nextSegmentIdSimple", any_method(tinyid::next_segment_id_simple, leaf::options)),
    ]);
    let routes = watching(routes, &hosts);
    let routes = match app.options.admin_listen {
        None => administration(routes, &hosts),
        Some(_) => routes,
    };
    Served { app: app.clone(), routes }
}

/// What the address of `--admin-listen` serves.
pub(crate) fn admin_api(app: &Arc<App>, listens: SocketAddr) -> Served {
    let hosts = Arc::new(Hosts::new(&app.options, listens));
    let routes = administration(watching(Routes::new(leaf::not_found), &hosts), &hosts);
    Served { app: app.clone(), routes }
}

fn administration(routes: Routes<Arc<App>>, hosts: &Arc<Hosts>) -> Routes<Arc<App>> {
    let admin = guard(hosts, Scope::Admin, false);
    routes.with([("/api/tag", post(admin.before(admin::set_tag)))])
}

/// What the health of a server is seen by.
fn watching(routes: Routes<Arc<App>>, hosts: &Arc<Hosts>) -> Routes<Arc<App>> {
    let watch = guard(hosts, Scope::Metrics, false);
    routes.with([
        ("/health", get(status::health)),
        ("/ready", get(status::ready)),
        ("/openapi.json", get(status::openapi)),
        ("/monitor", get(monitor::page)),
        ("/monitor/state", get(watch.before(monitor::state))),
        ("/monitor/{file}", get(monitor::file)),
        ("/metrics", get(watch.before(metrics::metrics))),
        ("/cache", guarded(&watch, pages::cache)),
        ("/db", guarded(&watch, pages::db)),
    ])
}

/// A handler behind a gate, by all methods.
fn guarded<T: 'static>(
    guard: &Guard,
    handler: impl Handler<T, Granted, Future = Answered>,
) -> Methods<Arc<App>> {
    any_method(guard.before(handler), guard.before(leaf::options))
}

fn guard(hosts: &Arc<Hosts>, scope: Scope, is_paced: bool) -> Guard {
    Guard::new(Gate { scope, hosts: hosts.clone(), is_paced })
}

impl Served {
    /// Counts each request, and bounds how many there are, and how long each takes. It is no async function, which would
    /// keep the request once more for as long as it is under way.
    pub(super) fn answer(&self, request: http::Request<Incoming>) -> impl Future<Output = Response> + use<> {
        let mut request = with_body(request);
        let span = traces::is_on().then(|| RequestSpan::begin(&request));
        let route = self.routes.find(&mut request);
        let (app, api, begun) =
            (self.app.clone(), route.map_or(Api::OTHER, |route| route.api), Instant::now());
        if let (Some(span), Some(route)) = (&span, route) {
            span.routed(request.method(), route.path);
        }
        // Whether it lives is answered whatever else it does.
        let needs_room = route.is_none_or(|route| !["/health", "/ready"].contains(&route.path));
        let place = needs_room.then(|| app.room.clone().try_acquire_owned()).transpose();
        let answered = match place {
            Err(_) => Either::Left(ready(unavailable("too many requests at a time: see --max-requests"))),
            Ok(place) => {
                let answered = self.routes.answer(route, request, app.clone());
                let answered = timeout_at((begun + app.options.limit()).into(), answered);
                Either::Right(answered.map(move |answered| {
                    drop(place);
                    answered.unwrap_or_else(|_| unavailable("the request took too long"))
                }))
            }
        };
        let answered = answered.map(move |response| {
            app.counts.count(api, response.status(), begun.elapsed());
            response
        });
        match span {
            Some(span) => Either::Left(Box::pin(spanned(span, answered))),
            None => Either::Right(answered),
        }
    }
}

/// A request as handlers take it. Most have no body, and what is kept for one costs time.
pub(super) fn with_body(request: http::Request<Incoming>) -> Request {
    let has_body = !request.body().is_end_stream();
    let mut request = request.map(|body| if has_body { Body::new(body) } else { Body::empty() });
    if has_body {
        DefaultBodyLimit::max(MOST_BODY).apply(&mut request);
    }
    request
}

/// Answers a request within its span.
async fn spanned(span: RequestSpan, answered: impl Future<Output = Response>) -> Response {
    let response = span.within(answered).await;
    span.end(response.status().as_u16());
    response
}

fn unavailable(message: &str) -> Response {
    answer::refused(&Error::new(Code::SegmentUnavailable, message))
}
