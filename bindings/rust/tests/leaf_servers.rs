//! Ids of an unmodified Leaf: two nodes of the fake server, which misbehave on command; and of a range server.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;
#[path = "common/fake_server.rs"]
mod fake_server;
use common::forks::{in_child, plain_fork};
use common::{HANG, PATIENT_MS, sorted_and_distinct, unique_name};
use fake_server::FakeServer;
use leafid::{Code, Protocol, Segments, SegmentsBuilder};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// Two nodes of one Leaf.
struct Nodes {
    nodes: [FakeServer; 2],
}

impl Nodes {
    fn new() -> Nodes {
        // Their ids are far apart.
        let node = |worker, first| FakeServer::with(&["--leaf-worker-id", worker, "--first", first]);
        Nodes { nodes: [node("1", "1"), node("2", "1000000001")] }
    }

    fn builder(&self) -> SegmentsBuilder {
        let urls = self.nodes.iter().map(|node| node.url.as_str());
        let builder = Segments::builder().persist(false).name(unique_name()).servers(urls);
        builder.timeout_ms(PATIENT_MS).request_timeout_ms(PATIENT_MS).connect_timeout_ms(PATIENT_MS)
    }

    fn tell(&mut self, command: Value) {
        self.nodes.iter_mut().for_each(|node| drop(node.tell(command.clone())));
    }

    /// Every id that either gave.
    fn given(&mut self, tag: &str, mode: &str) -> BTreeSet<i64> {
        let mut all = BTreeSet::new();
        for node in &mut self.nodes {
            let given = node.tell(json!({"do": "given", "tag": tag, "mode": mode}));
            for run in given["given"].as_array().unwrap() {
                let bound = |at: usize| run[at].as_str().unwrap().parse::<i64>().unwrap();
                let before = all.len();
                let ids = (bound(0)..bound(1)).step_by(run[2].as_u64().unwrap() as usize);
                let count = ids.clone().count();
                all.extend(ids);
                assert_eq!(all.len(), before + count, "the nodes gave an id twice");
            }
        }
        all
    }
}

#[test]
fn every_id_is_the_servers_own_and_none_comes_twice() {
    let mut leaf = Nodes::new();
    let one = leaf.builder().open().unwrap();
    // Another process, and one that asks the other node first.
    let other = leaf.builder().servers(leaf.nodes.iter().rev().map(|node| &node.url)).open().unwrap();
    let mut ids = Vec::new();
    let taken: Vec<Vec<i64>> = std::thread::scope(|scope| {
        let takers: Vec<_> = (0..4)
            .map(|thread| {
                let tag = [&one, &other][thread % 2].tag("order").unwrap();
                scope.spawn(move || {
                    let mut ids = tag.take(300).unwrap();
                    ids.extend((0..700).map(|_| tag.next().unwrap()));
                    ids
                })
            })
            .collect();
        takers.into_iter().map(|taker| taker.join().unwrap()).collect()
    });
    taken.into_iter().for_each(|taken| ids.extend(taken));
    let distinct: BTreeSet<i64> = ids.iter().copied().collect();
    assert_eq!((distinct.len(), distinct.first() > Some(&0)), (4_000, true));
    assert!(distinct.is_subset(&leaf.given("order", "segment")));
    let stats = one.tag("order").unwrap().stats().unwrap();
    assert_eq!((stats.step, stats.failures), (1_000, 0), "{stats:?}");
}

#[test]
fn threads_of_a_child_that_begin_together_leave_its_servers_open() {
    let leaf = Nodes::new();
    let ids = leaf.builder().open().unwrap();
    let order = ids.tag("order").unwrap();
    let mut all = order.take(10).unwrap();
    for _ in 0..25 {
        all.extend(in_child(plain_fork, |say| {
            let begin = Barrier::new(4);
            let each = || (begin.wait(), order.take(5).unwrap()).1;
            let taken: Vec<i64> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..4).map(|_| scope.spawn(each)).collect();
                threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
            });
            taken.into_iter().for_each(say);
        }));
    }
    assert_eq!(all.len(), 10 + 25 * 20);
    assert!(sorted_and_distinct(all));
}

