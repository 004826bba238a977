//! Responses.

use crate::access::Denied;
use axum::body::Body;
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, Response, StatusCode};
use axum::response::IntoResponse;
use leafid_core::{Code, Error};
use serde::Serialize;

pub(super) const JSON: &str = "application/json;charset=UTF-8";
pub(super) const TEXT: &str = "text/plain;charset=UTF-8";

/// Of all answers that say nothing else. No cache may keep one: an id that is served again is given twice.
pub(super) fn uncached(mut response: Response<Body>) -> Response<Body> {
    response.headers_mut().entry(CACHE_CONTROL).or_insert(const { HeaderValue::from_static("no-store") });
    response
}

/// A response with this body.
pub(super) fn body(status: StatusCode, content_type: &'static str, body: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
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
struct RefusalBody<'e> {
    error: &'e str,
    message: &'e str,
}

/// Why a request is refused.
pub(super) enum Refusal {
    Denied(Denied),
    Error(Error),
}

/// What most handlers return.
pub(super) type Handled = std::result::Result<Response<Body>, Refusal>;

impl From<Denied> for Refusal {
    fn from(denied: Denied) -> Refusal {
        Refusal::Denied(denied)
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Refusal {
        Refusal::Error(error)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response<Body> {
        match self {
            Refusal::Denied(refused) => denied(&refused),
            Refusal::Error(error) => refused(&error),
        }
    }
}

pub(super) fn refusal(status: StatusCode, error: &str, message: &str) -> Response<Body> {
    json(status, &RefusalBody { error, message })
}

pub(super) fn denied(denied: &Denied) -> Response<Body> {
    match denied {
        Denied::Forbidden(message) => refusal(StatusCode::FORBIDDEN, "forbidden", message),
        Denied::Unknown(message) => {
            let mut response = refusal(StatusCode::UNAUTHORIZED, "unauthorized", message);
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            response
        }
    }
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
    refusal(status, code.name(), error.message())
}

/// Whether the client likes JSON best: by its `q`, and of equals by its place, as Spring sorts them.
pub(super) fn wants_json(headers: &HeaderMap) -> bool {
    let accept = headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    // Most ask for whatever comes.
    if !accept.contains("application/json") {
        return false;
    }
    let mut best = (0.0, false);
    for kind in accept.split(',') {
        let mut words = kind.split(';').map(str::trim);
        let is_json = match words.next() {
            Some("application/json") => true,
            Some("text/plain" | "text/html") => false,
            _ => continue,
        };
        let q = words.find_map(|word| word.strip_prefix("q=")).map_or(1.0, |q| q.parse().unwrap_or(0.0));
        if q > best.0 {
            best = (q, is_json);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_is_the_one_that_the_client_likes_best() {
        for (accept, is_json) in [
            ("application/json", true),
            ("application/json;charset=UTF-8", true),
            ("application/json, text/plain, */*", true),
            ("*/*, application/json", true),
            ("text/plain;q=0.5, application/json; q=0.9", true),
            ("application/json;q=0.1", true),
            // RestTemplate.getForObject(…, String.class)
            ("text/plain, application/json, application/*+json, */*", false),
            ("application/json;q=0.9, text/plain", false),
            ("text/html,application/json;q=0.9,*/*;q=0.8", false),
            ("application/json;q=0", false),
            ("application/json;q=x, */*", false),
            ("*/*", false),
            ("", false),
        ] {
            let headers = [(axum::http::header::ACCEPT, HeaderValue::from_static(accept))];
            assert_eq!(wants_json(&headers.into_iter().collect()), is_json, "{accept}");
        }
    }
}
