//! Many threads on one generator: every id once, each thread's ids in order.
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

mod common;

use common::{NOW_MS, PLAIN, granted};
use leafid_core::{Deed, Layout, OnExhausted, Rules, Snowflake, Span};
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::time::{Duration, Instant};

const EACH: usize = 200_000;
/// A defect must not hang the tests.
const PATIENCE: Duration = Duration::from_secs(60);

/// Four threads of EACH ids, on a clock that moves on when one of them is told to wait.
fn four(flake: &Snowflake, reserve: usize, lag_ms: i64) -> Vec<i64> {
    let clock = AtomicI64::new(NOW_MS);
    let begun = Instant::now();
    let issue = |own_lag: i64| {
        let mut ids: Vec<i64> = Vec::with_capacity(EACH + reserve);
        while ids.len() < EACH {
            assert!(
                !ids.len().is_multiple_of(64) || begun.elapsed() < PATIENCE,
                "stuck after {} ids",
                ids.len()
            );
            let now_ms = clock.load(Relaxed) - own_lag;
            match flake.reserve(now_ms, reserve) {
                Ok(run) => ids.extend((0..run.count as i64).map(|at| run.first + at * run.stride)),
                Err(Deed::WaitUntil(ms)) => {
                    clock.fetch_max(ms + own_lag, Relaxed);
                }
                Err(Deed::NeedSpan) => {
                    let until = flake.until();
                    flake.grant(Span { from: until, until: until + 5 });
                }
                // A thread that slept while the others went on: it reads the clock once more.
                Err(Deed::ClockBackwards { .. }) => {}
                Err(deed) => panic!("{deed:?}"),
            }
        }
        ids
    };
    let issue = &issue;
    let mut all = Vec::new();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|at| scope.spawn(move || issue(at * lag_ms))).collect();
        for thread in threads {
            let ids = thread.join().expect("no panic");
            assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "a thread's ids increase");
            all.extend(ids);
        }
    });
    all
}

fn distinct(mut ids: Vec<i64>) {
    let made = ids.len();
    assert!(made >= 4 * EACH);
    ids.sort_unstable();
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "an id came twice");
}

#[test]
fn one_by_one() {
    distinct(four(&granted(Layout::LEAF, Rules::default(), 5, NOW_MS, 5), 1, 0));
}

#[test]
fn in_batches_with_the_worker_id_lowest() {
    distinct(four(&granted(Layout::SONYFLAKE, Rules::default(), 5, NOW_MS, 5), 50, 0));
}

#[test]
fn with_clocks_that_lag() {
    distinct(four(&granted(Layout::LEAF, Rules::default(), 5, NOW_MS, 5), 3, 7));
}

#[test]
fn while_borrowing() {
    let rules = Rules { on_exhausted: OnExhausted::Borrow, ..PLAIN };
    distinct(four(&granted(Layout::LEAF, rules, 5, NOW_MS, 5), 1, 0));
}
