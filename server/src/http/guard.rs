//! Who may make a request, and how often.

use super::answer;
use super::app::App;
use super::hosts::Hosts;
use super::rate_limits::Client;
use super::routes::Answered;
use crate::access::{Denied, Grant};
use crate::scope::Scope;
use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::Request;
use axum::handler::Handler;
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, Response, StatusCode};
use std::sync::Arc;

/// The largest body of a request: a claim has less than 1 KiB.
pub(super) const MOST_BODY: usize = 16 * 1024;

/// What a path asks of its requests.
pub(super) struct Gate {
    pub(super) scope: Scope,
    pub(super) hosts: Arc<Hosts>,
    /// Whether its requests count for the rate of their client.
    pub(super) is_paced: bool,
}

/// Puts a gate before handlers, which get [`Granted`], and check the tag.
#[derive(Clone)]
pub(super) struct Guard(Arc<Gate>);

/// The state of a handler behind a gate.
#[derive(Clone)]
pub(super) struct Granted {
    pub(super) app: Arc<App>,
    pub(super) grant: Grant,
}

/// A handler behind a gate.
#[derive(Clone)]
pub(super) struct Guarded<H> {
    gate: Arc<Gate>,
    handler: H,
}

impl Gate {
    /// Lets requests through whose token has the scope, and without tokens those that no page of another site has sent;
    /// of both those within their client's rate. Otherwise it returns the refusal.
    fn granted(&self, app: &App, request: &Request) -> Result<Grant, Box<Response<Body>>> {
        let grant = self.grant(app, request).map_err(|denied| Box::new(answer::denied(&denied)))?;
        if self.is_paced
            && let Some(limits) = &app.rate_limits
            && let Some(client) = request.extensions().get::<Client>()
            && let Err(too_many) = limits.take(Some(&grant), *client)
        {
            let status = StatusCode::TOO_MANY_REQUESTS;
            let refusal = answer::refusal(status, "too_many_requests", too_many.message());
            return Err(Box::new(too_many.marked(refusal)));
        }
        Ok(grant)
    }

    fn grant(&self, app: &App, request: &Request) -> Result<Grant, Denied> {
        let grant = app.access.grant(bearer(request.headers()))?;
        match grant.has_token() {
            true => grant.check_scope(self.scope)?,
            false => self.hosts.check(request.method(), request.headers(), self.scope)?,
        }
        Ok(grant)
    }
}

impl Guard {
    pub(super) fn new(gate: Gate) -> Guard {
        Guard(Arc::new(gate))
    }

    pub(super) fn before<H>(&self, handler: H) -> Guarded<H> {
        Guarded { gate: self.0.clone(), handler }
    }
}

impl<T, H: Handler<T, Granted, Future = Answered>> Handler<T, Arc<App>> for Guarded<H> {
    type Future = Answered;

    fn call(self, request: Request, app: Arc<App>) -> Self::Future {
        match self.gate.granted(&app, &request) {
            Ok(grant) => self.handler.call(request, Granted { app, grant }),
            Err(refusal) => Box::pin(async {
                // With its body unread the connection would be closed, perhaps before the client has read why.
                hear(request.into_body()).await;
                *refusal
            }),
        }
    }
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
