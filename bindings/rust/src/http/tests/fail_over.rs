//! Tests of several servers: the first is preferred, and one that fails backs off.

use super::connections::hanging_address;
use super::fake_server::{FakeServer, ManualPool, Reaction, fetch, http, options, source};
use crate::hang::HANG;
use crate::http::HttpOptions;
use leafid_core::Code;
use leafid_core::time::LONGEST_MS;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

/// The first back-off, in milliseconds.
const REST_MS: i64 = 200;

/// A server that returns 503 while the switch is on.
fn switched() -> (Arc<AtomicBool>, FakeServer) {
    let failing = Arc::new(AtomicBool::new(true));
    let switch = Arc::clone(&failing);
    let server = FakeServer::new(move |seen| match failing.load(SeqCst) {
        true => Reaction::Bytes(http("503 Busy", "", "busy")),
        false => seen.right(),
    });
    (switch, server)
}

#[test]
fn the_first_is_preferred_and_returned_to() {
    let ((failing, first), second, third) = (switched(), FakeServer::right(), FakeServer::right());
    let source = source(&[&first, &second, &third]);
    fetch(&source, "order").unwrap();
    fetch(&source, "order").unwrap();
    assert_eq!([first.seen().len(), second.seen().len(), third.seen().len()], [1, 2, 0]);
    assert_eq!(source.back_off_ms(), None, "another one may be asked");
    let errors = source.last_errors();
    assert!(errors[0].as_ref().unwrap().message().contains(&first.url()), "{errors:?}");
    assert!(errors[0].as_ref().unwrap().message().contains("answered 503 \"busy\""), "{errors:?}");
    assert!(errors[1].is_none());
    failing.store(false, SeqCst);
    // A failure counts from the end of its millisecond.
    source.advance(LONGEST_MS + 1);
    fetch(&source, "order").unwrap();
    fetch(&source, "order").unwrap();
    let seen = [first.seen().len(), second.seen().len(), third.seen().len()];
    assert_eq!(seen, [3, 2, 0], "{:?}", source.last_errors());
    assert!(source.last_errors()[0].is_none(), "it answered since");
}

#[test]
fn who_waits_is_not_kept_by_one_that_failed() {
    let ((_failing, first), second) = (switched(), FakeServer::right());
    let source = source(&[&first, &second]);
    fetch(&source, "order").unwrap();
    source.advance(2 * REST_MS);
    source.range(true, ("order", 1_000, 0), 7).unwrap();
    assert_eq!([first.seen().len(), second.seen().len()], [1, 2]);
}

