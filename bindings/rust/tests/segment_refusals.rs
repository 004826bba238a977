//! What is refused for certain is an error at once, with every Leaf and tinyid, and ids continue by themselves.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;
#[allow(dead_code)]
#[path = "common/fake_server.rs"]
mod fake_server;
#[path = "common/leaf.rs"]
mod leaf;

use common::{HANG, unique_name};
use fake_server::FakeServer;
use leaf::Leaf;
use leafid::{Code, Error, FileTag, Prewarm, Protocol, Segment, Segments, SegmentsBuilder};
use serde_json::json;
use std::time::{Duration, Instant};

fn builder<'a>(urls: impl IntoIterator<Item = &'a String>) -> SegmentsBuilder {
    let builder = Segments::builder().persist(false).name(unique_name()).servers(urls);
    builder.timeout_ms(HANG.as_millis() as i64)
}

/// The error of a call that ends long before its time.
fn refused(ids: &Segments, tag: &str) -> Error {
    let begun = Instant::now();
    let error = ids.tag(tag).unwrap().next().unwrap_err();
    assert!(begun.elapsed() < HANG / 2, "{:?}: {error}", begun.elapsed());
    error
}

#[test]
fn what_all_servers_refuse_is_told_at_once_and_ids_go_on_afterwards() {
    for (status, body, code, says) in [
        (200, "0", Code::SourceInvalid, "switched off"),
        (404, "{}", Code::SourceInvalid, "`protocol`"),
        (401, "", Code::SourceInvalid, "`token`"),
        (403, "", Code::SourceInvalid, "`token`"),
    ] {
        let leaves = [Leaf::open(), Leaf::open()];
        leaves.iter().for_each(|leaf| leaf.says("", status, body));
        let ids = builder(leaves.iter().map(|leaf| &leaf.url)).open().unwrap();
        for _ in 0..3 {
            let error = refused(&ids, "order");
            assert_eq!(error.code(), code, "{error}");
            assert!(error.message().contains(says), "{error}");
        }
        leaves[1].clear();
        assert!(ids.tag("order").unwrap().next().unwrap() > 0, "{status}: recovered");
    }
}

#[test]
fn each_of_many_waiters_gets_what_concerns_it() {
    let leaf = Leaf::open();
    leaf.says("", 401, "");
    let ids = builder([&leaf.url]).open().unwrap();
    let names: Vec<String> = (0..20).map(|number| format!("tag{number}x")).collect();
    std::thread::scope(|scope| {
        for name in &names {
            let (ids, names) = (&ids, &names);
            scope.spawn(move || {
                let error = refused(ids, name);
                let others = names.iter().filter(|other| *other != name);
                assert!(others.into_iter().all(|other| !error.message().contains(other.as_str())), "{error}");
                assert!(error.message().contains("answered 401"), "{error}");
            });
        }
    });
}

#[test]
fn one_of_several_that_refuses_is_no_refusal() {
    let (wrong, right) = (Leaf::open(), Leaf::open());
    wrong.says("", 404, "");
    let ids = builder([&wrong.url, &right.url]).open().unwrap();
    assert_eq!(ids.tag("order").unwrap().take(50).unwrap().len(), 50);
    // Beside one that cannot be reached it may yet be answered.
    let absent = "http://127.0.0.1:1".to_owned();
    let ids = builder([&wrong.url, &absent]).timeout_ms(700).open().unwrap();
    let begun = Instant::now();
    ids.tag("order").unwrap().next().unwrap_err();
    assert!(begun.elapsed() >= Duration::from_millis(700), "{:?}", begun.elapsed());
}

#[test]
fn what_is_wrong_with_one_tag_rests_no_server_for_others() {
    for (status, body) in [(404, ""), (200, "<html>"), (200, "0"), (401, "")] {
        let leaf = Leaf::open();
        leaf.says("bad", status, body);
        let ids = builder([&leaf.url]).open().unwrap();
        let (bad, good) = (ids.tag("bad").unwrap(), ids.tag("good").unwrap());
        for _ in 0..5 {
            bad.next_within(50).unwrap_err();
            assert_eq!(good.take(100).unwrap().len(), 100);
        }
        let stats = good.stats().unwrap();
        assert_eq!((stats.failures, stats.last_error), (0, None), "{status} {body}");
    }
}

#[test]
fn tinyid_says_which_of_its_causes_an_empty_answer_has() {
    let mut server = FakeServer::new();
    server.tell(json!({"do": "token", "token": "right"}));
    server.tell(json!({"do": "tag", "tag": "unknown", "known": false}));
    server.tell(json!({"do": "tag", "tag": "ended", "next": i64::MAX - 1}));
    let builder = builder([&server.url]).protocol(Protocol::Tinyid);
    let wrong = builder.clone().token("wrong").open().unwrap();
    let error = refused(&wrong, "order");
    assert_eq!(error.code(), Code::SegmentUnavailable);
    assert!(
        error.message().contains("tiny_id_token") && error.message().contains("token is error"),
        "{error}"
    );
    let ids = builder.token("right").open().unwrap();
    let error = refused(&ids, "unknown");
    assert_eq!(error.code(), Code::UnknownTag, "{error}");
    assert!(error.message().contains("tiny_id_info"), "{error}");
    let error = ids.tag("ended").unwrap().next_within(3_000).unwrap_err();
    assert_eq!(error.code(), Code::SegmentUnavailable);
    assert!(error.message().contains("database"), "{error}");
    assert_eq!(ids.tag("order").unwrap().take(10).unwrap().len(), 10);
    server.tell(json!({"do": "token", "token": "wrong"}));
    assert_eq!(wrong.tag("order").unwrap().take(10).unwrap().len(), 10, "recovered");
}

#[test]
fn a_tag_of_blocks_is_refused_by_all_but_a_leaf_unless_its_numbers_are_ids() {
    let (tag, dir) = ("order-x100", tempfile::tempdir().unwrap());
    let server = FakeServer::new();
    let plain = || Segments::builder().persist(false).name(unique_name());
    let file = format!("file:{}", dir.path().join("counters").display());
    let counters = [(tag, FileTag { start: 1, step: 10 })];
    for source in [
        builder([&server.url]).protocol(Protocol::Range),
        builder([&server.url]).protocol(Protocol::Tinyid),
        plain().servers([&file]).create(true).tags(counters),
        plain().fetch(|_| Ok(Some(Segment::new(1, 11, 1)?.into()))),
    ] {
        let ids = source.clone().open().unwrap();
        for error in [
            ids.tag(tag).unwrap_err(),
            source.clone().prewarm(Prewarm::Tags(vec![tag.into()])).open().unwrap_err(),
        ] {
            assert_eq!(error.code(), Code::InvalidArgument);
            assert!(error.message().starts_with("tag is \"order-x100\"; allowed: "), "{error}");
            assert!(error.message().contains("set block_size to 1"), "{error}");
        }
        let stated = source.clone().block_size(1).open().unwrap();
        stated.tag(tag).unwrap().next().unwrap();
        assert_eq!(source.block_size(100).open().unwrap_err().code(), Code::InvalidArgument);
    }
}
