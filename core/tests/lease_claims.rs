//! The claims of leases: which `instance` is sent again, by whom, and since when its lease counts.

use leafid_core::{Code, Error, LeaseClaim, LeaseClaims};
use std::time::Duration;

fn claim(instance: &str, asked_ms: u64) -> LeaseClaim {
    LeaseClaim { instance: instance.into(), asked: Duration::from_millis(asked_ms) }
}

fn failed(claims: &mut LeaseClaims, key: &str, sent: LeaseClaim, code: Code) -> Code {
    let error = claims.failed(key.into(), sent, Error::new(code, "said"));
    assert_eq!(error.message(), "said");
    error.code()
}

#[test]
fn a_claim_without_an_answer_is_sent_again_and_its_lease_counts_from_its_first_try() {
    let mut claims = LeaseClaims::default();
    let mut sent = claims.begin("a", claim("1", 10));
    assert_eq!(sent, claim("1", 10));
    for now in [20, 30] {
        failed(&mut claims, "a", sent, Code::SegmentUnavailable);
        sent = claims.begin("a", claim("other", now));
        assert_eq!(sent, claim("1", 10));
    }
    // It succeeded.
    assert_eq!(claims.begin("a", claim("2", 40)), claim("2", 40));
}

#[test]
fn two_callers_never_send_one_instance() {
    let mut claims = LeaseClaims::default();
    failed(&mut claims, "a", claim("1", 10), Code::SegmentUnavailable);
    assert_eq!(claims.begin("a", claim("2", 20)), claim("1", 10));
    assert_eq!(claims.begin("a", claim("3", 30)), claim("3", 30), "the first one is on its way");
}

#[test]
fn a_claim_is_of_its_servers_and_its_id_space() {
    let mut claims = LeaseClaims::default();
    failed(&mut claims, "a", claim("1", 10), Code::SegmentUnavailable);
    assert_eq!(claims.begin("b", claim("2", 20)), claim("2", 20));
    assert_eq!(claims.begin("a", claim("3", 30)), claim("1", 10));
}

#[test]
fn only_an_answer_that_no_id_is_leased_ends_a_claim() {
    for (code, again, returned) in [
        (Code::WorkerInUse, false, Code::WorkerInUse),
        (Code::InvalidArgument, false, Code::InvalidArgument),
        (Code::WorkerLost, true, Code::WorkerLost),
        (Code::SourceInvalid, true, Code::SourceInvalid),
        (Code::SegmentUnavailable, true, Code::WorkerLost),
        (Code::Closed, true, Code::WorkerLost),
        (Code::StateIo, true, Code::StateIo),
    ] {
        let mut claims = LeaseClaims::default();
        assert_eq!(failed(&mut claims, "a", claim("1", 10), code), returned, "{code:?}");
        let next = claims.begin("a", claim("2", 20));
        assert_eq!(next.instance == "1", again, "{code:?}");
    }
}
