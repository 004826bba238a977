//! Tests of several servers. Which one is asked, core/tests/fail_over.rs tells.

use super::connections::hanging_address;
use super::fake_server::{FakeServer, ManualPool, Reaction, fetch, options};
use crate::hang::HANG;
use std::time::{Duration, Instant};

#[test]
fn one_that_is_dead_or_slow_costs_one_connect_timeout_once() {
    let (dead, _full) = hanging_address();
    let slow = FakeServer::new(|_| Reaction::Nothing);
    let connect_timeout = Duration::from_secs(3);
    for first in [format!("http://{dead}"), slow.url()] {
        let (second, third) = (FakeServer::right(), FakeServer::right());
        let servers = [first, second.url(), third.url()];
        let mut options = options(&servers);
        options.servers.connect_timeout = connect_timeout;
        let source = ManualPool::new(options);
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
