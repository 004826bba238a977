//! The paths, and the bounds of all requests.

use super::answer;
use super::app::App;
use super::leaf;
use super::lease;
use super::metrics;
use super::range;
use super::status;
use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::{get, post};
use leafid_core::{Code, Error};
use std::sync::Arc;
use tokio::time::timeout;

/// The largest body of a request: a claim has less than 1 KiB.
const MOST_BODY: usize = 16 * 1024;

pub(super) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/api/segment/get/{tag}", get(leaf::segment).post(leaf::segment))
        .route("/api/snowflake/get/{tag}", get(leaf::snowflake).post(leaf::snowflake))
        .route("/decodeSnowflakeId", get(leaf::decode).post(leaf::decode))
        .route("/api/segment/range/{tag}", post(range::range))
        .route("/api/worker/claim", post(lease::claim))
        .route("/api/worker/renew", post(lease::renew))
        .route("/api/worker/release", post(lease::release))
        .route("/health", get(status::health))
        .route("/ready", get(status::ready))
        .route("/metrics", get(metrics::metrics))
        .fallback(leaf::not_found)
        .layer(DefaultBodyLimit::max(MOST_BODY))
        .layer(from_fn_with_state(app.clone(), limited))
        .with_state(app)
}

/// Counts each request, and bounds how many there are, and how long each takes.
async fn limited(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let response = match app.room.try_acquire() {
        Err(_) => {
            let message = "too many requests at a time: see --max-requests";
            answer::refused(&Error::new(Code::SegmentUnavailable, message))
        }
        Ok(_place) => timeout(app.limit(), next.run(request)).await.unwrap_or_else(|_| {
            answer::refused(&Error::new(Code::SegmentUnavailable, "the request took too long"))
        }),
    };
    app.counts.count(&path, response.status());
    response
}
