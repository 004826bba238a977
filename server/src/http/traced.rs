//! A span for each request.

use crate::traces::RequestSpan;
use axum::body::Body;
use axum::extract::{MatchedPath, Request};
use axum::http::Response;
use axum::middleware::Next;

pub(super) async fn traced(request: Request, next: Next) -> Response<Body> {
    let route = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    let span = RequestSpan::begin(&request, route);
    let response = span.within(next.run(request)).await;
    span.end(response.status().as_u16());
    response
}
