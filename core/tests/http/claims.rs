//! Claims of worker ids.

use super::{Reply, SECOND, Subject, World, claimed, told};
use leafid_core::LeaseClaim;
use leafid_core::http::{HttpResult, LateEnd, NoResponse};

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
        let advice = "A lease server must repeat the instance (docs/LEASES.md)";
        assert!(message.contains(advice) && !message.contains("s3cret"), "{message}");
        assert_eq!(claimed(result).unanswered, unanswered(&world), "an id may have been leased");
    }
}

#[test]
fn every_server_is_sent_the_same_claim() {
    for is_stale in [false, true] {
        let mut world = World::new(2);
        let mut exchange = world.exchange(CLAIM);
        let (call, first) = world.sent(&mut exchange);
        world.fail(&mut exchange, call, NoResponse::Closed, is_stale);
        let (call, second) = world.sent(&mut exchange);
        assert_eq!(first, second, "or a second worker id were leased");
        let (result, _) = world.respond(&mut exchange, call, &Reply::good(CLAIM, 1));
        assert!(claimed(result.unwrap()).lease.is_ok());
    }
}

#[test]
fn an_unanswered_claim_is_sent_again_as_it_was() {
    let mut world = World::new(1);
    let asked = world.now;
    let end = claimed(world.result(CLAIM, &Reply::new(503, "")));
    assert_eq!(end.unanswered, Some(LeaseClaim { instance: INSTANCE.into(), asked }));
    world.now += SECOND;
    let mut again = world.claim_again(end.unanswered);
    let (call, request) = world.sent(&mut again);
    assert!(request.body.unwrap().text.contains(INSTANCE));
    let (result, _) = world.respond(&mut again, call, &Reply::good(CLAIM, 1));
    let end = claimed(result.unwrap());
    assert_eq!((end.asked, end.unanswered), (asked, None), "the lease may have started at the first one");
    assert!(end.lease.is_ok());
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
    let mut world = World::new(1);
    let mut exchange = world.exchange(CLAIM);
    world.now += SECOND;
    assert_eq!(claimed(world.over(&mut exchange)).unanswered, None, "no server knows it");
    let mut again = world.claim_again(unanswered(&world));
    world.now += SECOND;
    assert!(claimed(world.over(&mut again)).unanswered.is_some(), "a server may still know it");
}

#[test]
fn no_error_of_a_claim_says_more_than_that_no_server_answered() {
    let mut world = World::new(1);
    let mut exchange = world.exchange(CLAIM);
    let (call, _) = world.sent(&mut exchange);
    world.fail(&mut exchange, call, NoResponse::Io("Connection refused (os error 111)"), false);
    let result = world.over(&mut exchange);
    let message = "http://s0/api/worker/claim cannot be reached: Connection refused (os error 111); see whether it \
                   runs, and the URL";
    assert_eq!(told(&result), ("worker_lost", message));
}

#[test]
fn a_server_is_reachable_if_it_responded_itself() {
    for (status, is_unreachable) in
        [(502, true), (503, true), (504, true), (500, false), (401, false), (404, false), (200, false)]
    {
        let end = claimed(World::new(1).result(CLAIM, &Reply::new(status, "<html>")));
        assert_eq!(end.is_unreachable, is_unreachable, "{status}");
    }
    for (why, is_unreachable) in [
        (NoResponse::Closed, true),
        (NoResponse::TimedOut, true),
        (NoResponse::NoAddress, true),
        (NoResponse::NotHttp("SSH"), false),
        (NoResponse::LongHead("long"), false),
    ] {
        let mut world = World::new(1);
        let mut exchange = world.exchange(CLAIM);
        let (call, _) = world.sent(&mut exchange);
        world.fail(&mut exchange, call, why, false);
        let result = world.over(&mut exchange);
        assert_eq!(claimed(result).is_unreachable, is_unreachable, "{why:?}");
    }
    // One that answered wrongly before, and backs off.
    let mut world = World::new(2);
    let mut exchange = world.exchange(CLAIM);
    let (call, _) = world.sent(&mut exchange);
    world.respond(&mut exchange, call, &Reply::new(401, ""));
    let (call, _) = world.sent(&mut exchange);
    world.fail(&mut exchange, call, NoResponse::Closed, false);
    assert!(!claimed(world.over(&mut exchange)).is_unreachable);
    let mut exchange = world.exchange(CLAIM);
    assert!(!exchange.is_unreachable(&world.health));
    assert!(!claimed(world.over(&mut exchange)).is_unreachable, "its last response is known");
}

/// The call of a claim that was given up while it was under way, and what its exchange said of it.
fn given_up(
    world: &mut World,
    unanswered: Option<LeaseClaim>,
    by_close: bool,
) -> (leafid_core::http::HttpCall, HttpResult) {
    let mut exchange = world.claim_again(unanswered);
    let (call, _) = world.sent(&mut exchange);
    let result = match by_close {
        true => exchange.close(&mut world.health),
        false => exchange.overdue(&mut world.health, world.now + 9 * SECOND).unwrap(),
    };
    (call, result)
}

#[test]
fn the_lease_of_a_claim_that_was_given_up_is_released() {
    for by_close in [true, false] {
        let mut world = World::new(2);
        let (call, result) = given_up(&mut world, None, by_close);
        assert_eq!(claimed(result).unanswered, None);
        let LateEnd::Lease(lease) = Reply::good(CLAIM, 1).end(call).0.late() else { panic!("it was leased") };
        assert_eq!(lease.worker_id, 3);
    }
}

#[test]
fn a_claim_is_never_under_way_twice() {
    for by_close in [true, false] {
        let mut world = World::new(2);
        // Its instance is known, and a server may answer it yet: two would get one lease.
        let before = unanswered(&world);
        let (call, result) = given_up(&mut world, before.clone(), by_close);
        assert_eq!(claimed(result).unanswered, None);
        let end = call.clone().failed(NoResponse::TimedOut, false);
        assert_eq!(end.late(), LateEnd::Unanswered(before.unwrap()), "now it is over");
        let refused = r#"{"error":"worker_in_use","message":"full"}"#;
        assert_eq!(Reply::new(409, refused).end(call).0.late(), LateEnd::Nothing);
    }
}

#[test]
fn a_claim_that_was_not_made_leaves_nothing() {
    let mut world = World::new(1);
    let mut exchange = world.exchange(CLAIM);
    let call = world.call(&mut exchange);
    exchange.close(&mut world.health);
    assert_eq!(call.failed(NoResponse::Other("no thread"), false).late(), LateEnd::Nothing);
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
