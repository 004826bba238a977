//! Responses.

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use axum::http::{HeaderMap, Response, StatusCode};
use leafid_core::{Code, Error};
use serde::Serialize;

pub(super) const JSON: &str = "application/json;charset=UTF-8";
pub(super) const TEXT: &str = "text/plain;charset=UTF-8";

/// A response with this body. No cache may keep it: an id that is served again is given twice.
pub(super) fn body(status: StatusCode, content_type: &'static str, body: String) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// A JSON body.
pub(super) fn json(status: StatusCode, value: &impl Serialize) -> Response<Body> {
    match serde_json::to_string(value) {
        Ok(text) => body(status, JSON, text),
        Err(error) => body(StatusCode::INTERNAL_SERVER_ERROR, TEXT, error.to_string()),
    }
}

#[derive(Serialize)]
struct Refusal<'e> {
    error: &'e str,
    message: &'e str,
}

/// An error as the clients of ranges and leases read it.
pub(super) fn refused(error: &Error) -> Response<Body> {
    let (status, code) = match error.code() {
        Code::InvalidArgument => (StatusCode::BAD_REQUEST, Code::InvalidArgument),
        Code::UnknownTag => (StatusCode::NOT_FOUND, Code::UnknownTag),
        code @ (Code::SegmentRegressed | Code::WorkerInUse | Code::WorkerLost) => {
            (StatusCode::CONFLICT, code)
        }
        // The store does not answer, or its row has no ids. Another server may do better.
        _ => (StatusCode::SERVICE_UNAVAILABLE, Code::SegmentUnavailable),
    };
    json(status, &Refusal { error: code.name(), message: error.message() })
}

/// Whether the client asks for JSON.
pub(super) fn wants_json(headers: &HeaderMap) -> bool {
    let accept = headers.get("accept").and_then(|value| value.to_str().ok()).unwrap_or_default();
    accept.split(',').any(|kind| kind.trim().split(';').next() == Some("application/json"))
}
