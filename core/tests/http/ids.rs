//! Requests for ids, in each protocol.

use super::{World, told};
use leafid_core::http::{Exchange, HttpResult};
use leafid_core::wire::range::RangeRequest;
use leafid_core::{Fetched, Result, Segment};

fn range(world: &World) -> Exchange {
    let wish = RangeRequest { tag: "order", step: 1_000, after: 900, ordered: true };
    Exchange::range(&world.servers, wish, 7, world.now)
}

/// The answer of a server of ranges to the request with this random number.
fn body(random: u128) -> String {
    format!(r#"{{"tag":"order","start":"1000","end":"2000","stride":1,"step":1000,"nonce":"{random:032x}"}}"#)
}

#[track_caller]
fn ids(result: Option<HttpResult>) -> Result<Fetched> {
    let Some(HttpResult::Ids(result)) = result else { panic!("{result:?}") };
    result
}

#[test]
fn after_a_wrong_answer_the_next_server_is_asked_with_another_nonce() {
    let mut world = World::new("servers", 2);
    let mut exchange = range(&world);
    let (first, request) = world.sent(&mut exchange);
    assert!(request.path.ends_with("&nonce=00000000000000000000000000000001"), "{}", request.path);
    assert_eq!(world.respond(&mut exchange, first, 503, "busy"), None);
    let (second, request) = world.sent(&mut exchange);
    assert!(request.path.ends_with("&nonce=00000000000000000000000000000002"), "{}", request.path);
    assert_eq!(second.server, 1);
    let fetched = ids(world.respond(&mut exchange, second, 200, &body(2)));
    assert_eq!(fetched, Ok(Fetched { segment: Segment::new(1_000, 2_000, 1).unwrap(), step: Some(1_000) }));
}

#[test]
fn a_repeated_answer_is_no_answer() {
    let mut world = World::new("servers", 1);
    let mut exchange = range(&world);
    let (call, _) = world.sent(&mut exchange);
    assert_eq!(world.respond(&mut exchange, call, 200, &body(9)), None);
    let error = ids(Some(world.over(&mut exchange))).unwrap_err();
    let (code, message) = told(&error);
    assert_eq!(code, "source_invalid");
    assert!(message.contains("is to another request"), "{message}");
}
