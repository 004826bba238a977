//! leafid's own protocol of lease servers: JSON over POST.

use super::{Body, Method, Request, Response, Verdict};
use crate::json::{JsonResult, JsonValue, Object};
use crate::quoted::Quoted;
use crate::{Code, Error, Lease, Renewal, RenewalAnswer, Result};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::Serialize;

/// The largest length of a token, which is stored and sent back.
const LONGEST_TOKEN: usize = 1_024;
/// The largest number of characters of a server's message that is shown.
const TOLD: usize = 300;

/// A claim. If it is sent again, its response is the same.
pub fn claim(name: &str, instance: &str, now_ms: i64, until_ms: i64) -> Request {
    post("claim", &ClaimBody { name, instance, now: now_ms, until: until_ms })
}

/// A renewal until about `until_ms`. `nonce` belongs to this renewal alone.
pub fn renewal(name: &str, lease: &Lease, until_ms: i64, nonce: &str) -> Request {
    Request { once: true, ..post("renew", &HolderBody::of(name, lease, until_ms, Some(nonce))) }
}

/// A release: no id at or after `until_ms` was or will be issued.
pub fn release(name: &str, lease: &Lease, until_ms: i64) -> Request {
    Request { once: true, ..post("release", &HolderBody::of(name, lease, until_ms, None)) }
}

fn post(call: &str, body: &impl Serialize) -> Request {
    // Texts and numbers are always JSON.
    let text = serde_json::to_string(body).unwrap_or_default();
    let body = Some(Body { content_type: "application/json", text });
    Request { method: Method::Post, path: format!("/api/worker/{call}"), body, once: false }
}

/// Whether the response comes from the server itself: not from a proxy in front of one that is down, or from one without
/// its database.
pub fn is_servers_own(reply: &Response) -> bool {
    !matches!(reply.status, 502..=504)
}

/// The meaning of the response to the claim of this `instance`. Errors: `source_invalid` for the response to another
/// request and for one that says that no later request is answered otherwise (401, 404, a redirect), `worker_lost` for
/// any other wrong one, `worker_in_use`, `invalid_argument`.
pub fn judge_claim(reply: &Response, name: &str, instance: &str) -> Verdict<Lease> {
    judge(reply, || match (reply.status, refusal(reply)) {
        (200, _) => Some(read(claimed(reply, instance))),
        (409, Some((Code::WorkerInUse, told))) => {
            let message =
                format!("no free worker id for {}: {told}; end a process, or widen the pool", Quoted(name));
            Some(Verdict::Refused(Error::new(Code::WorkerInUse, message)))
        }
        (400, Some((Code::InvalidArgument, told))) => {
            let message = format!("the claim was refused: {told}");
            Some(Verdict::Refused(Error::new(Code::InvalidArgument, message)))
        }
        _ => None,
    })
}

/// The meaning of the response to the renewal with this `nonce`. Errors: `source_invalid` and `worker_lost` as
/// [`judge_claim`], which say nothing about the lease.
pub fn judge_renewal(reply: &Response, nonce: &str) -> Verdict<RenewalAnswer> {
    judge(reply, || match reply.status {
        200 => Some(read(renewed(reply, nonce).map(RenewalAnswer::Renewed))),
        _ => Some(Verdict::Answer(match refused(reply)? {
            error if error.code() == Code::WorkerLost => RenewalAnswer::Lost(error),
            error => RenewalAnswer::Failed(error),
        })),
    })
}

/// The meaning of the response to a release. Errors: as [`judge_renewal`]; `worker_lost` and `invalid_argument` from the
/// server.
pub fn judge_release(reply: &Response) -> Verdict<()> {
    judge(reply, || match reply.status {
        204 => Some(Verdict::Answer(())),
        _ => refused(reply).map(Verdict::Refused),
    })
}

