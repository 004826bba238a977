//! What lease servers answer to a claim, rightly and wrongly.

use crate::common::{HANG, Place};
use crate::request::{Reaction, Seen};
use crate::server::{Server, now_ms};
use leafid::{Code, Error};
use serde_json::{Value, json};

/// What an opening says to an answer.
fn opening(react: impl Fn(&Seen) -> Reaction + Send + Sync + 'static) -> Result<u32, Error> {
    opening_within(20_000, react)
}

fn opening_within(
    request_timeout_ms: i64,
    react: impl Fn(&Seen) -> Reaction + Send + Sync + 'static,
) -> Result<u32, Error> {
    let (place, server) = (Place::new(), Server::new(20_000));
    server.reacts(react);
    let builder =
        place.builder().worker(server.url()).request_timeout_ms(request_timeout_ms).timeout_ms(60_000);
    let opened = builder.open().and_then(|flake| flake.worker_id());
    if let Err(error) = &opened {
        let said = error.message();
        assert!(!said.contains("segment") && !said.contains("source"), "{said}");
    }
    opened
}

#[test]
fn answers_that_are_wrong_are_worker_lost_and_say_how() {
    for (changes, says) in [
        (json!({"worker_id": null}), "missing field `worker_id`"),
        (json!({"worker_id": "7"}), "invalid type: string"),
        (json!({"worker_id": 7.0}), "invalid type: floating point"),
        (json!({"worker_id": -1}), "worker_id -1, which is below 0"),
        (json!({"worker_id": 9_223_372_036_854_775_808u64}), "invalid value"),
        (json!({"from": null}), "missing field `from`"),
        (json!({"from": 9_000_000_000_000i64}), "not above from 9000000000000"),
        (json!({"until": null}), "missing field `until`"),
        (json!({"until": []}), "invalid type: sequence"),
        (json!({"until": 0}), "until 0, which is not above from 0"),
        (json!({"lease_ms": null}), "missing field `lease_ms`"),
        (json!({"lease_ms": 0}), "lease_ms 0, which is below 1"),
        (json!({"lease_ms": "30s"}), "invalid type: string"),
        (json!({"peer_times": null}), "missing field `peer_times`"),
        (json!({"peer_times": 5}), "invalid type: integer"),
        (json!({"token": null}), "missing field `token`"),
        (json!({"token": 5}), "invalid type: integer"),
        (json!({"token": ""}), "token of 0 bytes"),
        (json!({"token": "x\n"}), "token with control characters"),
        (json!({"token": "x".repeat(1_025)}), "token of 1025 bytes"),
    ] {
        let wrong = changes.clone();
        let error = opening(move |_| Reaction::But(wrong.clone())).unwrap_err();
        assert_eq!(error.code(), Code::WorkerLost, "{changes}: {error}");
        let said = error.message();
        assert!(said.contains(says), "{changes}: {said}");
        // Nothing of what was answered follows: it may hold a token.
        assert!(said.contains("/api/worker/claim answered 200: the answer"), "{changes}: {said}");
    }
    opening(|_| Reaction::But(json!({"token": "x".repeat(1_024)}))).unwrap();
}

