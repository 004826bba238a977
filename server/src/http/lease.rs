//! Leases of worker ids: docs/LEASES.md.

use super::answer::{self, Handled, Refusal};
use super::guard::Granted;
use crate::access::Grant;
use crate::holder::stored;
use crate::lease_rules::Claim;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::USER_AGENT;
use axum::http::{HeaderMap, Response, StatusCode};
use leafid_core::options::id_space;
use leafid_core::{Code, Error, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

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
    State(Granted { app, grant }): State<Granted>,
    headers: HeaderMap,
    body: Bytes,
) -> Handled {
    let ClaimBody { name, instance, now, until } = parse(&body)?;
    check_text("instance", &instance)?;
    check_number("now", now)?;
    until.map_or(Ok(()), |until| check_number("until", until))?;
    let name = id_space(Some(&name))?;
    grant.check_tag(&name)?;
    let of = name.clone();
    let holder = stored(headers.get(USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default());
    let claim = Claim { name, instance: instance.clone(), holder, now_ms: now, until_ms: until, only: None };
    let (lease, store_ms) = app.leases.claim(claim).await.inspect_err(|error| {
        if error.code() == Code::WorkerInUse {
            app.counts.claim_refused();
        }
    })?;
    app.counts.claimed(&of);
    let claimed = Claimed {
        // Of this request, never from the store.
        instance,
        worker_id: lease.worker_id,
        from: lease.from_ms,
        until: lease.until_ms,
        lease_ms: app.leases.lease_ms(),
        server_time: store_ms,
        peer_times: lease.peer_times_ms,
        token: lease.token.unwrap_or_default(),
    };
    Ok(answer::json(StatusCode::OK, &claimed))
}

pub(super) async fn renew(State(Granted { app, grant }): State<Granted>, body: Bytes) -> Handled {
    let (name, HolderBody { worker_id, token, until, nonce, .. }) = holder(&grant, &body)?;
    let renewal = app.leases.renew(&name, worker_id, &token, until).await?;
    let renewed = Renewed {
        nonce,
        until: renewal.until_ms,
        lease_ms: app.leases.lease_ms(),
        token: renewal.token.unwrap_or_default(),
    };
    Ok(answer::json(StatusCode::OK, &renewed))
}

pub(super) async fn release(State(Granted { app, grant }): State<Granted>, body: Bytes) -> Handled {
    let (name, HolderBody { worker_id, token, until, .. }) = holder(&grant, &body)?;
    app.leases.release(&name, worker_id, &token, until).await?;
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    Ok(response)
}

/// The holder, and the name that it may have.
fn holder(grant: &Grant, body: &[u8]) -> std::result::Result<(String, HolderBody), Refusal> {
    let holder: HolderBody = parse(body)?;
    check_text("token", &holder.token)?;
    check_number("worker_id", holder.worker_id)?;
    check_number("until", holder.until)?;
    if let Some(nonce) = &holder.nonce {
        check_text("nonce", nonce)?;
    }
    let name = id_space(holder.name.as_deref())?;
    grant.check_tag(&name)?;
    Ok((name, holder))
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T> {
    serde_json::from_slice(body).map_err(|error| {
        Error::invalid("the body", format!("not valid: {error}"), "the JSON object of leafid help leases")
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
            // Two of the three are secrets.
            format!("a text of {} bytes", text.len()),
            "text of 1 to 128 bytes without control characters",
        )),
    }
}
