//! Tests of the requests of each dialect, and of repeated requests.

use super::fake_server::{FakeServer, Reaction, Seen, http, source};
use leafid_core::{Code, Error};

/// A tinyid whose calls return these bodies: the error of a fetch, and the requests.
fn tinyid(ids: &'static str, why: &'static str) -> (Error, Vec<Seen>) {
    let server = FakeServer::new(move |seen| {
        let body = if seen.path.ends_with("/nextSegmentIdSimple") { ids } else { why };
        Reaction::Bytes(http("200 OK", "", body))
    });
    (source(&[&server]).tinyid("order", 7).unwrap_err(), server.seen())
}

#[test]
fn a_tinyid_that_gives_no_ids_is_asked_why_in_a_request_of_its_own() {
    let (error, seen) = tinyid("", r#"{"code":6,"message":null}"#);
    assert_eq!(error.code(), Code::SegmentUnavailable);
    assert!(error.message().contains("tinyid's database fails"), "{error}");
    let paths: Vec<&str> = seen.iter().map(Seen::tag).collect();
    assert_eq!(paths, ["nextSegmentIdSimple", "nextSegmentId"]);
    assert_ne!(seen[0].query["nonce"], seen[1].query["nonce"]);
    assert!(seen.iter().all(|seen| seen.form == "bizType=order&token="), "{seen:?}");
    let (error, seen) = tinyid("nonsense", "");
    assert_eq!((error.code(), seen.len()), (Code::SourceInvalid, 1), "that is no question of why");
}

#[test]
fn a_range_below_is_wrong_where_they_come_in_order_alone() {
    let server = FakeServer::right();
    for ordered in [true, false] {
        let fetched = source(&[&server]).range(ordered, ("order", 0, 1 << 40), 7).map(|_| ());
        let code = fetched.map_err(|error| error.code());
        assert_eq!(code, if ordered { Err(Code::SegmentRegressed) } else { Ok(()) });
    }
}
