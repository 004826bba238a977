//! Leases of worker ids: docs/LEASES.md.

use super::answer;
use super::app::App;
use super::guard;
use crate::access::{Denied, Grant};
use crate::lease_rules::Claim;
use axum::body::{Body, Bytes};
use axum::extract::{Extension, State};
use axum::http::{Response, StatusCode};
use leafid_core::options::id_space;
use leafid_core::{Error, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Times and ids above this lose digits in JavaScript.
const LARGEST: i64 = 1 << 53;
/// The longest text of a client that is stored or repeated, in bytes.
const LONGEST: usize = 128;

#[derive(Deserialize)]
struct ClaimBody {
    name: String,
    instance: String,
    now: i64,
    until: Option<i64>,
}

#[derive(Serialize)]
struct Claimed {
    instance: String,
    worker_id: i64,
    from: i64,
    until: i64,
    lease_ms: i64,
    server_time: i64,
    peer_times: Vec<i64>,
    token: String,
}

#[derive(Deserialize)]
struct HolderBody {
    name: Option<String>,
    worker_id: i64,
    token: String,
    until: i64,
    nonce: Option<String>,
}

#[derive(Serialize)]
struct Renewed {
    #[serde(skip_serializing_if = "Option::is_none")]
    nonce: Option<String>,
    until: i64,
    lease_ms: i64,
    token: String,
}

pub(super) async fn claim(
    State(app): State<Arc<App>>,
    Extension(grant): Extension<Grant>,
    body: Bytes,
) -> Response<Body> {
    done(claimed(&app, &grant, &body).await, |claimed| answer::json(StatusCode::OK, &claimed))
}

pub(super) async fn renew(
    State(app): State<Arc<App>>,
    Extension(grant): Extension<Grant>,
    body: Bytes,
) -> Response<Body> {
    done(renewed(&app, &grant, &body).await, |renewed| answer::json(StatusCode::OK, &renewed))
}

pub(super) async fn release(
    State(app): State<Arc<App>>,
    Extension(grant): Extension<Grant>,
    body: Bytes,
) -> Response<Body> {
    done(released(&app, &grant, &body).await, |()| {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        response
    })
}

/// Why nothing is done.
enum Refused {
    Denied(Denied),
    Error(Error),
}

type Done<T> = std::result::Result<T, Refused>;

impl From<Denied> for Refused {
    fn from(denied: Denied) -> Refused {
        Refused::Denied(denied)
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Refused {
        Refused::Error(error)
    }
}

fn done<T>(result: Done<T>, respond: impl FnOnce(T) -> Response<Body>) -> Response<Body> {
    match result {
        Ok(done) => respond(done),
        Err(Refused::Denied(denied)) => guard::refused(&denied),
        Err(Refused::Error(error)) => answer::refused(&error),
    }
}

async fn claimed(app: &App, grant: &Grant, body: &[u8]) -> Done<Claimed> {
    let ClaimBody { name, instance, now, until } = parse(body)?;
    check_text("instance", &instance)?;
    check_number("now", now)?;
    until.map_or(Ok(()), |until| check_number("until", until))?;
    let name = id_space(Some(&name))?;
    grant.check_tag(&name)?;
    let of = name.clone();
    let claim = Claim { name, instance: instance.clone(), now_ms: now, until_ms: until, only: None };
    let (lease, store_ms) = app.leases.claim(claim).await?;
    app.counts.claimed(&of);
    Ok(Claimed {
        // Of this request, never from the store.
        instance,
        worker_id: lease.worker_id,
        from: lease.from_ms,
        until: lease.until_ms,
        lease_ms: app.leases.lease_ms(),
        server_time: store_ms,
        peer_times: lease.peer_times_ms,
        token: lease.token.unwrap_or_default(),
    })
}

async fn renewed(app: &App, grant: &Grant, body: &[u8]) -> Done<Renewed> {
    let HolderBody { name, worker_id, token, until, nonce } = holder(body)?;
    let name = id_space(name.as_deref())?;
    grant.check_tag(&name)?;
    let renewal = app.leases.renew(&name, worker_id, &token, until).await?;
    Ok(Renewed {
        nonce,
        until: renewal.until_ms,
        lease_ms: app.leases.lease_ms(),
        token: renewal.token.unwrap_or_default(),
    })
}

async fn released(app: &App, grant: &Grant, body: &[u8]) -> Done<()> {
    let HolderBody { name, worker_id, token, until, .. } = holder(body)?;
    let name = id_space(name.as_deref())?;
    grant.check_tag(&name)?;
    Ok(app.leases.release(&name, worker_id, &token, until).await?)
}

fn holder(body: &[u8]) -> Result<HolderBody> {
    let holder: HolderBody = parse(body)?;
    check_text("token", &holder.token)?;
    check_number("worker_id", holder.worker_id)?;
    check_number("until", holder.until)?;
    if let Some(nonce) = &holder.nonce {
        check_text("nonce", nonce)?;
    }
    Ok(holder)
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T> {
    serde_json::from_slice(body).map_err(|error| {
        Error::invalid("the body", format!("not valid: {error}"), "the JSON object of docs/LEASES.md")
    })
}

fn check_number(name: &str, value: i64) -> Result<()> {
    match value {
        0..=LARGEST => Ok(()),
        _ => Err(Error::invalid(name, value, "0 to 2^53")),
    }
}

fn check_text(name: &str, text: &str) -> Result<()> {
    match (1..=LONGEST).contains(&text.len()) && !text.chars().any(char::is_control) {
        true => Ok(()),
        false => Err(Error::invalid(
            name,
            format!("{text:?}"),
            "text of 1 to 128 bytes without control characters",
        )),
    }
}
