//! Refuses what goes beyond the rate of a client.

use super::answer;
use super::app::App;
use super::guard::MOST_BODY;
use super::rate_limits::Client;
use crate::access::Grant;
use axum::body::{Body, to_bytes};
use axum::extract::{Extension, Request, State};
use axum::http::{Response, StatusCode};
use axum::middleware::Next;
use serde::Serialize;
use std::sync::Arc;

#[derive(Serialize)]
struct TooManyBody<'m> {
    error: &'m str,
    message: &'m str,
}

/// It comes after the guard.
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
            // With its body unread the connection would be closed, perhaps before the client has read why.
            let _ = to_bytes(request.into_body(), MOST_BODY).await;
            let body = TooManyBody { error: "too_many_requests", message: too_many.message() };
            too_many.marked(answer::json(StatusCode::TOO_MANY_REQUESTS, &body))
        }
    }
}
