//! Tests of several servers: the first is preferred, and one that fails backs off.

use super::connections::hanging_address;
use super::fake_server::{FakeServer, ManualPool, Reaction, fetch, http, options, source};
use crate::hang::HANG;
use crate::http::HttpOptions;
use leafid_core::time::LONGEST_MS;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};

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