#[test]
fn what_is_no_lease_at_all() {
    for (status, body, code, says) in [
        (200, "[0,0,9,9,9,[],\"x\"]", Code::WorkerLost, "it is not a JSON object"),
        (200, "", Code::WorkerLost, "without a body"),
        (200, "{\"instance\":1,\"instance\":2}", Code::WorkerLost, "duplicate field"),
        (200, "<html>busy</html>", Code::WorkerLost, "<html>busy</html>"),
        (
            404,
            "where?",
            Code::SourceInvalid,
            "answered 404 \"where?\": the answer is not from a lease server; see the URL",
        ),
        (204, "", Code::WorkerLost, "answered 204"),
        (302, "", Code::SourceInvalid, "redirects to nowhere"),
        (401, "who?", Code::SourceInvalid, "see `token` and `headers`"),
        (500, "broken", Code::WorkerLost, "answered 500 \"broken\""),
        (409, "{}", Code::WorkerLost, "answered 409 \"{}\""),
        (
            409,
            "{\"error\":\"worker_in_use\",\"message\":\"8 of 8 held\\n\"}",
            Code::WorkerInUse,
            ": 8 of 8 held (",
        ),
        (409, "{\"error\":\"worker_in_use\"}", Code::WorkerInUse, ": worker_in_use ("),
        (
            400,
            "{\"error\":\"invalid_argument\",\"message\":\"no such name\"}",
            Code::InvalidArgument,
            "no such name",
        ),
    ] {
        let error = opening(move |_| Reaction::Say(status, body.into())).unwrap_err();
        assert_eq!(error.code(), code, "{status} {body}: {error}");
        assert!(error.message().contains(says), "{status} {body}: {error}");
        // It is the first claim: nothing was lost.
        let first = "no worker id could be claimed: ";
        let is_first = matches!(code, Code::WorkerLost | Code::SourceInvalid);
        assert_eq!(error.message().starts_with(first), is_first, "{error}");
    }
    for (bytes, says) in [
        (&b"HTTP/1.1 200 OK\r\nAge: 5\r\nContent-Length: 2\r\n\r\n{}"[..], "Age: \"5\""),
        (b"HTTP/1.1 200 OK\r\n\r\n{}", "does not say where it ends"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 90000\r\n\r\n{}", "ends before its end"),
        (b"220 smtp\r\n", "not HTTP"),
        (b"", "without an answer"),
    ] {
        let error = opening(move |_| Reaction::Raw(bytes.into())).unwrap_err();
        assert_eq!(error.code(), Code::WorkerLost, "{error}");
        assert!(error.message().contains(says), "{error}");
    }
    let long = "x".repeat(70_000);
    let error = opening(move |_| Reaction::But(json!({"token": long}))).unwrap_err();
    assert!(error.message().contains("longer than 65536 bytes"), "{error}");
    let error = opening_within(400, |_| Reaction::Hang).unwrap_err();
    assert!(error.message().contains("did not answer in time"), "{error}");
}

#[test]
fn a_lease_that_cannot_be_used_is_given_back() {
    let (place, server) = (Place::new(), Server::new(20_000));
    for (changes, code, says) in [
        (json!({"worker_id": 1_024}), Code::WorkerLost, "worker_id is 1024"),
        (json!({"until": 1}), Code::WorkerLost, "until_ms is 1 for from_ms 0"),
        (json!({"until": now_ms() - 1_000}), Code::WorkerLost, "which this clock has passed"),
        (json!({"from": now_ms() + 15_000}), Code::WorkerInUse, "belongs to its last holder"),
        (json!({"peer_times": [0, 0, 0]}), Code::ClockBackwards, "the median of its 3 peers"),
    ] {
        let (wrong, releases) = (changes.clone(), server.seen("release").len());
        server.reacts(move |seen| match seen.call.as_str() {
            "claim" => Reaction::But(wrong.clone()),
            _ => Reaction::Right,
        });
        let error = place.builder().worker(server.url()).open().unwrap_err();
        assert_eq!(error.code(), code, "{changes}: {error}");
        assert!(error.message().contains(says), "{changes}: {error}");
        assert_eq!(server.seen("release").len(), releases + 1, "{changes}");
    }
}

#[test]
fn an_answer_without_the_server_s_clock_is_a_lease() {
    opening(|_| Reaction::But(json!({"server_time": null}))).unwrap();
}

#[test]
fn clocks_of_two_peers_decide_nothing() {
    opening(|_| Reaction::But(json!({"peer_times": [0, 0]}))).unwrap();
}

#[test]
fn an_opening_is_bounded_by_its_own_time() {
    let (place, server) = (Place::new(), Server::new(20_000));
    server.reacts(|_| Reaction::Hang);
    let begun = std::time::Instant::now();
    let builder =
        place.builder().worker(server.url()).request_timeout_ms(HANG.as_millis() as i64).timeout_ms(200);
    let error = builder.open().unwrap_err();
    assert_eq!(error.code(), Code::WorkerLost, "{error}");
    assert!(begun.elapsed() < HANG / 2, "{:?}", begun.elapsed());
}

#[test]
fn a_message_is_told_in_part_and_as_text() {
    let message = Value::String(format!("\u{1b}[2J{}", "long ".repeat(200)));
    let body = format!("{{\"error\":\"worker_in_use\",\"message\":{message}}}");
    let error = opening(move |_| Reaction::Say(409, body.clone())).unwrap_err();
    assert!(error.message().len() < 600 && !error.message().contains('\u{1b}'), "{error}");
}