/// `read` returns `None` for a response without a meaning.
fn judge<T>(reply: &Response, read: impl FnOnce() -> Option<Verdict<T>>) -> Verdict<T> {
    let error = match (reply.failure(), &reply.flaw) {
        (Some(_), Some(flaw)) if may_hold_token(reply) => {
            let message = format!("{}: the answer {flaw}; no id of it is used", said(reply));
            Error::new(Code::SourceInvalid, message)
        }
        (Some(error), _) => error,
        (None, _) => match read() {
            Some(verdict) => return verdict,
            None => wrong(reply, "is not from a lease server"),
        },
    };
    let code = match reply.is_denial() {
        true => Code::SourceInvalid,
        false if is_servers_own(reply) => Code::WorkerLost,
        false => error.code(),
    };
    reply.wrongly(Error::new(code, error.message()))
}

fn read<T>(answer: Result<T>) -> Verdict<T> {
    answer.map_or_else(Verdict::BadServer, Verdict::Answer)
}

/// The error of a renewal or a release that every server would return; `worker_lost` if the lease is lost.
fn refused(reply: &Response) -> Option<Error> {
    let (code, told) = refusal(reply).filter(|_| matches!(reply.status, 400 | 409))?;
    Some(match (reply.status, code) {
        (409, Code::WorkerLost) => {
            let message =
                format!("the lease is no longer held here: {told}; leafid claims a new one; call again");
            Error::new(Code::WorkerLost, message)
        }
        _ => Error::new(Code::InvalidArgument, format!("it was refused: {told}")),
    })
}

#[derive(Serialize)]
struct ClaimBody<'a> {
    name: &'a str,
    instance: &'a str,
    now: i64,
    until: i64,
}

/// The body of a renewal and a release.
#[derive(Serialize)]
struct HolderBody<'a> {
    name: &'a str,
    worker_id: i64,
    token: &'a str,
    until: i64,
    /// Only in a renewal.
    #[serde(skip_serializing_if = "Option::is_none")]
    nonce: Option<&'a str>,
}

/// The body of a response 200 to a claim. More fields may come in later versions.
struct ClaimedBody {
    worker_id: i64,
    from: i64,
    peer_times: Vec<i64>,
    renewed: RenewedBody,
}

impl ClaimedBody {
    fn read(body: &Object<'_>) -> JsonResult<ClaimedBody> {
        Ok(ClaimedBody {
            worker_id: body.integer("worker_id")?,
            from: body.integer("from")?,
            peer_times: body
                .get("peer_times")?
                .list()?
                .into_iter()
                .map(JsonValue::integer)
                .collect::<JsonResult<_>>()?,
            renewed: RenewedBody::read(body)?,
        })
    }
}

/// The body of a response 200 to a renewal.
struct RenewedBody {
    until: i64,
    lease_ms: i64,
    token: String,
}

impl RenewedBody {
    fn read(body: &Object<'_>) -> JsonResult<RenewedBody> {
        Ok(RenewedBody {
            until: body.integer("until")?,
            lease_ms: body.integer("lease_ms")?,
            token: body.text("token")?,
        })
    }
}

