//! Whether this server lives, and whether it can serve.

use super::answer;
use super::app::App;
use axum::body::Body;
use axum::extract::State;
use axum::http::{Response, StatusCode};
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

#[derive(Serialize)]
pub(super) struct Ready {
    pub(super) ready: bool,
    /// What is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    pub(super) store: String,
    pub(super) tags: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) worker_id: Option<i64>,
}

/// What this server answers, as OpenAPI describes it.
pub(super) async fn openapi() -> Response<Body> {
    answer::body(StatusCode::OK, answer::JSON, include_str!("../../openapi.json").to_owned())
}

/// The process answers.
pub(super) async fn health() -> Response<Body> {
    answer::body(StatusCode::OK, answer::TEXT, "ok\n".to_owned())
}

/// A balancer sends requests here: the store answers, and this server does not stop. Without it the ids in its buffers
/// are still served.
pub(super) async fn ready(State(app): State<Arc<App>>) -> Response<Body> {
    let reason = match app.is_stopping.load(Relaxed) {
        true => Some("this server stops".to_owned()),
        false => app.store_error.lock().as_ref().map(|error| error.message().to_owned()),
    };
    let status = if reason.is_none() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let ready = Ready {
        ready: reason.is_none(),
        reason,
        store: app.store.name().to_owned(),
        tags: app.tags.len(),
        worker_id: app.snowflake.as_ref().and_then(|snowflake| snowflake.worker_id()),
    };
    answer::json(status, &ready)
}
