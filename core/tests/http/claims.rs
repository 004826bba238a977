//! Claims and renewals of leases.

use super::{Reply, SECOND, Subject, World, claimed, told};
use leafid_core::http::{HttpResult, NoResponse, TlsFault};
use leafid_core::{Code, LeaseClaim, RenewalAnswer};

const CLAIM: Subject = Subject::Claim;
const INSTANCE: &str = "00000000000000000000000000000001";

fn unanswered(world: &World) -> Option<LeaseClaim> {
    Some(LeaseClaim { instance: INSTANCE.into(), asked: world.now })
}

#[test]
fn a_claim_is_answered() {
    let mut world = World::new(1);
    let mut exchange = world.exchange(CLAIM);
    let asked = world.now;
    let (call, request) = world.sent(&mut exchange);
    let body = format!(r#"{{"name":"shop","instance":"{INSTANCE}","now":1000,"until":31000}}"#);
    assert_eq!((request.path.as_str(), request.body.unwrap().text), ("/api/worker/claim", body));
    world.now += SECOND / 10;
    let (result, _) = world.respond(&mut exchange, call, &Reply::good(CLAIM, 1));
    let end = claimed(result.unwrap());
    let held = end.lease.unwrap();
    assert_eq!((held.worker_id, held.from_ms, held.until_ms), (3, 1_000, 31_000));
    assert_eq!((end.asked, end.unanswered, end.is_unreachable), (asked, None, false));
}

#[test]
fn the_answer_to_another_claim_is_none() {
    for (from, to, said) in [
        (INSTANCE, "00000000000000000000000000000002", "has the instance of another request"),
        ("\"instance\"", "\"other\"", "does not repeat the instance of its request"),
        (INSTANCE, "", "has the instance of another request"),
        (&format!("\"{INSTANCE}\"") as &str, "7", "has an instance that is not text"),
        (&format!("\"{INSTANCE}\""), "[\"x\"]", "has an instance that is not text"),
        (&format!("\"{INSTANCE}\""), "{}", "has an instance that is not text"),
    ] {
        let mut world = World::new(1);
        let body = Reply::good(CLAIM, 1).body.replacen(from, to, 1);
        let result = world.result(CLAIM, &Reply::new(200, &body));
        let (code, message) = told(&result);
        assert_eq!(code, "source_invalid", "{message}");
        assert!(message.contains(said), "{message}");
        let advice = "A lease server must repeat the instance (leafid help leases)";
        assert!(message.contains(advice) && !message.contains("s3cret"), "{message}");
        assert_eq!(claimed(result).unanswered, unanswered(&world), "an id may have been leased");
    }
}

#[test]
fn a_claim_that_was_refused_or_never_sent_is_not_sent_again() {
    for (status, error, code, said) in [
        (
            409,
            "worker_in_use",
            "worker_in_use",
            "no free worker id for \"shop\": full (http://s0/api/worker/claim answered 409); end a process, or widen the pool",
        ),
        (
            400,
            "invalid_argument",
            "invalid_argument",
            "the claim was refused: full (http://s0/api/worker/claim answered 400)",
        ),
    ] {
        let mut world = World::new(2);
        let reply = Reply::new(status, &format!(r#"{{"error":"{error}","message":"full"}}"#));
        let result = world.result(CLAIM, &reply);
        assert_eq!(told(&result), (code, said));
        let end = claimed(result);
        assert_eq!((end.unanswered, end.is_unreachable), (None, false));
    }
    // Copies of a process that was copied before any server got the claim would all send it, and get one lease.
    for (why, is_sent) in [
        (NoResponse::NameTimedOut, false),
        (NoResponse::NoAddress, false),
        (NoResponse::ConnectTimedOut, false),
        (NoResponse::Unconnected("refused"), false),
        (NoResponse::Proxy("403"), false),
        (NoResponse::Tls(TlsFault::Authority, "bad"), false),
        (NoResponse::Tls(TlsFault::Other, "bad"), true),
        (NoResponse::Io("broken"), true),
        (NoResponse::Fetch("failed"), true),
        (NoResponse::TimedOut, true),
        (NoResponse::Closed, true),
    ] {
        let mut world = World::new(1);
        let mut exchange = world.exchange(CLAIM);
        let (call, _) = world.sent(&mut exchange);
        world.fail(&mut exchange, call, why, false);
        let kept = claimed(world.over(&mut exchange)).unanswered;
        assert_eq!(kept, unanswered(&world).filter(|_| is_sent), "{why:?}");
        let mut world = World::new(1);
        let mut again = world.claim_again(unanswered(&world));
        let (call, _) = world.sent(&mut again);
        world.fail(&mut again, call, why, false);
        assert!(claimed(world.over(&mut again)).unanswered.is_some(), "a server may know it from before");
    }
    let mut world = World::new(1);
    let mut exchange = world.exchange(CLAIM);
    world.now += SECOND;
    assert_eq!(claimed(world.over(&mut exchange)).unanswered, None, "no server knows it");
    let mut again = world.claim_again(unanswered(&world));
    world.now += SECOND;
    assert!(claimed(world.over(&mut again)).unanswered.is_some(), "a server may still know it");
}

#[test]
fn a_lease_that_cannot_be_is_refused() {
    for (from, to, said) in [
        ("\"worker_id\":3", "\"worker_id\":-3", "has the worker_id -3, which is below 0"),
        ("\"until\":31000", "\"until\":1000", "has until 1000, which is not above from 1000"),
        ("\"lease_ms\":30000", "\"lease_ms\":0", "has the lease_ms 0, which is below 1"),
        ("\"token\":\"s3cret\"", "\"token\":\"\"", "has a token of 0 bytes instead of 1 to 1024"),
    ] {
        let body = Reply::good(CLAIM, 1).body.replacen(from, to, 1);
        let result = World::new(1).result(CLAIM, &Reply::new(200, &body));
        let (code, message) = told(&result);
        assert_eq!(code, "worker_lost");
        assert!(message.contains(said), "{message}");
    }
}

/// What a renewal came to, with this response.
fn renewed(reply: &Reply) -> RenewalAnswer {
    let HttpResult::Renewed(answer) = World::new(1).result(Subject::Renewal, reply) else { unreachable!() };
    answer
}

#[test]
fn the_answer_to_another_renewal_is_none() {
    let right = Reply::good(Subject::Renewal, 1).body;
    for (from, to, said) in [
        ("01\"", "02\"", "has the nonce of another request"),
        ("nonce", "once", "does not repeat the nonce of its request"),
    ] {
        let RenewalAnswer::Failed(error) = renewed(&Reply::new(200, &right.replacen(from, to, 1))) else {
            panic!("{said}")
        };
        assert_eq!(error.code(), Code::SourceInvalid);
        assert!(
            error.message().starts_with("http://s0/api/worker/renew answered 200: the answer "),
            "{error}"
        );
        assert!(error.message().contains(said), "{error}");
    }
}
