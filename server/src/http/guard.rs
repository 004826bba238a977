//! Who may make a request, and how often.

use super::answer;
use super::app::App;
use super::hosts::Hosts;
use super::rate_limits::Client;
use crate::access::Grant;
use crate::scope::Scope;
use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::{Extension, Request, State};
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, Response, StatusCode};
use axum::middleware::Next;
use std::sync::Arc;

/// The largest body of a request: a claim has less than 1 KiB.
pub(super) const MOST_BODY: usize = 16 * 1024;

/// What a path asks of its requests.
pub(super) struct Gate {
    pub(super) app: Arc<App>,
    pub(super) scope: Scope,
    pub(super) hosts: Arc<Hosts>,
}

/// Lets requests through whose token has the scope, and without tokens those that no page of another site has sent.
/// Their handlers find the [`Grant`], and check the tag.
pub(super) async fn guard(State(gate): State<Arc<Gate>>, mut request: Request, next: Next) -> Response<Body> {
    let granted = gate.app.access.grant(bearer(request.headers())).and_then(|grant| {
        match grant.has_token() {
            true => grant.check_scope(gate.scope)?,
            false => gate.hosts.check(request.method(), request.headers(), gate.scope)?,
        }
        Ok(grant)
    });
    match granted {
        Ok(grant) => {
            request.extensions_mut().insert(grant);
            next.run(request).await
        }
        Err(denied) => unheard(request, answer::denied(&denied)).await,
    }
}

/// Refuses what goes beyond the rate of a client. It comes after the guard.
pub(super) async fn paced(
    State(app): State<Arc<App>>,
    Extension(grant): Extension<Grant>,
    request: Request,
    next: Next,
) -> Response<Body> {
    let address = request.extensions().get::<Client>().copied();
    let (Some(limits), Some(address)) = (&app.rate_limits, address) else { return next.run(request).await };
    match limits.take(Some(&grant), address) {
        Ok(()) => next.run(request).await,
        Err(too_many) => {
            let status = StatusCode::TOO_MANY_REQUESTS;
            let response = answer::refusal(status, "too_many_requests", too_many.message());
            unheard(request, too_many.marked(response)).await
        }
    }
}

/// With its body unread the connection would be closed, perhaps before the client has read why.
async fn unheard(request: Request, response: Response<Body>) -> Response<Body> {
    hear(request.into_body()).await;
    response
}

/// Takes the body of a request that asks for nothing by it.
pub(super) async fn hear(body: Body) {
    if !body.is_end_stream() {
        let _ = Box::pin(to_bytes(body, MOST_BODY)).await;
    }
}

/// The token of a request.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
