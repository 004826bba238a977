//! Leaf's API: one id as bare digits, and failures as Spring's JSON around `Result{id=-2, status=EXCEPTION}`.
//!
//! With `?n=` a request takes many ids: one a line, or a JSON array of texts if the client asks for JSON. Leaf does not
//! know that, so `--strict-leaf` ignores it.

use super::answer::{self, JSON, Refusal, TEXT};
use super::app::App;
use super::guard::{Granted, hear};
use super::spelling;
use super::words::Words;
use crate::access::Grant;
use crate::clock::unix_ms;
use crate::ids::Ids;
use crate::tags::Patience;
use axum::body::Body;
use axum::extract::{FromRequest, Request, State};
use axum::http::header::{ALLOW, CONNECTION, HeaderValue};
use axum::http::{Response, StatusCode, Uri};
use leafid_core::{Code, Error, Layout, Result, Utc, parse_id};
use percent_encoding::percent_decode_str;
use serde::Serialize;
use std::borrow::Cow;
use std::convert::Infallible;
use std::str::Utf8Error;
use std::sync::Arc;
use std::time::Duration;

/// How long a Leaf waits for its second segment.
const LEAFS_PATIENCE: Duration = Duration::from_millis(10);
/// The largest number of ids of one request.
const MOST_BATCH: u32 = 10_000;

/// What a Leaf throws, by the names of its classes.
const NO_ID: &str = "com.sankuai.inf.leaf.server.exception.LeafServerException";
const NO_WORD: &str = "org.springframework.web.bind.MissingServletRequestParameterException";
/// Spring's answer to OPTIONS where a handler takes all methods.
const METHODS: &str = "GET,HEAD,POST,PUT,PATCH,DELETE,OPTIONS";

/// The mode of a request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Segment,
    Snowflake,
}

/// What is read of a request for ids. Its body is heard, and means nothing.
pub(super) struct AskedIds {
    uri: Uri,
    wants_json: bool,
}

/// The body of Spring's errors. A Leaf is of Spring Boot 1.5, whose times are numbers, and which names what was thrown.
#[derive(Serialize)]
struct Spring<'s> {
    timestamp: Timestamp,
    status: u16,
    error: &'s str,
    #[serde(skip_serializing_if = "Option::is_none")]
    exception: Option<&'s str>,
    message: &'s str,
    path: &'s str,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Timestamp {
    Text(String),
    Ms(i64),
}

/// The order is that of Leaf's answer.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Decoded {
    worker_id: String,
    sequence_id: String,
    timestamp: String,
}

impl<S: Send + Sync> FromRequest<S> for AskedIds {
    type Rejection = Infallible;

    async fn from_request(request: Request, _: &S) -> std::result::Result<AskedIds, Infallible> {
        let asked =
            AskedIds { uri: request.uri().clone(), wants_json: answer::wants_json(request.headers()) };
        hear(request.into_body()).await;
        Ok(asked)
    }
}

impl AskedIds {
    /// The last `n` of the query: then a batch is asked for.
    fn n(&self, app: &App) -> Option<Cow<'_, str>> {
        let query = self.uri.query().filter(|_| !app.options.strict_leaf)?;
        form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == "n").last().map(|(_, n)| n)
    }
}

/// The tag of a path: its routes end with it.
pub(super) fn tag(uri: &Uri) -> std::result::Result<Cow<'_, str>, Utf8Error> {
    percent_decode_str(uri.path().rsplit('/').next().unwrap_or_default()).decode_utf8()
}

pub(super) async fn segment(
    State(Granted { app, grant }): State<Granted>,
    asked: AskedIds,
) -> Response<Body> {
    let path = asked.uri.path();
    let tag = match tag(&asked.uri) {
        Ok(tag) => tag,
        Err(_) if app.options.strict_leaf => spelling::name(path).into(),
        Err(_) => return spring(&app, StatusCode::BAD_REQUEST, None, "the tag is no UTF-8", path),
    };
    if app.options.no_segment {
        return switched_off(&app, "segment", path);
    }
    let n = asked.n(&app);
    let mut ids = take(&app, &grant, &tag, n.as_deref()).await;
    // What a Leaf does not read is part of the name first: it is looked for only where it is there.
    if ids.is_err() && path.contains(';') {
        ids = Box::pin(take(&app, &grant, &spelling::name(path), n.as_deref())).await;
    }
    match ids {
        Ok(ids) => given(&asked, &ids, n.is_some()),
        Err(Refusal::Error(error)) => failed(&app, Mode::Segment, &error, path),
        Err(Refusal::Denied(denied)) => answer::denied(&denied),
    }
}

async fn take(app: &App, grant: &Grant, name: &str, n: Option<&str>) -> std::result::Result<Ids, Refusal> {
    let tag = app.dots().tag(name);
    grant.check_tag(tag)?;
    Ok(app.tags.take(tag, count(app, n)?, patience(app)).await?)
}

