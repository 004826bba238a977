//! Claims, renewals and releases of leases.

use super::{SECOND, World};
use leafid_core::http::{ClaimEnd, Exchange, HttpResult};

fn claim(world: &World) -> Exchange {
    Exchange::claim(&world.servers, "shop", None, (1_000, 31_000), 7, world.now)
}

/// The answer of a lease server to the claim of this `instance`.
fn lease(instance: &str) -> String {
    format!(
        r#"{{"instance":"{instance}","worker_id":3,"from":1000,"until":31000,"lease_ms":30000,"token":"t","peer_times":[]}}"#
    )
}

#[track_caller]
fn claimed(result: Option<HttpResult>) -> ClaimEnd {
    let Some(HttpResult::Claimed(end)) = result else { panic!("{result:?}") };
    end
}

#[test]
fn a_claim_is_answered() {
    let mut world = World::new("worker", 1);
    let mut exchange = claim(&world);
    let asked = world.now;
    let (call, request) = world.sent(&mut exchange);
    let instance = "00000000000000000000000000000001";
    let body = format!(r#"{{"name":"shop","instance":"{instance}","now":1000,"until":31000}}"#);
    assert_eq!((request.path.as_str(), request.body.unwrap().text), ("/api/worker/claim", body));
    world.now += SECOND / 10;
    let end = claimed(world.respond(&mut exchange, call, 200, &lease(instance)));
    let held = end.lease.unwrap();
    assert_eq!((held.worker_id, held.token.as_deref()), (3, Some("t")));
    assert_eq!((end.asked, end.unanswered, end.is_unreachable), (asked, None, false));
}
