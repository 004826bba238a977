//! Requests to lease servers and their responses: JSON of leafid's own protocol.

use crate::http::{Body, Method, Request, Response};
use crate::worker::leases::ClaimRequest;
use leafid_core::{Code, Error, Lease, Renewal, Result};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;

/// If it is sent again, its response is the same.
const CLAIM: &str = "/api/worker/claim";
/// The largest length of a token, which is stored and sent back.
const LONGEST_TOKEN: usize = 1_024;
/// The largest number of characters of a server's message that is shown.
const TOLD: usize = 300;

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

/// The value of the request that its response repeats.
#[derive(Deserialize)]
struct Echo {
    instance: Option<Value>,
    nonce: Option<Value>,
}

/// The body of a response 200 to a claim. More fields may come in later versions.
#[derive(Deserialize)]
struct ClaimedBody {
    worker_id: i64,
    from: i64,
    until: i64,
    lease_ms: i64,
    peer_times: Vec<i64>,
    token: String,
}

/// The body of a response 200 to a renewal.
#[derive(Deserialize)]
struct RenewedBody {
    until: i64,
    lease_ms: i64,
    token: String,
}

/// The body of a response 4xx.
#[derive(Deserialize)]
struct LeaseRefusal<'a> {
    #[serde(borrow)]
    error: Cow<'a, str>,
    #[serde(borrow, default)]
    message: Cow<'a, str>,
}

/// A request, the same for each server.
pub(crate) struct LeaseRequest {
    path: &'static str,
    bytes: Vec<u8>,
}

impl LeaseRequest {
    pub(crate) fn claim(request: &ClaimRequest) -> Result<LeaseRequest> {
        let ClaimRequest { name, instance, now_ms, until_ms, .. } = request;
        LeaseRequest::new(CLAIM, &ClaimBody { name, instance, now: *now_ms, until: *until_ms })
    }

    /// A renewal until about `until_ms`. `nonce` belongs to this renewal alone.
    pub(crate) fn renewal(name: &str, lease: &Lease, until_ms: i64, nonce: &str) -> Result<LeaseRequest> {
        LeaseRequest::new("/api/worker/renew", &HolderBody::of(name, lease, until_ms, Some(nonce)))
    }

    /// A release: no id at or after `until_ms` was or will be issued.
    pub(crate) fn release(name: &str, lease: &Lease, until_ms: i64) -> Result<LeaseRequest> {
        LeaseRequest::new("/api/worker/release", &HolderBody::of(name, lease, until_ms, None))
    }

    fn new(path: &'static str, body: &impl Serialize) -> Result<LeaseRequest> {
        let bytes = serde_json::to_vec(body).map_err(|error| {
            Error::new(Code::Internal, format!("a request is no JSON: {error}; report this"))
        })?;
        Ok(LeaseRequest { path, bytes })
    }

    pub(crate) fn ask(&self) -> Request {
        let body = Body { content_type: "application/json", bytes: self.bytes.clone() };
        Request { method: Method::POST, path: self.path.into(), body: Some(body), once: self.path != CLAIM }
    }

    /// Makes the back-off times of servers differ between clients.
    pub(crate) fn seed(&self) -> u64 {
        crc32fast::hash(&self.bytes).into()
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
pub(crate) fn claimed(reply: &Response, instance: &str) -> Result<Lease> {
    let none = |why| wrong(reply, &format!("is no lease: {why}"));
    let echo: Echo = reply.object().map_err(none)?;
    check_echo(reply, "instance", echo.instance.as_ref(), instance)?;
    let answer: ClaimedBody = reply.object().map_err(none)?;
    let ClaimedBody { worker_id, from, until, lease_ms, peer_times, token, .. } = answer;
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
pub(crate) fn renewed(reply: &Response, nonce: &str) -> Result<Renewal> {
    let none = |why| wrong(reply, &format!("is no renewal: {why}"));
    let echo: Echo = reply.object().map_err(none)?;
    check_echo(reply, "nonce", echo.nonce.as_ref(), nonce)?;
    let answer: RenewedBody = reply.object().map_err(none)?;
    let RenewedBody { until, lease_ms, token } = answer;
    check(reply, lease_ms, &token)?;
    Ok(Renewal { worker_id: None, until_ms: until, lease_ms: Some(lease_ms), token: Some(token) })
}

/// Checks that the response belongs to this request: it repeats the value that only this request sent. A cache or a
/// proxy may return one response twice, an older one, or that of another client. Then a lease would have two holders.
fn check_echo(reply: &Response, name: &str, echo: Option<&Value>, sent: &str) -> Result<()> {
    let what = match echo {
        Some(Value::String(echo)) if echo == sent => return Ok(()),
        Some(Value::String(_)) => format!("has the {name} of another request"),
        Some(_) => format!("has {} {name} that is no text", if name == "instance" { "an" } else { "a" }),
        None => format!("does not repeat the {name} of its request"),
    };
    let message = format!(
        "{} answered {}: the answer {what}; nothing of it is used. A lease server must repeat the {name} that it was \
         sent (docs/LEASES.md), and what stands between, as a cache or a proxy, may have repeated or mixed up answers: \
         see both",
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
pub(crate) fn refusal(reply: &Response) -> Option<(Code, String)> {
    let LeaseRefusal { error, message } = reply.object().ok()?;
    let code = Code::ALL.into_iter().find(|code| code.name() == error)?;
    // Control characters are removed, above all because the text goes to a log.
    let told: String = message.chars().filter(|c| !c.is_control()).take(TOLD).collect();
    let told = if told.is_empty() { code.name().to_owned() } else { told };
    Some((code, format!("{told} ({} answered {})", reply.url, reply.status)))
}

/// `worker_lost`; `why` completes the sentence "the answer …".
pub(crate) fn wrong(reply: &Response, why: &str) -> Error {
    let advice = "see the URL in `worker`, and what answers there";
    // With status 200 the body may contain a token, which nobody else may see.
    let said = match (reply.status, reply.object::<IgnoredAny>()) {
        (200, Ok(_)) => format!("{} answered 200", reply.url),
        _ => reply.said(),
    };
    Error::new(Code::WorkerLost, format!("{said}: the answer {why}; {advice}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_claim_may_be_made_again() {
        let claim = ClaimBody { name: "shop", instance: "x", now: 1, until: 2 };
        assert!(!LeaseRequest::new(CLAIM, &claim).unwrap().ask().once);
        let lease = Lease::default();
        assert!(LeaseRequest::renewal("shop", &lease, 9, "nonce").unwrap().ask().once);
        assert!(LeaseRequest::release("shop", &lease, 9).unwrap().ask().once);
    }
}
