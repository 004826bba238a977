//! Servers: which one is asked, when another one is, and how ids that come one by one are gathered.

use super::{Host, settings};
use leafid_core::IdOrder;
use leafid_core::call::CallId;
use leafid_core::http::{HttpCall, HttpServer, HttpServers};
use leafid_core::supply::{Call, Dialect, Source, SupplySettings};
use leafid_core::wire::Response;
use leafid_core::wire::leaf::LeafMode;
use std::collections::{BTreeMap, VecDeque};
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

pub(crate) fn answer(host: &mut Host, call: (CallId, HttpCall), random: u128, body: &str) {
    respond(host, call, random, (200, body));
}

fn respond(host: &mut Host, (id, mut call): (CallId, HttpCall), random: u128, (status, body): (u16, &str)) {
    call.request(random);
    let body = body.replace("NONCE", &format!("{random:032x}"));
    let (end, _) = call.end(&Response::new("http://a", status, body.as_bytes(), "servers"));
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

/// Answers the requests under way, which are as many as connections. Returns whose they were.
fn round_trip(host: &mut Host, next: &mut i64) -> Vec<String> {
    let held: Vec<_> = std::iter::from_fn(|| request(host)).collect();
    assert_eq!(held.len(), 4);
    let names = held.into_iter().map(|(id, call)| {
        let path = call.clone().request(1).path.to_string();
        one(host, (id, call), *next);
        *next += 1;
        path.split('?').next().unwrap().rsplit('/').next().unwrap().to_owned()
    });
    names.collect()
}

#[test]
fn tags_that_are_equally_busy_get_equally_many_ids_and_a_quiet_one_the_next() {
    for busy in [1, 2, 3, 5, 11] {
        let (mut host, mut next) = (leaf(), 1);
        for n in 0..busy {
            let tag = host.tag(&format!("busy{n}")).0;
            host.wait(tag, 100_000);
        }
        let mut asked = BTreeMap::<String, usize>::new();
        (0..busy * 10)
            .flat_map(|_| round_trip(&mut host, &mut next))
            .for_each(|tag| *asked.entry(tag).or_default() += 1);
        let most = asked.values().max().unwrap();
        assert!(asked.len() == busy && asked.values().all(|count| count + 1 >= *most), "{asked:?}");
        let tickets = ["quiet", "another", "third"].map(|name| {
            let tag = host.tag(name).0;
            let ticket = host.wait(tag, 1);
            assert!(round_trip(&mut host, &mut next).iter().any(|tag| tag == name), "{name} beside {busy}");
            ticket
        });
        round_trip(&mut host, &mut next);
        assert!(tickets.into_iter().all(|ticket| host.collect(ticket).is_ok()));
    }
}

#[test]
fn what_all_servers_refuse_is_told_at_once_and_ids_go_on_afterwards() {
    for (status, body, says) in [(401, "", "`token`"), (404, "{}", "`protocol`"), (200, "0", "switched off")]
    {
        let mut host = leaf();
        let tags = ["order", "invoice"].map(|name| host.tag(name).0);
        let tickets = tags.map(|tag| host.wait(tag, 1));
        while let Some(call) = request(&mut host) {
            respond(&mut host, call, 1, (status, body));
        }
        for (ticket, other) in tickets.into_iter().zip(["invoice", "order"]) {
            let error = host.collect(ticket).unwrap_err();
            assert!(error.contains(says) && !error.contains(other), "{error}");
        }
        host.now += Duration::from_secs(1);
        let again = host.wait(tags[0], 1);
        while let Some(call) = request(&mut host) {
            one(&mut host, call, 7);
        }
        assert_eq!(host.collect(again), Ok(vec![7]));
    }
}

#[test]
fn one_of_several_that_refuses_is_no_refusal() {
    for (status, body, told) in [(200, "7", Ok(vec![7])), (503, "", Err("Waits".into()))] {
        let mut host = leaf();
        let (tag, _) = host.tag("order");
        let ticket = host.wait(tag, 1);
        while let Some(call) = request(&mut host) {
            let answer = if call.1.server == 0 { (404, "") } else { (status, body) };
            respond(&mut host, call, 1, answer);
        }
        assert_eq!(host.collect(ticket), told);
    }
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
