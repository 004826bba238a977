//! Requests for ids, in each protocol.

use super::{Reply, SECRET, Subject, World, error, told};
use leafid_core::http::{Exchange, HttpResult, LateEnd, NoResponse};
use leafid_core::wire::Method;
use leafid_core::wire::leaf::LeafMode;
use leafid_core::wire::range::RangeRequest;
use leafid_core::{Fetched, Segment};

fn ids(start: i64, end: i64, step: Option<i64>) -> HttpResult {
    HttpResult::Ids(Ok(Fetched { segment: Segment::new(start, end, 1).unwrap(), step }))
}

#[test]
fn each_protocol_gives_its_ids() {
    for (of, result) in [
        (Subject::Range, ids(1_000, 2_000, Some(1_000))),
        (Subject::Leaf, ids(1_000, 1_001, None)),
        (Subject::Tinyid, ids(1_000, 2_000, None)),
    ] {
        assert_eq!(World::new(1).result(of, &Reply::good(of, 1)), result);
    }
}

#[test]
fn what_each_protocol_sends() {
    let nonce = "00000000000000000000000000000001";
    for (of, method, path) in [
        (Subject::Range, Method::Post, format!("/api/segment/range/order?step=1000&after=900&nonce={nonce}")),
        (Subject::Leaf, Method::Get, format!("/api/segment/get/order?nonce={nonce}")),
        (Subject::Tinyid, Method::Post, format!("/tinyid/id/nextSegmentIdSimple?nonce={nonce}")),
    ] {
        let mut world = World::new(1);
        let mut exchange = world.exchange(of);
        let (_, request) = world.sent(&mut exchange);
        assert_eq!((request.method, request.path), (method, path));
        let body = request.body.map(|body| body.text);
        let form = format!("bizType=order&token={SECRET}");
        assert_eq!(body, (of == Subject::Tinyid).then_some(form), "a query would be in logs of proxies");
    }
}

#[test]
fn an_answer_for_another_tag_or_to_another_request_is_none() {
    let right = Reply::good(Subject::Range, 1).body;
    for (from, to, said) in [
        ("\"order\"", "\"Order\"", "is for another tag than \"order\""),
        (
            "01\"",
            "09\"",
            "is to another request: its nonce is not 00000000000000000000000000000001; a proxy may repeat answers",
        ),
        ("\"nonce\"", "\"once\"", "missing field `nonce`"),
    ] {
        let result = World::new(1).result(Subject::Range, &Reply::new(200, &right.replacen(from, to, 1)));
        let (code, message) = told(&result);
        assert_eq!(code, "source_invalid");
        assert!(message.contains(said), "{message}");
    }
}

#[test]
fn a_repeated_answer_is_none() {
    let mut world = World::new(2);
    let reply = Reply::good(Subject::Range, 1);
    assert!(error(&world.result(Subject::Range, &reply)).is_none());
    // The same process, or its copy, whose host draws another number.
    let mut exchange = world.exchange(Subject::Range);
    let (call, _) = world.sent(&mut exchange);
    assert_eq!(world.respond(&mut exchange, call, &reply), (None, false));
    assert_eq!(world.call(&mut exchange).server, 1, "another one is asked");
}

#[test]
fn a_server_that_has_lost_ids_is_passed_over_where_they_come_in_order() {
    let below = Reply::good(Subject::Range, 1).body.replace("1000\",\"end\":\"2000", "100\",\"end\":\"200");
    for ordered in [true, false] {
        let mut world = World::new(2);
        let wish = RangeRequest { tag: "order", step: 0, after: 900, ordered };
        let mut exchange = Exchange::range(&world.servers, wish, 7, world.now);
        let (call, _) = world.sent(&mut exchange);
        let (result, keeps) = world.respond(&mut exchange, call, &Reply::new(200, &below));
        if ordered {
            assert_eq!((result, keeps), (None, false));
            assert_eq!(world.call(&mut exchange).server, 1, "it may still have them");
        } else {
            assert_eq!((result, keeps), (Some(ids(100, 200, Some(1_000))), true));
        }
    }
}

