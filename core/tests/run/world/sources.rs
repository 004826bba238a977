//! The carrying out of the calls of a source: a user's object, or requests to lease servers.

use super::lease_server::{Given, LeaseServer};
use super::told::Told;
use leafid_core::http::{HttpCall, NoResponse};
use leafid_core::run::{Claimed, RunCall, RunCallEnd, SourceFailure};
use leafid_core::wire::Response;
use leafid_core::{Code, Error, Lease, Renewal};
use serde_json::{Value, json};
use std::time::Duration;

/// What is done with a lease by a call.
#[derive(Debug)]
pub(crate) enum LeaseUse {
    Renewal { token: String },
    Release { token: String, until_ms: i64 },
}

fn no_answer() -> SourceFailure {
    SourceFailure::Text("no answer".into())
}

fn sent(call: &HttpCall, random: u128) -> (String, Value) {
    let request = call.clone().request(random);
    let body = request.body.expect("it is JSON").text;
    (request.path, serde_json::from_str(&body).expect("it is JSON"))
}

fn text(body: &Value, name: &str) -> String {
    body[name].as_str().expect("it is text").into()
}

fn int(body: &Value, name: &str) -> i64 {
    body[name].as_i64().expect("it is a number")
}

pub(crate) fn lease_use(call: &RunCall) -> Option<LeaseUse> {
    let token_of = |lease: &Lease| lease.token.clone().unwrap_or_default();
    match call {
        RunCall::Renew(call) => Some(LeaseUse::Renewal { token: token_of(&call.request().lease) }),
        RunCall::Release(call) => {
            Some(LeaseUse::Release { token: token_of(call.lease()), until_ms: call.until_ms() })
        }
        RunCall::Http(call) => {
            let (path, body) = sent(call, 0);
            match &path[..] {
                "/api/worker/renew" => Some(LeaseUse::Renewal { token: text(&body, "token") }),
                "/api/worker/release" => {
                    Some(LeaseUse::Release { token: text(&body, "token"), until_ms: int(&body, "until") })
                }
                _ => None,
            }
        }
        _ => None,
    }
}

pub(crate) fn is_of_source(call: &RunCall) -> bool {
    matches!(
        call,
        RunCall::PeerTimes(_)
            | RunCall::Claim(_)
            | RunCall::Renew(_)
            | RunCall::Release(_)
            | RunCall::Http(_)
    )
}

/// The end of a call that had no effect. No other call has this random number.
pub(crate) fn unanswered(call: RunCall, random: u128) -> RunCallEnd {
    match call {
        RunCall::Http(mut call) => {
            call.request(random);
            call.failed(NoResponse::Closed, false).into()
        }
        call => call.refused(no_answer()),
    }
}

/// The call has its effect. `fails`: its end says that it has none. `now_ms` is the clock of the server. No other call has
/// this random number.
pub(crate) fn serve(
    server: &mut LeaseServer,
    call: RunCall,
    fails: bool,
    now_ms: i64,
    random: u128,
) -> (RunCallEnd, Told) {
    match call {
        RunCall::PeerTimes(call) => {
            (call.end(if fails { Err(no_answer()) } else { Ok(vec![now_ms; 3]) }), Told::Nothing)
        }
        RunCall::Claim(call) => {
            let request = call.request(random);
            match server.claim(&request.instance, request.until_ms, now_ms) {
                _ if fails => (call.end(Err(no_answer())), Told::Nothing),
                None => (call.end(Ok(None)), Told::Nothing),
                Some(given) => {
                    let claimed = Claimed::Lease(lease(&given, server.lease_ms()), Duration::ZERO);
                    (call.end(Ok(Some(claimed))), Told::Claimed(given))
                }
            }
        }
        RunCall::Renew(call) => {
            let (lease, wish_ms) = (&call.request().lease, call.request().wish_ms);
            let by = lease.token.clone().unwrap_or_default();
            match server.renew(lease.worker_id, &by, wish_ms, now_ms) {
                _ if fails => (call.end(Err(no_answer())), Told::Nothing),
                None if random % 2 == 1 => {
                    let lost = Error::new(Code::WorkerLost, "another process has it");
                    (call.end(Err(SourceFailure::Coded(lost))), Told::NotHeld { by })
                }
                None => (call.end(Ok(None)), Told::NotHeld { by }),
                Some(given) => {
                    let renewal = Renewal {
                        worker_id: Some(given.worker_id),
                        until_ms: given.until_ms,
                        lease_ms: Some(server.lease_ms()),
                        token: Some(given.token.clone()),
                    };
                    (call.end(Ok(Some(renewal))), Told::Renewed { by, given })
                }
            }
        }
        RunCall::Release(call) => {
            let token = call.lease().token.clone().unwrap_or_default();
            server.release(call.lease().worker_id, &token, call.until_ms());
            (call.end(if fails { Err(no_answer()) } else { Ok(()) }), Told::Nothing)
        }
        RunCall::Http(mut call) => {
            let (path, body) = sent(&call, random);
            call.request(random);
            let (status, answer, told) = respond(server, &path, &body, now_ms);
            if fails {
                return (call.failed(NoResponse::TimedOut, false).into(), Told::Nothing);
            }
            (answered(*call, status, &path, &answer), told)
        }
        call => unreachable!("{call:?} is not a source's"),
    }
}