#[test]
fn a_stock_is_kept_over_several_connections_and_waits_for_nothing() {
    let mut leaf = Nodes::new();
    let node = &mut leaf.nodes[0];
    node.fault(json!({"delay_ms": 20}));
    let ids = Segments::builder().persist(false).name(unique_name()).servers([&node.url]);
    let ids = ids.adaptive(false).step(60).open().unwrap();
    let order = ids.tag("order").unwrap();
    order.next().unwrap();
    let deadline = Instant::now() + HANG;
    while order.stats().unwrap().left < 54 {
        assert!(Instant::now() < deadline, "{:?}", order.stats());
        std::thread::sleep(Duration::from_millis(5));
    }
    let waits = order.stats().unwrap().waits;
    for _ in 0..50 {
        order.next().unwrap();
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(order.stats().unwrap().waits, waits, "none of them waited");
    let report = node.report();
    assert_eq!(report["most_at_once"], 4, "{report}");
    assert_eq!(report["nonces_repeated"], 0);
}

#[test]
fn one_request_that_hangs_keeps_no_caller_waiting() {
    let mut leaf = Nodes::new();
    let node = &mut leaf.nodes[0];
    let ids = Segments::builder().persist(false).name(unique_name()).servers([&node.url]);
    let ids = ids.step(20).adaptive(false).request_timeout_ms(900_000).timeout_ms(PATIENT_MS).open().unwrap();
    let order = ids.tag("order").unwrap();
    node.tell(json!({"do": "fault", "fault": {"hang": true}, "tag": "order", "times": 1, "after": 1}));
    assert_eq!(order.take(200).unwrap().len(), 200, "over the other connections");
    ids.close().unwrap();
}

#[test]
fn what_came_in_beside_a_request_that_hangs_is_reported() {
    let mut leaf = Nodes::new();
    let node = &mut leaf.nodes[0];
    let ids = Segments::builder().persist(false).name(unique_name()).servers([&node.url]);
    let ids = ids.step(20).adaptive(false).request_timeout_ms(900_000).timeout_ms(PATIENT_MS).open().unwrap();
    let order = ids.tag("order").unwrap();
    let left_at_least = |left| {
        let deadline = Instant::now() + HANG;
        while order.stats().unwrap().left < left {
            assert!(Instant::now() < deadline, "{:?}", order.stats());
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    order.next().unwrap();
    left_at_least(18);
    node.tell(json!({"do": "fault", "fault": {"hang": true}, "tag": "order", "times": 1}));
    // No caller waits for those that are fetched now.
    order.take(5).unwrap();
    left_at_least(18);
    // All but the one that hangs: another one may have just been answered.
    let deadline = Instant::now() + HANG;
    while node.report()["under_way"] != 1 {
        assert!(Instant::now() < deadline, "{}", node.report());
        std::thread::sleep(Duration::from_millis(5));
    }
    ids.close().unwrap();
}

#[test]
fn a_process_that_takes_one_id_asks_four_times_at_most_and_with_step_1_twice() {
    for (step, requests) in [(1_000, 4), (1, 2)] {
        let mut leaf = Nodes::new();
        let ids = leaf.builder().step(step).open().unwrap();
        ids.tag("order").unwrap().next().unwrap();
        std::thread::sleep(Duration::from_millis(300));
        let asked: i64 = leaf.nodes.iter_mut().map(|node| node.report()["total"].as_i64().unwrap()).sum();
        assert!((1..=requests).contains(&asked), "{asked} with step {step}");
    }
}

#[test]
fn who_gives_up_leaves_few_requests_behind() {
    let mut leaf = Nodes::new();
    let ids = leaf.builder().open().unwrap();
    let order = ids.tag("order").unwrap();
    assert_eq!(order.take(2_000).unwrap().len(), 2_000);
    let mut all = order.take_async(1 << 24);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(std::pin::Pin::new(&mut all).poll(&mut context).is_pending());
    std::thread::sleep(Duration::from_millis(300));
    assert!(std::pin::Pin::new(&mut all).poll(&mut context).is_pending());
    drop(all);
    let asked = |leaf: &mut Nodes| -> i64 {
        leaf.nodes.iter_mut().map(|node| node.report()["total"].as_i64().unwrap()).sum()
    };
    let deadline = Instant::now() + HANG;
    let mut before = asked(&mut leaf);
    // Those that were under way end, on a busy machine late.
    loop {
        std::thread::sleep(Duration::from_millis(300));
        let now = asked(&mut leaf);
        if now - before <= 64 {
            return;
        }
        assert!(Instant::now() < deadline, "{} requests without a caller", now - before);
        before = now;
    }
}

#[test]
fn a_slow_leaf_keeps_no_other_source_waiting() {
    let mut leaf = Nodes::new();
    leaf.tell(json!({"do": "fault", "fault": {"delay_ms": 200_000}}));
    let slow = leaf.builder().timeout_ms(HANG.as_millis() as i64).request_timeout_ms(100_000).open().unwrap();
    let counter = std::sync::atomic::AtomicI64::new(1);
    let quick = Segments::builder().persist(false).name(unique_name()).timeout_ms(90_000).adaptive(false);
    let quick = quick.fetch(move |request| {
        let start = counter.fetch_add(request.step, std::sync::atomic::Ordering::SeqCst);
        Ok(Some(leafid::Segment::new(start, start + request.step, 1)?.into()))
    });
    let quick = quick.step(1).open().unwrap();
    std::thread::scope(|scope| {
        for tag in 0..20 {
            let tag = slow.tag(&format!("slow{tag}")).unwrap();
            scope.spawn(move || tag.next());
        }
        std::thread::sleep(Duration::from_millis(200));
        quick.tag("order").unwrap().take(50).unwrap();
        slow.close().unwrap();
    });
}

#[test]
fn a_mode_that_is_switched_off_gives_no_id() {
    let mut leaf = Nodes::new();
    leaf.tell(json!({"do": "leaf", "segment": "off"}));
    let dir = tempfile::tempdir().unwrap();
    let build = || leaf.builder().persist(true).state_dir(dir.path());
    for (builder, tag) in [(build(), "order"), (build().block_size(100), "order-x100"), (build(), "order")] {
        let ids = builder.open().unwrap();
        let error = ids.tag(tag).unwrap().next().unwrap_err();
        assert_eq!(error.code(), Code::SourceInvalid, "{error}");
        assert!(error.message().contains("switched off") && error.message().contains("200 \"0\""), "{error}");
    }
    let ids = build().open().unwrap();
    let order = ids.tag("order").unwrap();
    assert_eq!(order.try_next().unwrap(), None);
    leaf.tell(json!({"do": "leaf", "segment": "on"}));
    assert!(order.next().unwrap() > 0, "recovered");
}

#[test]
fn a_cache_that_repeats_an_answer_is_noticed() {
    for (header, code) in [(json!({}), Code::SegmentRegressed), (json!({"Age": "5"}), Code::SourceInvalid)] {
        let mut leaf = Nodes::new();
        let ids = leaf.builder().open().unwrap();
        let order = ids.tag("order").unwrap();
        leaf.tell(json!({"do": "fault", "fault": {"body": "77", "headers": header}}));
        let mut issued = Vec::new();
        let error = loop {
            match order.next_within(5_000) {
                Ok(id) => issued.push(id),
                Err(error) => break error,
            }
        };
        assert_eq!(error.code(), code, "{error}");
        assert!(issued == if code == Code::SegmentRegressed { vec![77] } else { vec![] }, "{issued:?}");
        leaf.tell(json!({"do": "clear"}));
        assert!(order.next().unwrap() != 77, "recovered");
    }
}

#[test]
fn a_few_answers_that_look_like_former_ones_are_no_failure() {
    for (times, fails) in [(4, false), (5, true)] {
        let mut leaf = Nodes::new();
        let only = leaf.nodes[0].url.clone();
        let ids = leaf.builder().servers([only]).step(1).adaptive(false).connections(1).open().unwrap();
        let order = ids.tag("order").unwrap();
        let first = order.next().unwrap();
        let fault = json!({"body": first.to_string()});
        leaf.tell(json!({"do": "fault", "fault": fault, "tag": "order", "times": times}));
        // The first of them may be at hand already.
        let more: Vec<i64> = (0..3).map(|_| order.next().unwrap()).collect();
        assert!(!more.contains(&first), "{more:?}");
        let stats = ids.stats().unwrap();
        assert_eq!(stats.tags[0].failures > 0, fails, "{times}: {:?}", stats.tags[0]);
    }
}

#[test]
fn wrong_answers_give_no_id() {
    let mut leaf = Nodes::new();
    let ids = leaf.builder().open().unwrap();
    let order = ids.tag("order").unwrap();
    for fault in [
        json!({"body": "007"}),
        json!({"body": "+7"}),
        json!({"body": "7\n"}),
        json!({"body": "9223372036854775808"}),
        json!({"body": "9223372036854775807"}),
        json!({"body": ""}),
        json!({"body": "<html>"}),
        json!({"body": "12345", "cut": 2}),
        json!({"body": "7", "framing": "none"}),
        json!({"status": 404, "body": "7"}),
    ] {
        // Without a moment in which a right one could come.
        leaf.tell(json!({"do": "fault", "fault": fault}));
        let error = order.next_within(2_000).unwrap_err();
        assert_eq!(error.code(), Code::SourceInvalid, "{fault} {error}");
    }
    leaf.tell(json!({"do": "clear"}));
    // No node may still rest for it.
    assert!(order.next().unwrap() > 0);
}

#[test]
fn blocks_of_ids_by_the_name_of_their_tag() {
    let leaf = Nodes::new();
    let ids = leaf.builder().block_size(100).step(250).open().unwrap();
    let taken = ids.tag("order-x100").unwrap().take(1_000).unwrap();
    let blocks: BTreeSet<i64> = taken.iter().map(|id| id / 100).collect();
    assert!(taken.iter().all(|id| *id >= 100) && blocks.len() == 10, "{blocks:?}");
    assert_eq!(taken.iter().collect::<BTreeSet<_>>().len(), 1_000);
    for (builder, tag, says) in [
        (leaf.builder().block_size(100), "order", "called …-x100"),
        (leaf.builder().block_size(100), "order-x10", "called …-x100"),
        (leaf.builder().block_size(100), "-x100", "called …-x100"),
        (leaf.builder(), "order-x100", "set block_size to 100"),
        (leaf.builder(), "a.b", "without a dot"),
        (leaf.builder().protocol(Protocol::LeafSnowflake), "a/b", "without a slash"),
    ] {
        let error = builder.open().unwrap().tag(tag).unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument);
        assert!(error.message().contains(says), "{error}");
    }
    for wrong in [
        leaf.builder().block_size(1),
        leaf.builder().block_size(1_000_001),
        leaf.builder().protocol(Protocol::LeafSnowflake).block_size(100),
        leaf.builder().protocol(Protocol::Tinyid).step(100),
        leaf.builder().ordered_source(true),
    ] {
        assert_eq!(wrong.open().unwrap_err().code(), Code::InvalidArgument, "{wrong:?}");
    }
}

#[test]
fn ids_in_order_and_a_step_raised_at_the_source() {
    let mut server = FakeServer::new();
    let builder = Segments::builder().persist(false).name(unique_name()).timeout_ms(PATIENT_MS);
    let ids = builder.protocol(Protocol::Range).servers([&server.url]).adaptive(false).open().unwrap();
    let order = ids.tag("order/ é").unwrap();
    assert_eq!(order.take(2_500).unwrap(), (1..=2_500).collect::<Vec<i64>>());
    server.tell(json!({"do": "tag", "tag": "order/ é", "step": 50_000}));
    let before = server.report()["total"].as_i64().unwrap();
    for id in 2_501..=150_000 {
        assert_eq!(order.next().unwrap(), id);
    }
    let fetches = server.report()["total"].as_i64().unwrap() - before;
    assert!(fetches <= 8, "{fetches}");
    let report = server.report();
    assert_eq!((&report["most_at_once"], &report["nonces_repeated"]), (&json!(1), &json!(0)));
}
