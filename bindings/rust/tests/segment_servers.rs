//! Segments from a server that speaks `range`: the fake server of all languages' tests, told to misbehave.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;
#[path = "common/fake_server.rs"]
mod fake_server;
use common::{PATIENT_MS, sorted_and_distinct, unique_name};
use fake_server::FakeServer;
use leafid::{Code, Protocol, Segments, SegmentsBuilder};
use serde_json::json;
use std::time::{Duration, Instant};

fn builder(server: &FakeServer) -> SegmentsBuilder {
    let builder = Segments::builder().persist(false).name(unique_name());
    let builder = builder.protocol(Protocol::Range).servers([&server.url]);
    builder.timeout_ms(PATIENT_MS).request_timeout_ms(PATIENT_MS).connect_timeout_ms(PATIENT_MS)
}

#[test]
fn ids_in_order_and_a_step_raised_at_the_source() {
    let mut server = FakeServer::new();
    let ids = builder(&server).adaptive(false).open().unwrap();
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

#[test]
fn wrong_answers_give_no_id_and_the_next_right_one_does() {
    let mut server = FakeServer::new();
    let faults = [
        (json!({"answer": {"start": "7", "end": "7"}}), Code::SourceInvalid, "not above its start"),
        (json!({"answer": {"end": "9223372036854775808"}}), Code::SourceInvalid, "below 2^63"),
        (json!({"pad": 10_000_000}), Code::SourceInvalid, "longer than"),
        (json!({"cut": "half"}), Code::SourceInvalid, "ends before its end"),
        (json!({"framing": "none"}), Code::SourceInvalid, "does not say where it ends"),
        (json!({"body": "<html>busy</html>"}), Code::SourceInvalid, "<html>busy</html>"),
        (json!({"status": 500, "body": "broken"}), Code::SegmentUnavailable, "answered 500 \"broken\""),
        (json!({"status": 404, "body": "where?"}), Code::SourceInvalid, "answered 404 \"where?\""),
        (json!({"status": 401, "body": "who?"}), Code::SourceInvalid, "see `token`"),
        (
            json!({"status": 302, "body": "", "headers": {"Location": "http://x/"}}),
            Code::SourceInvalid,
            "redirects",
        ),
        (json!({"headers": {"Age": "5"}}), Code::SourceInvalid, "Age: \"5\""),
        (json!({"answer": {"nonce": "x"}}), Code::SourceInvalid, "its nonce is not"),
        (json!({"answer": {"tag": "x"}}), Code::SourceInvalid, "another tag"),
        (json!({"hang": true}), Code::SegmentUnavailable, "did not answer in time"),
        (json!({"reset": true}), Code::SegmentUnavailable, "without an answer"),
    ];
    // A tag and a source for each, so that none rests for another's fault.
    let mut sources = Vec::new();
    for (number, (fault, ..)) in faults.iter().enumerate() {
        let tag = format!("tag-{number}");
        server.tell(json!({"do": "tag", "tag": tag, "next": number * 1_000}));
        server.tell(json!({"do": "fault", "tag": tag, "fault": fault}));
        let builder = builder(&server).step(10).adaptive(false);
        // Only one of them does not answer.
        let request_ms = if fault["hang"] == true { 300 } else { PATIENT_MS };
        let ids = builder.request_timeout_ms(request_ms).open().unwrap();
        sources.push((ids.tag(&tag).unwrap(), ids));
    }
    std::thread::scope(|scope| {
        for ((tag, _), (fault, code, said)) in sources.iter().zip(&faults) {
            let url = server.url.clone();
            scope.spawn(move || {
                let error = tag.next_within(5_000).unwrap_err();
                assert_eq!(error.code(), *code, "{fault}: {error}");
                assert!(error.message().contains(said) && error.message().contains(&url), "{fault}: {error}");
            });
        }
    });
    server.tell(json!({"do": "clear"}));
    for (number, (tag, _)) in sources.iter().enumerate() {
        let first = number as i64 * 1_000;
        let taken = tag.take(20).unwrap();
        assert!(taken.iter().all(|id| (first..first + 1_000).contains(id)), "{taken:?}");
        assert!(sorted_and_distinct(taken));
    }
}

#[test]
fn a_counter_that_went_back_is_refused() {
    let mut server = FakeServer::new();
    let ids = builder(&server).step(10).adaptive(false).open().unwrap();
    let order = ids.tag("order").unwrap();
    let mut issued = order.take(15).unwrap();
    for fault in [json!({"duplicate": true}), json!({"answer": {"start": "1", "end": "101"}})] {
        server.fault(fault);
        let error = order.take_within(100, 3_000).unwrap_err();
        assert_eq!(error.code(), Code::SegmentRegressed, "{error}");
        server.tell(json!({"do": "clear"}));
    }
    // A counter that is behind, and catches up by being asked.
    server.tell(json!({"do": "tag", "tag": "order", "next": 1, "heeds_after": false}));
    issued.extend(order.take(100).unwrap());
    assert!(sorted_and_distinct(issued));
}

#[test]
fn a_counter_that_went_back_on_one_server_is_another_s_chance() {
    let (mut wrong, mut right) = (FakeServer::new(), FakeServer::new());
    let both = builder(&wrong).servers([&wrong.url, &right.url]);
    let ids = both.step(10).adaptive(false).open().unwrap();
    let order = ids.tag("order").unwrap();
    order.take(10).unwrap();
    right.tell(json!({"do": "tag", "tag": "order", "next": 1_001}));
    wrong.tell(json!({"do": "tag", "tag": "order", "next": 1, "heeds_after": false}));
    assert!(order.take(40).unwrap().last() > Some(&1_000));
    assert_eq!(order.stats().unwrap().failures, 0);
}

#[test]
fn a_source_that_is_down_is_spared_and_its_return_noticed() {
    let mut server = FakeServer::new();
    let ids = builder(&server).step(100).adaptive(false).open().unwrap();
    let tags: Vec<_> = (0..40).map(|number| ids.tag(&format!("tag-{number}")).unwrap()).collect();
    for tag in &tags {
        assert_eq!(tag.next().unwrap(), 1);
    }
    server.tell(json!({"do": "dead", "how": "refused"}));
    for tag in &tags {
        assert_eq!(tag.take(99).unwrap().last(), Some(&100), "what is buffered bridges it");
    }
    server.tell(json!({"do": "dead"}));
    server.fault(json!({"status": 503, "body": "starting"}));
    std::thread::sleep(Duration::from_millis(500));
    server.tell(json!({"do": "forget"}));
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let waiting: Vec<_> = tags.iter().map(|tag| scope.spawn(|| tag.next().unwrap())).collect();
        std::thread::sleep(Duration::from_millis(2_500));
        let asked = server.report()["total"].as_i64().unwrap();
        // Five a second; a machine that stalls sees some together that were sent apart.
        let most = 5 * (begun.elapsed().as_secs() as i64 + 1);
        assert!((1..=most).contains(&asked), "{asked} of at most {most}");
        server.tell(json!({"do": "clear"}));
        for waiter in waiting {
            assert_eq!(waiter.join().unwrap(), 101);
        }
    });
}
