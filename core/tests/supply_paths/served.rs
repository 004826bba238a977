//! Servers: which one is asked, when another one is, and how ids that come one by one are gathered.

use super::{Host, settings};
use leafid_core::IdOrder;
use leafid_core::call::CallId;
use leafid_core::http::{HttpCall, HttpServer, HttpServers};
use leafid_core::supply::{Call, Dialect, Source, SupplySettings, TagId};
use leafid_core::wire::Response;
use leafid_core::wire::leaf::LeafMode;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

fn of(dialect: Dialect, order: IdOrder) -> SupplySettings {
    let server = |url: &str| HttpServer { url: url.into(), proxy: None };
    let servers = HttpServers {
        option: "servers",
        servers: vec![server("http://a"), server("http://b")],
        request_timeout: Duration::from_secs(1),
        connect_timeout: Duration::from_millis(500),
    };
    let source = Source::Servers { servers: Arc::new(servers), dialect, connections: 4 };
    SupplySettings { source, source_name: "http".into(), order, step: None, ..settings() }
}

pub(crate) fn leaf() -> Host {
    let mode = LeafMode::Segment { block_size: 1 };
    let settings = of(Dialect::Leaf(mode), IdOrder::Ranges);
    Host::new(SupplySettings { step: Some(10), adaptive: false, ..settings })
}

#[test]
fn a_source_has_the_name_by_which_its_marks_are_found_for_ever() {
    let (range, tinyid) = (Dialect::Range { ordered: true }, Dialect::Tinyid { token: "secret".into() });
    let leaf = Dialect::Leaf(LeafMode::Segment { block_size: 7 });
    let dialects = [(range, "range"), (tinyid, "tinyid"), (leaf, "leaf")];
    for (dialect, name) in
        dialects.into_iter().chain([(Dialect::Leaf(LeafMode::Snowflake), "leaf-snowflake")])
    {
        assert_eq!(of(dialect, IdOrder::Ranges).source.name(), name);
    }
    for is_deferred in [false, true] {
        assert_eq!(Source::Callback { is_deferred }.name(), "callback");
    }
}

/// The next request; other calls are carried out.
fn request(host: &mut Host) -> Option<(CallId, HttpCall)> {
    loop {
        match host.supply.next_call(host.clocks())? {
            (id, Call::Http(call)) => return Some((id, *call)),
            (id, call) => host.carry_out(id, call),
        }
    }
}

pub(crate) fn answer(host: &mut Host, (id, mut call): (CallId, HttpCall), random: u128, body: &str) {
    call.request(random);
    let body = body.replace("NONCE", &format!("{random:032x}"));
    let (end, _) = call.end(&Response::new("http://a", 200, body.as_bytes(), "servers"));
    host.supply.done(id, end, host.clocks());
}

#[test]
fn the_stock_of_a_leaf_grows_with_the_ids_of_those_who_wait() {
    let mode = LeafMode::Segment { block_size: 1 };
    let settings = of(Dialect::Leaf(mode), IdOrder::Ranges);
    let mut host = Host::new(SupplySettings { step: Some(100), adaptive: true, ..settings });
    let (tag, _) = host.tag("order");
    let mut calls = VecDeque::new();
    for id in 1..=60 {
        let ticket = host.wait(tag, 1);
        while let Some(call) = request(&mut host) {
            calls.push_back(call);
        }
        // One at a time, so that each id is waited for, and none goes by the buffer.
        answer(&mut host, calls.pop_front().unwrap(), 7, &id.to_string());
        while let Some(call) = request(&mut host) {
            calls.push_back(call);
        }
        assert_eq!(host.collect(ticket), Ok(vec![id]));
    }
    assert_eq!(host.supply.tag_stats(tag).unwrap().step, 100);
}

fn one(host: &mut Host, call: (CallId, HttpCall), id: i64) {
    answer(host, call, 9, &id.to_string());
}

#[test]
fn single_ids_are_asked_for_beside_each_other_and_the_first_go_to_who_waits() {
    let mut host = leaf();
    let (tag, buffer) = host.tag("order");
    let ticket = host.wait(tag, 1);
    let mut calls: Vec<_> = std::iter::from_fn(|| request(&mut host)).collect();
    assert_eq!(calls.len(), 4, "as many as connections");
    one(&mut host, calls.remove(2), 70);
    let (id, call) = host.supply.next_call(host.clocks()).unwrap();
    assert!(matches!(call, Call::UpdateMark(_)), "the caller does not wait for the others: {call:?}");
    host.carry_out(id, call);
    assert_eq!(host.collect(ticket), Ok(vec![70]));
    assert!(buffer.take().is_err());
    // The others fill the stock, and are stored together.
    let more: Vec<_> = std::iter::from_fn(|| request(&mut host)).collect();
    assert_eq!(more.len(), 1);
    for (at, call) in calls.into_iter().chain(more).enumerate() {
        one(&mut host, call, 71 + at as i64);
    }
    host.now += Duration::from_millis(20);
    while request(&mut host).is_some_and(|_| true) {}
    assert_eq!(buffer.take().map(|(id, _)| id), Ok(71));
}

#[test]
fn all_tags_of_a_leaf_share_its_connections_in_turns() {
    let mut host = leaf();
    let tags: Vec<TagId> = ["a", "b", "c"].map(|name| host.tag(name).0).to_vec();
    tags.iter().for_each(|tag| _ = host.wait(*tag, 5));
    let mut asked: Vec<String> = Vec::new();
    while let Some((_, mut call)) = request(&mut host) {
        asked.push(call.request(1).path[..24].to_owned());
    }
    let first: std::collections::BTreeSet<&String> = asked.iter().take(3).collect();
    assert_eq!((asked.len(), first.len()), (4, 3), "{asked:?}");
}

#[test]
fn a_caller_of_a_leaf_hears_since_when_no_response_came() {
    let mut host = leaf();
    let (tag, _) = host.tag("order");
    let ticket = host.wait(tag, 2);
    let calls: Vec<_> = std::iter::from_fn(|| request(&mut host)).collect();
    host.now += Duration::from_millis(400);
    let mut calls = calls.into_iter();
    one(&mut host, calls.next().unwrap(), 5);
    assert!(request(&mut host).is_none_or(|(_, call)| call.server == 0));
    host.now += Duration::from_millis(1_000);
    assert_eq!(host.collect(ticket), Err("Waits".into()));
    host.supply.cancel(ticket, host.clocks());
    assert_eq!(host.supply.tag_stats(tag).unwrap().left, 1, "its id is put back");
}

#[test]
fn the_end_of_one_request_is_not_that_of_another_of_the_same_tag() {
    let mut host = leaf();
    let (tag, buffer) = host.tag("order");
    let ticket = host.wait(tag, 2);
    let mut calls: Vec<_> = std::iter::from_fn(|| request(&mut host)).collect();
    let (second, (first, mut call)) = (calls.remove(1), calls.remove(0));
    call.request(9);
    let (end, _) = call.end(&Response::new("http://a", 200, b"71", "servers"));
    host.supply.done(second.0, end.clone(), host.clocks());
    assert!(host.supply.next_call(host.clocks()).is_none(), "it is of another call");
    one(&mut host, second, 70);
    host.supply.done(first, end, host.clocks());
    while request(&mut host).is_some() {}
    assert_eq!((host.collect(ticket), buffer.take().is_err()), (Ok(vec![70, 71]), true));
}
