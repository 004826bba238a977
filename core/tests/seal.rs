//! Sealing ends a generator at once and tells the exact first unused tick, also in the midst of other threads' calls.

use crate::common::{NOW_MS, PER_TICK, PLAIN, granted};
use leafid_core::{Action, Code, Layout, Rules, Span};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};
use std::time::{Duration, Instant};

const LEAF: Layout = Layout::LEAF;

#[test]
fn the_mark_is_the_tick_after_the_last_id() {
    let tick = LEAF.tick_at(NOW_MS).expect("after the epoch");
    for (ids, expected) in [(0, tick), (1, tick + 1), (PER_TICK, tick + 1), (PER_TICK + 1, tick + 2)] {
        let flake = granted(LEAF, PLAIN, 1, NOW_MS, 100);
        let mut now_ms = NOW_MS;
        let mut left = ids;
        while left > 0 {
            match flake.reserve(now_ms, left) {
                Ok(run) => left -= run.count,
                Err(_) => now_ms += 1,
            }
        }
        assert_eq!(flake.seal(), Some(expected), "after {ids} ids");
    }
}

#[test]
fn after_the_seal_nothing_is_issued() {
    let flake = granted(LEAF, Rules::default(), 1, NOW_MS, 100);
    flake.next(NOW_MS).expect("an id");
    assert!(flake.seal().is_some());
    assert_eq!(flake.seal(), None, "only the first seal has the end");
    assert_eq!(flake.first_unused(), None);
    for span in [
        Span { from: flake.until(), until: flake.until() + 10 },
        Span { from: flake.until() + 50, until: flake.until() + 60 },
    ] {
        flake.grant(span);
        for now_ms in [NOW_MS - 10_000, NOW_MS - 1, NOW_MS, NOW_MS + 1, NOW_MS + 5, NOW_MS + 1_000] {
            assert_eq!(flake.next(now_ms), Err(Action::Sealed));
            assert_eq!(flake.reserve(now_ms, 5), Err(Action::Sealed));
        }
    }
    assert_eq!(flake.error(Action::Sealed).code(), Code::Closed);
    // Past any tick the answer may name the time instead; an id there is none.
    assert!(flake.next(i64::MAX).is_err());
}

#[test]
fn a_seal_between_threads_is_exact() {
    for round in 0..60 {
        let flake = granted(LEAF, Rules::default(), 1, NOW_MS, 1_000_000);
        let clock = AtomicI64::new(NOW_MS);
        let (start, sealed) = (Barrier::new(5), AtomicBool::new(false));
        let (end, all) = std::thread::scope(|scope| {
            let issue = || {
                start.wait();
                let mut ids = Vec::new();
                let mut after = 0;
                loop {
                    // A defect must not take all memory.
                    after += usize::from(sealed.load(Acquire));
                    assert!(after < 1_000, "ids go on after the seal");
                    match flake.reserve(clock.load(Relaxed), 1 + ids.len() % 3) {
                        Ok(run) => ids.extend((0..run.count as i64).map(|at| run.first + at * run.stride)),
                        Err(Action::Sealed) => return ids,
                        Err(Action::WaitUntil(ms)) => {
                            clock.fetch_max(ms, Relaxed);
                        }
                        Err(action) => panic!("{action:?}"),
                    }
                }
            };
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(issue)).collect();
            start.wait();
            // Somewhere in the midst, at another place in each round.
            let begun = Instant::now();
            while clock.load(Relaxed) < NOW_MS + round % 6 && begun.elapsed() < Duration::from_secs(10) {
                std::thread::yield_now();
            }
            let end = flake.seal().expect("sealed once");
            sealed.store(true, Release);
            let all: Vec<i64> =
                threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect();
            (end, all)
        });
        check(end, all);
    }
}

fn check(end: u64, mut ids: Vec<i64>) {
    let made = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), made, "ids are distinct");
    let Some(last) = ids.last() else { return };
    let last = LEAF.tick_at(LEAF.decode(*last).expect("an id").timestamp_ms).expect("after the epoch");
    assert_eq!(end, last + 1, "the end is exact: above every id, and no higher than need be");
}