#[test]
fn what_every_server_would_answer_is_not_asked_again() {
    for (status, code, said) in [
        (
            404,
            "unknown_tag",
            "http://s0/api/segment/range/order answered 404 \"{\\\"error\\\":\\\"unknown_tag\\\"}\": the source does not know \
             the tag \"order\"; make it there, or see its name",
        ),
        (400, "invalid_argument", "http://s0/api/segment/range/order answered 400 "),
        (409, "segment_regressed", "http://s0/api/segment/range/order answered 409 "),
    ] {
        let mut world = World::new(2);
        let mut exchange = world.exchange(Subject::Range);
        let (call, _) = world.sent(&mut exchange);
        let reply = Reply::new(status, &format!(r#"{{"error":"{code}"}}"#));
        let (result, keeps) = world.respond(&mut exchange, call, &reply);
        let result = result.unwrap();
        assert_eq!(told(&result).0, code);
        assert!(told(&result).1.starts_with(said) && keeps, "{result:?}");
        assert!(world.health.last_errors().all(|error| error.is_none()), "the server is well");
    }
}

#[test]
fn a_leaf_that_does_not_know_a_tag_leaves_it_to_the_next_node() {
    let body = r#"{"status":500,"message":"Result{id=-2, status=EXCEPTION}"}"#;
    let mut world = World::new(2);
    let mut exchange = world.exchange(Subject::Leaf);
    let (call, _) = world.sent(&mut exchange);
    assert_eq!(world.respond(&mut exchange, call, &Reply::new(500, body)), (None, true), "it is well");
    let (call, _) = world.sent(&mut exchange);
    assert_eq!(call.server, 1);
    world.fail(&mut exchange, call, NoResponse::Closed, false);
    let result = world.over(&mut exchange);
    let said = "http://s0/api/segment/get/order answered 500 \"Result{id=-2, status=EXCEPTION}\": Leaf does not know the \
                tag \"order\"; make it in the table leaf_alloc, which its nodes read once a minute, or see its name";
    assert_eq!(told(&result), ("unknown_tag", said), "the error of a server that works tells more");
}

#[test]
fn a_leaf_that_is_switched_off_gives_no_id() {
    let mut world = World::new(1);
    let result = world.result(Subject::Leaf, &Reply::new(200, "0"));
    assert_eq!(told(&result).0, "source_invalid");
    assert!(told(&result).1.contains("set leaf.segment.enable=true there"), "{result:?}");
    assert!(world.health.denies("order"), "until somebody switches it on");
}

#[test]
fn a_block_of_a_leaf_is_as_many_ids() {
    let mut world = World::new(1);
    let mode = LeafMode::Segment { block_size: 100 };
    let mut exchange = Exchange::leaf(&world.servers, mode, "order-x100", 7, world.now);
    let (call, _) = world.sent(&mut exchange);
    let (result, _) = world.respond(&mut exchange, call, &Reply::new(200, "7"));
    assert_eq!(result, Some(ids(700, 800, None)));
}

#[test]
fn a_tinyid_without_ids_is_asked_why_at_all_servers() {
    let mut world = World::new(2);
    let mut exchange = world.exchange(Subject::Tinyid);
    for server in 0..2 {
        let (call, request) = world.sent(&mut exchange);
        assert!(request.path.starts_with("/tinyid/id/nextSegmentIdSimple?"), "{request:?}");
        assert_eq!(call.server, server);
        assert_eq!(world.respond(&mut exchange, call, &Reply::new(200, "")), (None, true));
    }
    world.now += world.servers.request_timeout / 2;
    let (call, request) = world.sent(&mut exchange);
    assert!(request.path.starts_with("/tinyid/id/nextSegmentId?nonce="), "{request:?}");
    assert!(request.path.ends_with("3"), "a nonce of its own");
    assert_eq!((call.server, call.within), (0, world.servers.connect_timeout), "it has all the time anew");
    let reply = Reply::new(200, r#"{"data":null,"code":7,"message":"can not find biztype:order"}"#);
    assert_eq!(world.respond(&mut exchange, call, &reply), (None, true));
    let (call, _) = world.sent(&mut exchange);
    assert_eq!(world.respond(&mut exchange, call, &Reply::new(500, "")).0, None);
    let result = world.over(&mut exchange);
    assert_eq!(told(&result).0, "segment_unavailable", "the last response had no reason: {result:?}");
    assert!(told(&result).1.contains("tinyid gives no ids of \"order\""), "{result:?}");
}

#[test]
fn why_a_tinyid_has_no_ids() {
    for (body, code, said) in [
        (
            r#"{"code":7,"message":"can not find biztype:order"}"#,
            "unknown_tag",
            "does not know the bizType \"order\"",
        ),
        (
            r#"{"code":5,"message":"token is error"}"#,
            "segment_unavailable",
            "the token may not ask tinyid for",
        ),
        (
            r#"{"code":6,"message":"sys error"}"#,
            "segment_unavailable",
            "tinyid's database fails; see its log",
        ),
        (r#"{"code":200,"data":{}}"#, "segment_unavailable", "tinyid gives no ids of \"order\""),
        ("999,1200,1999,1,0", "segment_unavailable", "tinyid gives no ids of \"order\""),
    ] {
        let mut world = World::new(1);
        let mut exchange = world.exchange(Subject::Tinyid);
        let (call, _) = world.sent(&mut exchange);
        world.respond(&mut exchange, call, &Reply::new(200, ""));
        let (call, _) = world.sent(&mut exchange);
        assert_eq!(world.respond(&mut exchange, call, &Reply::new(200, body)).0, None, "never ids");
        let result = world.over(&mut exchange);
        assert_eq!(told(&result).0, code, "{result:?}");
        assert!(told(&result).1.contains(said), "{result:?}");
    }
}

#[test]
fn a_reason_with_a_wrong_head_is_none_and_its_connection_is_closed() {
    let mut world = World::new(1);
    let mut exchange = world.exchange(Subject::Tinyid);
    let (call, _) = world.sent(&mut exchange);
    world.respond(&mut exchange, call, &Reply::new(200, ""));
    let (call, _) = world.sent(&mut exchange);
    let reply = Reply { age: Some(b"1"), ..Reply::new(200, r#"{"code":5,"message":""}"#) };
    assert_eq!(world.respond(&mut exchange, call, &reply), (None, false));
    assert!(told(&world.over(&mut exchange)).1.contains("tinyid gives no ids of"));
}

#[test]
fn the_reason_is_not_asked_for_where_no_server_answered() {
    let mut world = World::new(1);
    let mut exchange = world.exchange(Subject::Tinyid);
    let (call, _) = world.sent(&mut exchange);
    world.respond(&mut exchange, call, &Reply::new(503, "busy"));
    assert_eq!(told(&world.over(&mut exchange)).0, "segment_unavailable");
}

#[test]
fn ids_that_come_late_are_a_gap() {
    for of in [Subject::Range, Subject::Leaf, Subject::Tinyid] {
        let mut world = World::new(1);
        let mut exchange = world.exchange(of);
        let (call, _) = world.sent(&mut exchange);
        exchange.close(&mut world.health);
        assert_eq!(Reply::good(of, 1).end(call.clone()).0.late(), LateEnd::Nothing);
        assert_eq!(call.failed(NoResponse::Closed, false).late(), LateEnd::Nothing);
    }
}
