//! Who may make a request.

use super::answer;
use super::app::App;
use super::hosts::Hosts;
use crate::access::{Denied, Grant};
use crate::scope::Scope;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, Response, StatusCode};
use axum::middleware::Next;
use serde::Serialize;
use std::sync::Arc;

/// The largest body of a request: a claim has less than 1 KiB.
pub(super) const MOST_BODY: usize = 16 * 1024;

#[derive(Serialize)]
struct DeniedBody<'d> {
    error: &'d str,
    message: &'d str,
}

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
        Err(denied) => {
            // With its body unread the connection would be closed, perhaps before the client has read why.
            let _ = to_bytes(request.into_body(), MOST_BODY).await;
            refused(&denied)
        }
    }
}

/// Errors: the response.
pub(super) fn check_tag(grant: &Grant, tag: &str) -> Result<(), Box<Response<Body>>> {
    grant.check_tag(tag).map_err(|denied| Box::new(refused(&denied)))
}

/// The token of a request.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

pub(super) fn refused(denied: &Denied) -> Response<Body> {
    let (status, error, message) = match denied {
        Denied::Unknown(message) => (StatusCode::UNAUTHORIZED, "unauthorized", message),
        Denied::Forbidden(message) => (StatusCode::FORBIDDEN, "forbidden", message),
    };
    let mut response = answer::json(status, &DeniedBody { error, message });
    if status == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}