pub(super) async fn snowflake(State(Granted { app, .. }): State<Granted>, asked: AskedIds) -> Response<Body> {
    let path = asked.uri.path();
    let Some(snowflake) = &app.snowflake else { return switched_off(&app, "snowflake", path) };
    let n = asked.n(&app);
    let ids = match count(&app, n.as_deref()) {
        Ok(n) => snowflake.take(n, app.options.timeout()).await,
        Err(error) => Err(error),
    };
    match ids {
        Ok(ids) => given(&asked, &ids, n.is_some()),
        Err(error) => failed(&app, Mode::Snowflake, &error, path),
    }
}

/// Leaf's page: the parts of an id of its layout, the time in UTC.
pub(super) async fn decode(State(app): State<Arc<App>>, uri: Uri, Words(words): Words) -> Response<Body> {
    let Some(text) = words.get("snowflakeId") else {
        let message = "Required String parameter 'snowflakeId' is not present";
        return spring(&app, StatusCode::BAD_REQUEST, Some(NO_WORD), message, uri.path());
    };
    // Java's parseLong takes a sign.
    let id = text.parse::<i64>().ok().filter(|id| *id >= 0 || app.options.strict_leaf);
    let Some(id) = id else {
        return answer::body(
            StatusCode::OK,
            JSON,
            r#"{"errorMsg":"snowflake Id反解析发生异常!"}"#.to_owned(),
        );
    };
    let timestamp_ms = (id >> 22) + Layout::LEAF.epoch_ms();
    let time = Utc(timestamp_ms).to_string().replace('T', " ").replace('Z', "");
    let decoded = Decoded {
        worker_id: ((id >> 12) & 1023).to_string(),
        sequence_id: (id & 4095).to_string(),
        timestamp: format!("{timestamp_ms}({time})"),
    };
    answer::json(StatusCode::OK, &decoded)
}

pub(super) async fn not_found(State(app): State<Arc<App>>, uri: Uri) -> Response<Body> {
    spring(&app, StatusCode::NOT_FOUND, None, "No message available", uri.path())
}

/// Which methods a path has.
pub(super) async fn options() -> Response<Body> {
    let mut response = answer::body(StatusCode::OK, TEXT, String::new());
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(METHODS));
    response
}

fn patience(app: &App) -> Patience {
    let (first, strict) = (app.options.timeout(), app.options.strict_leaf);
    Patience { first, later: if strict { LEAFS_PATIENCE } else { first }, issues_zero: strict }
}

/// The number of ids that a request asks for. Errors: `invalid_argument`.
fn count(app: &App, n: Option<&str>) -> Result<usize> {
    let Some(text) = n else { return Ok(1) };
    let most = app.options.max_batch.unwrap_or(MOST_BATCH) as usize;
    let n = parse_id(text).ok().and_then(|n| usize::try_from(n).ok()).filter(|n| (1..=most).contains(n));
    n.ok_or_else(|| Error::invalid("n", format!("{text:?}"), &format!("1 to {most}")))
}

fn given(asked: &AskedIds, ids: &Ids, is_batch: bool) -> Response<Body> {
    match asked.wants_json {
        true if is_batch => answer::body(StatusCode::OK, JSON, ids.text(["[\"", "\",\"", "\"]"])),
        true => answer::body(StatusCode::OK, JSON, ids.text(["", "\n", ""])),
        false => answer::body(StatusCode::OK, TEXT, ids.text(["", "\n", ""])),
    }
}

fn failed(app: &App, mode: Mode, error: &Error, path: &str) -> Response<Body> {
    let strict = app.options.strict_leaf;
    if strict && spelling::is_malformed(path) {
        return spring(app, StatusCode::BAD_REQUEST, None, "Bad Request", path);
    }
    // A Leaf looks for any name among its rows.
    if error.code() == Code::InvalidArgument && !strict {
        return spring(app, StatusCode::BAD_REQUEST, None, error.message(), path);
    }
    log::debug!("{path}: {error}");
    let number = match (mode, error.code()) {
        (Mode::Segment, Code::UnknownTag | Code::InvalidArgument) => -2,
        (Mode::Snowflake, Code::ClockBackwards) => -1,
        _ => -3,
    };
    let message = format!("Result{{id={number}, status=EXCEPTION}}");
    spring(app, StatusCode::INTERNAL_SERVER_ERROR, Some(NO_ID), &message, path)
}

/// A Leaf answers 0 for ever, which its clients take for an id.
fn switched_off(app: &App, mode: &str, path: &str) -> Response<Body> {
    if app.options.strict_leaf {
        return answer::body(StatusCode::OK, TEXT, "0".to_owned());
    }
    let message = format!("the mode {mode} is switched off: see --no-{mode}");
    spring(app, StatusCode::NOT_FOUND, None, &message, path)
}

fn spring(
    app: &App,
    status: StatusCode,
    exception: Option<&str>,
    message: &str,
    path: &str,
) -> Response<Body> {
    let (strict, now_ms) = (app.options.strict_leaf, unix_ms());
    let timestamp = match strict {
        true => Timestamp::Ms(now_ms),
        false => Timestamp::Text(Utc(now_ms).to_string().replace('Z', "+0000")),
    };
    let (error, exception) = (status.canonical_reason().unwrap_or_default(), exception.filter(|_| strict));
    let body = Spring { timestamp, status: status.as_u16(), error, exception, message, path };
    let mut response = answer::json(status, &body);
    if strict && status.is_server_error() {
        // Tomcat closes the connection.
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}