#[test]
fn wrong_answers_fail_over_and_definite_ones_do_not() {
    for (status, body, second_is_asked) in [
        ("404 None", r#"{"error":"unknown_tag"}"#, false),
        ("400 No", r#"{"error":"invalid_argument"}"#, false),
        ("404 None", "<html>", true),
        ("401 Who", "", true),
        ("302 There", "", true),
        ("200 OK", "7", true),
    ] {
        let first = FakeServer::saying(http(status, "", body));
        let second = FakeServer::right();
        let fetched = fetch(&source(&[&first, &second]), "order");
        assert_eq!(fetched.is_ok(), second_is_asked, "{status}");
        assert_eq!(second.seen().len(), usize::from(second_is_asked), "{status}");
    }
}

#[test]
fn one_that_is_dead_or_slow_costs_one_connect_timeout_once() {
    let (dead, _full) = hanging_address();
    let slow = FakeServer::new(|_| Reaction::Nothing);
    let connect_timeout = Duration::from_secs(3);
    for first in [format!("http://{dead}"), slow.url()] {
        let (second, third) = (FakeServer::right(), FakeServer::right());
        let servers = [first, second.url(), third.url()];
        let source = ManualPool::new(HttpOptions { connect_timeout, ..options(&servers) });
        let begun = Instant::now();
        fetch(&source, "order").unwrap();
        let took = begun.elapsed();
        assert!(took >= connect_timeout - Duration::from_millis(10), "{took:?}");
        // Each would take as long again.
        for _ in 0..150 {
            fetch(&source, "order").unwrap();
        }
        assert!(begun.elapsed() < HANG / 2, "{:?}", begun.elapsed());
    }
    assert_eq!(slow.seen().len(), 1);
}

#[test]
fn while_all_rest_nobody_is_asked() {
    let ((_, first), (failing, second)) = (switched(), switched());
    let source = source(&[&first, &second]);
    let error = fetch(&source, "order").unwrap_err();
    assert_eq!(error.code(), Code::SegmentUnavailable);
    let mut asked = [vec![0], vec![0]];
    while source.now_ms() < 4 * REST_MS {
        source.advance(1);
        let again = fetch(&source, "order").unwrap_err();
        assert!(again.message().contains("answered 503"), "{again}");
        assert!(source.back_off_ms().is_none_or(|back_off_ms| (1..=1_000).contains(&back_off_ms)));
        for (server, asked) in [&first, &second].into_iter().zip(&mut asked) {
            asked.resize(server.seen().len(), source.now_ms());
        }
    }
    for at in asked {
        assert!(at.len() >= 2, "{at:?}");
        assert!(at.windows(2).all(|pair| pair[1] - pair[0] >= REST_MS), "{at:?}");
    }
    failing.store(false, SeqCst);
    while fetch(&source, "order").is_err() {
        // The first may end its back-off before the second does, and is still down.
        source.advance(source.back_off_ms().unwrap_or(1));
        assert!(source.now_ms() < 100 * REST_MS);
    }
    assert_eq!(source.back_off_ms(), None);
}

#[test]
fn requests_that_fail_together_count_as_one_failure() {
    let together = Barrier::new(4);
    let server = FakeServer::new(move |_| {
        together.wait();
        Reaction::Bytes(http("503 Busy", "", ""))
    });
    let source = source(&[&server]);
    std::thread::scope(|scope| {
        for tag in ["a", "b", "c", "d"] {
            let source = &source;
            scope.spawn(move || fetch(source, tag).unwrap_err());
        }
    });
    assert_eq!(server.seen().len(), 4);
    let back_off_ms = source.back_off_ms().unwrap();
    assert!(back_off_ms < 300, "{back_off_ms}");
}

/// With four threads and any number of tags, a source that is down gets at most five requests a second.
#[test]
fn a_source_that_is_down_is_asked_five_times_a_second_at_most() {
    let server = FakeServer::saying(http("503 Busy", "", "busy"));
    let source = source(&[&server]);
    while source.now_ms() < 2_500 {
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let source = &source;
                scope.spawn(move || {
                    let tag = format!("t{thread}");
                    source.range(true, (&tag, 1, 0), source.now_ms() as u128).unwrap_err();
                });
            }
        });
        source.advance(10);
    }
    // The first four may run concurrently.
    let asked = server.seen().len();
    assert!((3..=4 + 13).contains(&asked), "{asked}");
}

/// The request has `after` = 900.
#[test]
fn a_server_that_lost_what_it_gave_is_passed_over() {
    let rewound = FakeServer::new(|seen| {
        let (tail, head) = (seen.body(), r#"{"tag":"order","start":"1","#);
        let body = format!("{head}{}", &tail[tail.find(r#""end""#).unwrap()..]);
        assert!(body.contains(r#""start":"1""#), "{body}");
        Reaction::Bytes(http("200 OK", "", &body))
    });
    let right = FakeServer::right();
    let source = source(&[&rewound, &right]);
    assert!(fetch(&source, "order").unwrap().segment.start() >= 900);
    let alone = self::source(&[&rewound]);
    let error = fetch(&alone, "order").unwrap_err();
    assert_eq!(error.code(), Code::SegmentRegressed);
    assert!(error.message().contains(&rewound.url()) && error.message().contains("899 below"), "{error}");
}
