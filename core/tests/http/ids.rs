//! Requests for ids, in each protocol.

use super::{Reply, Subject, World, told};
use leafid_core::http::{Exchange, HttpResult};
use leafid_core::wire::range::RangeRequest;
use leafid_core::{Fetched, Segment};

fn ids(start: i64, end: i64, step: Option<i64>) -> HttpResult {
    HttpResult::Ids(Ok(Fetched { segment: Segment::new(start, end, 1).unwrap(), step }))
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