/// The answer to a request.
fn answered(call: HttpCall, status: u16, path: &str, answer: &Value) -> RunCallEnd {
    let body = if answer.is_null() { Vec::new() } else { answer.to_string().into_bytes() };
    let url = format!("http://leases{path}");
    let reply = Response { url, status, body, location: None, flaw: None, option: "worker" };
    call.end(&reply).0.into()
}

/// The answer to the request of another holder of a lease; `None` if there is none.
pub(crate) fn answer_another(server: &LeaseServer, mut call: HttpCall, random: u128) -> Option<RunCallEnd> {
    let (path, _) = sent(&call, random);
    call.request(random);
    let Given { worker_id, from_ms, until_ms, token } = server.held()?;
    let answer = json!({
        "worker_id": worker_id, "from": from_ms, "until": until_ms, "lease_ms": server.lease_ms(),
        "token": token, "peer_times": [from_ms], "instance": "another", "nonce": "another",
    });
    Some(answered(call, 200, &path, &answer))
}

fn lease(given: &Given, lease_ms: i64) -> Lease {
    Lease {
        worker_id: given.worker_id,
        from_ms: given.from_ms,
        until_ms: given.until_ms,
        lease_ms: Some(lease_ms),
        token: Some(given.token.clone()),
        peer_times_ms: Vec::new(),
    }
}

/// As docs/LEASES.md wants it.
fn respond(server: &mut LeaseServer, path: &str, body: &Value, now_ms: i64) -> (u16, Value, Told) {
    let (until_ms, lease_ms) = (int(body, "until"), server.lease_ms());
    match path {
        "/api/worker/claim" => match server.claim(&text(body, "instance"), until_ms, now_ms) {
            None => (409, json!({ "error": "worker_in_use" }), Told::Nothing),
            Some(given) => {
                let Given { worker_id, from_ms, until_ms, token } = &given;
                let answer = json!({
                    "worker_id": worker_id, "from": from_ms, "until": until_ms, "lease_ms": lease_ms,
                    "token": token, "peer_times": [now_ms], "instance": body["instance"],
                });
                (200, answer, Told::Claimed(given))
            }
        },
        "/api/worker/renew" => {
            let by = text(body, "token");
            match server.renew(int(body, "worker_id"), &by, until_ms, now_ms) {
                None => (409, json!({ "error": "worker_lost" }), Told::NotHeld { by }),
                Some(given) => {
                    let Given { until_ms, token, .. } = &given;
                    let answer = json!({
                        "until": until_ms, "lease_ms": lease_ms, "token": token, "nonce": body["nonce"],
                    });
                    (200, answer, Told::Renewed { by, given })
                }
            }
        }
        _ => {
            server.release(int(body, "worker_id"), &text(body, "token"), until_ms);
            (204, Value::Null, Told::Nothing)
        }
    }
}
