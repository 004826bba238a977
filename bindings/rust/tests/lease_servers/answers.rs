//! What an opening does about the answer to its claim. Which answers are wrong, core/tests/answers.rs tells.

use crate::common::{HANG, Place};
use crate::request::Reaction;
use crate::server::{Server, now_ms};
use leafid::Code;
use serde_json::json;

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
