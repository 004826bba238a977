//! Tests of several servers: the first is preferred, and one that fails backs off.

use super::connections::hanging_address;
use super::fake_server::{FakeServer, Reaction, Seen, fetch, http, options, source};
use crate::http::{HttpOptions, ServerPool};
use crate::segments::FetchRequest;
use crate::segments::source::dialects;
use leafid_core::Code;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

/// The first back-off.
const REST: Duration = Duration::from_millis(200);

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
    let begun = Instant::now();
    fetch(&source, "order").unwrap();
    fetch(&source, "order").unwrap();
    let asked = first.seen().len();
    // On a machine that is too busy, its back-off has ended in between.
    assert!(asked == 1 || asked == 2 && begun.elapsed() >= REST, "{asked}");
    assert_eq!([second.seen().len(), third.seen().len()], [2, 0]);
    assert_eq!(source.back_off_ms(false), None, "another one may be asked");
    let errors = source.last_errors();
    assert_eq!(errors[0].0, first.url());
    assert!(errors[0].1.as_ref().unwrap().message().contains("answered 503 \"busy\""), "{errors:?}");
    assert!(errors[1].1.is_none());
    failing.store(false, SeqCst);
    std::thread::sleep(2 * REST + Duration::from_millis(10));
    fetch(&source, "order").unwrap();
    fetch(&source, "order").unwrap();
    assert_eq!([first.seen().len(), second.seen().len(), third.seen().len()], [asked + 2, 2, 0]);
    assert!(source.last_errors()[0].1.is_none(), "it answered since");
}

#[test]
fn who_waits_is_not_kept_by_one_that_failed() {
    let ((_failing, first), second) = (switched(), FakeServer::right());
    let source = source(&[&first, &second]);
    fetch(&source, "order").unwrap();
    std::thread::sleep(REST + Duration::from_millis(10));
    let request = FetchRequest { tag: "order".into(), step: 1_000, after: 0, urgent: true };
    dialects::range(&source, true, &request, 7).unwrap();
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
    let slow = FakeServer::new(|_| Reaction::Late(Duration::from_secs(9), Vec::new()));
    let bound_ms = 3_000;
    for first in [format!("http://{dead}"), slow.url()] {
        let (second, third) = (FakeServer::right(), FakeServer::right());
        let connect_timeout = Duration::from_millis(bound_ms as u64);
        let servers = [first, second.url(), third.url()];
        let source = ServerPool::new(HttpOptions { connect_timeout, ..options(&servers) }).unwrap();
        let begun = Instant::now();
        fetch(&source, "order").unwrap();
        let took = begun.elapsed().as_millis();
        assert!((bound_ms - 10..2 * bound_ms - 10).contains(&took), "{took}");
        let begun = Instant::now();
        while begun.elapsed() < REST / 2 {
            fetch(&source, "order").unwrap();
        }
        assert!(begun.elapsed() < Duration::from_millis(2_990), "{:?}", begun.elapsed());
    }
}

#[test]
fn while_all_rest_nobody_is_asked() {
    let ((_, first), (failing, second)) = (switched(), switched());
    let source = source(&[&first, &second]);
    let error = fetch(&source, "order").unwrap_err();
    assert_eq!(error.code(), Code::SegmentUnavailable);
    let begun = Instant::now();
    while begun.elapsed() < 4 * REST {
        let again = fetch(&source, "order").unwrap_err();
        assert!(again.message().contains("answered 503"), "{again}");
        assert!(source.back_off_ms(false).is_none_or(|back_off_ms| (1..=1_000).contains(&back_off_ms)));
    }
    for server in [&first, &second] {
        let at: Vec<Instant> = server.seen().iter().map(|seen| seen.at).collect();
        assert!(at.len() >= 2, "{}", at.len());
        assert!(at.windows(2).all(|pair| pair[1] - pair[0] >= REST));
    }
    failing.store(false, SeqCst);
    let begun = Instant::now();
    while fetch(&source, "order").is_err() {
        // The first may end its back-off before the second does, and is still down.
        std::thread::sleep(Duration::from_millis(source.back_off_ms(false).unwrap_or(1) as u64));
        assert!(begun.elapsed() < Duration::from_secs(60));
    }
    assert_eq!(source.back_off_ms(false), None);
}

#[test]
fn requests_that_fail_together_count_as_one_failure() {
    let server = FakeServer::new(|_| Reaction::Late(Duration::from_millis(100), http("503 Busy", "", "")));
    let source = source(&[&server]);
    let together = Barrier::new(4);
    std::thread::scope(|scope| {
        for tag in ["a", "b", "c", "d"] {
            let (source, together) = (&source, &together);
            scope.spawn(move || {
                together.wait();
                fetch(source, tag).unwrap_err();
            });
        }
    });
    assert_eq!(server.seen().len(), 4);
    let back_off_ms = source.back_off_ms(false).unwrap();
    assert!(back_off_ms < 300, "{back_off_ms}");
}

/// With four threads and any number of tags, a source that is down gets at most five requests a second.
#[test]
fn a_source_that_is_down_is_asked_five_times_a_second_at_most() {
    let down = |_: &Seen| Reaction::Late(Duration::from_millis(20), http("503 Busy", "", ""));
    let server = FakeServer::new(down);
    let source = source(&[&server]);
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let source = &source;
            scope.spawn(move || {
                for nonce in 0.. {
                    if begun.elapsed() > Duration::from_millis(2_500) {
                        break;
                    }
                    let request = FetchRequest { tag: format!("t{thread}"), step: 1, after: 0, urgent: true };
                    dialects::range(source, true, &request, nonce).unwrap_err();
                    let back_off_ms = source.back_off_ms(true).unwrap_or(1);
                    std::thread::sleep(Duration::from_millis(back_off_ms.min(50) as u64));
                }
            });
        }
    });
    let at: Vec<Instant> = server.seen().iter().map(|seen| seen.at).collect();
    // The first four ran concurrently.
    let later = &at[4.min(at.len())..];
    assert!(later.len() >= 3, "{}", later.len());
    let most = 5.0 * begun.elapsed().as_secs_f64() + 1.0;
    assert!((later.len() as f64) < most, "{} of {most}", later.len());
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
