//! Ids of an unmodified Leaf: two nodes of the fake server, which misbehave on command; and of a range server.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;
#[path = "common/fake_server.rs"]
mod fake_server;
use common::forks::{in_child, plain_fork};
use common::{HANG, PATIENT_MS, sorted_and_distinct, unique_name};
use fake_server::FakeServer;
use leafid::{Protocol, Segments, SegmentsBuilder};
use serde_json::json;
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

    /// Every id that either gave.
    fn given(&self, tag: &str, mode: &str) -> BTreeSet<i64> {
        let mut all = BTreeSet::new();
        for node in &self.nodes {
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
    let leaf = Nodes::new();
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
fn what_came_in_beside_a_request_that_hangs_is_reported() {
    let leaf = Nodes::new();
    let node = &leaf.nodes[0];
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
fn who_gives_up_leaves_few_requests_behind() {
    let leaf = Nodes::new();
    let ids = leaf.builder().open().unwrap();
    let order = ids.tag("order").unwrap();
    assert_eq!(order.take(2_000).unwrap().len(), 2_000);
    let mut all = order.take_async(1 << 24);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(std::pin::Pin::new(&mut all).poll(&mut context).is_pending());
    std::thread::sleep(Duration::from_millis(300));
    assert!(std::pin::Pin::new(&mut all).poll(&mut context).is_pending());
    drop(all);
    let asked = |leaf: &Nodes| -> i64 {
        leaf.nodes.iter().map(|node| node.report()["total"].as_i64().unwrap()).sum()
    };
    let deadline = Instant::now() + HANG;
    let mut before = asked(&leaf);
    // Those that were under way end, on a busy machine late.
    loop {
        std::thread::sleep(Duration::from_millis(300));
        let now = asked(&leaf);
        if now - before <= 64 {
            return;
        }
        assert!(Instant::now() < deadline, "{} requests without a caller", now - before);
        before = now;
    }
}

#[test]
fn ids_in_order_and_a_step_raised_at_the_source() {
    let server = FakeServer::new();
    let builder = Segments::builder().persist(false).name(unique_name()).timeout_ms(PATIENT_MS);
    let builder = builder.request_timeout_ms(PATIENT_MS).connect_timeout_ms(PATIENT_MS);
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
