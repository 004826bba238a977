//! A span for each request.

use crate::traces::{self, RequestSpan};
use axum::body::Body;
use axum::extract::Request;
use axum::http::Response;
use axum::middleware::Next;

/// Answers a request within its span.
pub(super) async fn traced(
    span: RequestSpan,
    answered: impl Future<Output = Response<Body>>,
) -> Response<Body> {
    let response = span.within(answered).await;
    span.end(response.status().as_u16());
    response
}

/// Tells the span its route, which is known behind the router alone.
pub(super) async fn routed(route: &str, request: Request, next: Next) -> Response<Body> {
    traces::routed(request.method(), route);
    next.run(request).await
}