impl<'a> HolderBody<'a> {
    fn of(name: &'a str, lease: &'a Lease, until_ms: i64, nonce: Option<&'a str>) -> HolderBody<'a> {
        let token = lease.token.as_deref().unwrap_or_default();
        HolderBody { name, worker_id: lease.worker_id, token, until: until_ms, nonce }
    }
}

/// Parses the response to the claim of this `instance`. Errors: `source_invalid` for the response to another request;
/// `worker_lost` for an invalid response.
fn claimed(reply: &Response, instance: &str) -> Result<Lease> {
    let none = |why| wrong(reply, &format!("is not a lease: {why}"));
    let body = reply.object().map_err(none)?;
    let echo = body.optional("instance").map_err(none)?;
    check_echo(reply, "instance", echo, instance)?;
    let ClaimedBody { worker_id, from, peer_times, renewed } = ClaimedBody::read(&body).map_err(none)?;
    let RenewedBody { until, lease_ms, token } = renewed;
    if worker_id < 0 {
        return Err(wrong(reply, &format!("has the worker_id {worker_id}, which is below 0")));
    }
    if until <= from {
        return Err(wrong(reply, &format!("has until {until}, which is not above from {from}")));
    }
    check(reply, lease_ms, &token)?;
    Ok(Lease {
        worker_id,
        from_ms: from,
        until_ms: until,
        lease_ms: Some(lease_ms),
        token: Some(token),
        peer_times_ms: peer_times,
    })
}

/// Parses the response to the renewal with this `nonce`. Errors: as [`claimed`].
fn renewed(reply: &Response, nonce: &str) -> Result<Renewal> {
    let none = |why| wrong(reply, &format!("is not a renewal: {why}"));
    let body = reply.object().map_err(none)?;
    let echo = body.optional("nonce").map_err(none)?;
    check_echo(reply, "nonce", echo, nonce)?;
    let RenewedBody { until, lease_ms, token } = RenewedBody::read(&body).map_err(none)?;
    check(reply, lease_ms, &token)?;
    Ok(Renewal { worker_id: None, until_ms: until, lease_ms: Some(lease_ms), token: Some(token) })
}

/// Checks that the response belongs to this request: it repeats the value that only this request sent. A cache or a
/// proxy may return one response twice, an older one, or that of another client. Then a lease would have two holders.
fn check_echo(reply: &Response, name: &str, echo: Option<JsonValue<'_>>, sent: &str) -> Result<()> {
    let what = match echo.map(JsonValue::text) {
        Some(Ok(echo)) if echo == sent => return Ok(()),
        Some(Ok(_)) => format!("has the {name} of another request"),
        Some(Err(_)) => {
            format!("has {} {name} that is not text", if name == "instance" { "an" } else { "a" })
        }
        None => format!("does not repeat the {name} of its request"),
    };
    let message = format!(
        "{} answered {}: the answer {what}; nothing of it is used. A lease server must repeat the {name} (leafid help leases): \
         see the server, and a cache or a proxy before it",
        reply.url, reply.status
    );
    Err(Error::new(Code::SourceInvalid, message))
}

fn check(reply: &Response, lease_ms: i64, token: &str) -> Result<()> {
    if lease_ms < 1 {
        return Err(wrong(reply, &format!("has the lease_ms {lease_ms}, which is below 1")));
    }
    match token.len() {
        _ if token.contains(char::is_control) => Err(wrong(reply, "has a token with control characters")),
        1..=LONGEST_TOKEN => Ok(()),
        long => Err(wrong(reply, &format!("has a token of {long} bytes instead of 1 to {LONGEST_TOKEN}"))),
    }
}

/// The error code that the server names, and its message.
pub fn refusal(reply: &Response) -> Option<(Code, String)> {
    let body = reply.object().ok()?;
    let error = body.text("error").ok()?;
    let message = match body.find("message").ok()? {
        Some(message) => message.text().ok()?,
        None => String::new(),
    };
    let code = Code::ALL.into_iter().find(|code| code.name() == error)?;
    // Control characters are removed, above all because the text goes to a log.
    let told: String = message.chars().filter(|c| !c.is_control()).take(TOLD).collect();
    let told = if told.is_empty() { code.name().to_owned() } else { told };
    Some((code, format!("{told} ({} answered {})", reply.url, reply.status)))
}

/// `worker_lost`; `why` completes the sentence "the answer …".
fn wrong(reply: &Response, why: &str) -> Error {
    let advice = "see the URL in `worker`, and what answers there";
    Error::new(Code::WorkerLost, format!("{}: the answer {why}; {advice}", said(reply)))
}

/// As [`Response::said`], without a body that may hold a token.
fn said(reply: &Response) -> String {
    match may_hold_token(reply) {
        true => format!("{} answered {}", reply.url, reply.status),
        false => reply.said(),
    }
}

/// Whether the body may hold a token, which only its holder may see: of a lease, whole or cut short.
fn may_hold_token(reply: &Response) -> bool {
    matches!(reply.status, 200..=299) && reply.has_object_start()
}
