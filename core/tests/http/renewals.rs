//! Renewals and releases of leases.

use super::{Reply, Subject, World, told};
use leafid_core::http::{Exchange, HttpResult, LateEnd, NoResponse};
use leafid_core::{Code, RenewalAnswer};

/// What a renewal came to, with this response.
fn renewed(reply: &Reply) -> RenewalAnswer {
    let HttpResult::Renewed(answer) = World::new(1).result(Subject::Renewal, reply) else { unreachable!() };
    answer
}

#[test]
fn a_renewal_is_answered() {
    let mut world = World::new(1);
    let mut exchange = world.exchange(Subject::Renewal);
    let (_, request) = world.sent(&mut exchange);
    let nonce = "00000000000000000000000000000001";
    let body = format!(r#"{{"name":"shop","worker_id":3,"token":"s3cret","until":61000,"nonce":"{nonce}"}}"#);
    assert_eq!((request.path.as_str(), request.body.unwrap().text), ("/api/worker/renew", body));
    let RenewalAnswer::Renewed(renewal) = renewed(&Reply::good(Subject::Renewal, 1)) else { unreachable!() };
    assert_eq!((renewal.until_ms, renewal.lease_ms, renewal.worker_id), (61_000, Some(30_000), None));
}

#[test]
fn only_a_server_that_says_so_loses_the_lease() {
    let lost = Reply::new(409, r#"{"error":"worker_lost","message":"another holder"}"#);
    let RenewalAnswer::Lost(error) = renewed(&lost) else { panic!("it is lost") };
    let said = "the lease is no longer held here: another holder (http://s0/api/worker/renew answered 409); leafid claims \
                a new one; call again";
    assert_eq!((error.code(), error.message()), (Code::WorkerLost, said));
    for (status, body) in [
        (409, r#"{"error":"worker_in_use","message":"x"}"#),
        (400, r#"{"error":"worker_lost","message":"x"}"#),
        (400, r#"{"error":"invalid_argument","message":"x"}"#),
        (404, r#"{"error":"worker_lost","message":"x"}"#),
        (503, r#"{"error":"worker_lost","message":"x"}"#),
        (200, r#"{"error":"worker_lost","message":"x"}"#),
        (409, "<html>"),
    ] {
        let RenewalAnswer::Failed(error) = renewed(&Reply::new(status, body)) else {
            panic!("{status} {body}")
        };
        let is_refused = !matches!(status, 200 | 404);
        assert_eq!(error.code() == Code::WorkerLost, is_refused, "{error}");
        assert_eq!(error.message().starts_with("the renewal of the lease failed: "), is_refused, "{error}");
    }
    for why in [NoResponse::Closed, NoResponse::NotHttp("SSH"), NoResponse::TimedOut] {
        let mut world = World::new(1);
        let mut exchange = world.exchange(Subject::Renewal);
        let (call, _) = world.sent(&mut exchange);
        world.fail(&mut exchange, call, why, false);
        let HttpResult::Renewed(RenewalAnswer::Failed(error)) = world.over(&mut exchange) else {
            panic!("{why:?}")
        };
        assert!(error.message().starts_with("the renewal of the lease failed: http://s0/api/worker/renew "));
    }
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

#[test]
fn the_token_of_a_late_renewal_is_known() {
    let mut world = World::new(1);
    let mut exchange = world.exchange(Subject::Renewal);
    let (call, _) = world.sent(&mut exchange);
    let HttpResult::Renewed(RenewalAnswer::Failed(_)) = exchange.close(&mut world.health) else {
        panic!("nobody knows")
    };
    let LateEnd::Renewal(RenewalAnswer::Renewed(renewal)) =
        Reply::good(Subject::Renewal, 1).end(call).0.late()
    else {
        panic!("it was renewed")
    };
    assert_eq!(renewal.token.as_deref(), Some("s3cret"));
}

#[test]
fn a_release_is_answered_or_refused() {
    let mut world = World::new(1);
    let mut exchange = world.exchange(Subject::Release);
    let (_, request) = world.sent(&mut exchange);
    let body = r#"{"name":"shop","worker_id":3,"token":"s3cret","until":5000}"#;
    assert_eq!((request.path.as_str(), request.body.unwrap().text.as_str()), ("/api/worker/release", body));
    for (status, error, code, said) in [
        (
            409,
            "worker_lost",
            "worker_lost",
            "the lease is no longer held here: x (http://s0/api/worker/release answered 409); leafid claims a new one; call \
             again",
        ),
        (
            400,
            "invalid_argument",
            "invalid_argument",
            "it was refused: x (http://s0/api/worker/release answered 400)",
        ),
    ] {
        let reply = Reply::new(status, &format!(r#"{{"error":"{error}","message":"x"}}"#));
        assert_eq!(told(&World::new(1).result(Subject::Release, &reply)), (code, said));
    }
    let mut world = World::new(1);
    assert_eq!(world.result(Subject::Release, &Reply::new(204, "")), HttpResult::Released(Ok(())));
}

/// What one server has done, the others refuse: its own answer is awaited.
#[test]
fn what_is_done_once_is_not_shared_among_servers() {
    for of in [Subject::Renewal, Subject::Release] {
        let mut world = World::new(3);
        let mut exchange: Exchange = world.exchange(of);
        let (call, _) = world.sent(&mut exchange);
        assert_eq!(call.within, world.servers.request_timeout, "{of:?}");
    }
}
