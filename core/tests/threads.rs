//! Many threads on one generator: every id once, each thread's ids in order.

use crate::common::{NOW_MS, PLAIN, granted};
use leafid_core::{Action, Layout, OnExhausted, Rules, Run, Snowflake, Span};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// So many that threads which share a busy processor interrupt each other in the middle of a step, too.
const EACH: usize = 2_500_000;
/// A defect must not hang the tests.
const PATIENCE: Duration = Duration::from_secs(900);

/// The ids that were made: a bit each, by tick and sequence number. Most of it is never touched.
struct Seen {
    layout: Layout,
    bits: Vec<AtomicU64>,
}

impl Seen {
    fn new(layout: Layout) -> Seen {
        // A thread that lags moves the clock on by more than a tick, and leaves those between unused.
        let ids = 4 * EACH * 32;
        Seen { layout, bits: (0..ids / 64).map(|_| AtomicU64::new(0)).collect() }
    }

    fn add(&self, id: i64) {
        let parts = self.layout.decode(id).expect("an id");
        let ticks = (parts.timestamp_ms - NOW_MS) / self.layout.tick_ms();
        let at = ticks as usize * (self.layout.max_sequence() as usize + 1) + parts.sequence as usize;
        let bit = 1 << (at % 64);
        assert_eq!(self.bits[at / 64].fetch_or(bit, Relaxed) & bit, 0, "{id} came twice");
    }
}

/// Four threads of EACH ids, on a clock that moves on when one of them has to wait.
fn four(flake: &Snowflake, reserve: usize, lag_ms: i64) {
    let seen = Seen::new(*flake.layout());
    let clock = AtomicI64::new(NOW_MS);
    let begun = Instant::now();
    let issue = |own_lag: i64| {
        let (mut made, mut last) = (0, 0);
        while made < EACH {
            assert!(!made.is_multiple_of(64) || begun.elapsed() < PATIENCE, "stuck after {made} ids");
            let now_ms = clock.load(Relaxed) - own_lag;
            // One by one as users ask for it: by a shorter path.
            let made_now = match reserve {
                1 => flake.next(now_ms).map(|id| Run { first: id, stride: 1, count: 1 }),
                most => flake.reserve(now_ms, most),
            };
            match made_now {
                Ok(run) => {
                    for id in (0..run.count as i64).map(|at| run.first + at * run.stride) {
                        assert!(id > last, "a thread's ids increase");
                        last = id;
                        seen.add(id);
                    }
                    made += run.count;
                }
                Err(Action::WaitUntil(ms)) => {
                    clock.fetch_max(ms + own_lag, Relaxed);
                }
                Err(Action::NeedSpan) => {
                    let until = flake.until();
                    flake.grant(Span { from: until, until: until + 5 });
                }
                // A thread that slept while the others went on: it reads the clock once more.
                Err(Action::ClockBackwards { .. }) => {}
                Err(action) => panic!("{action:?}"),
            }
        }
    };
    let issue = &issue;
    std::thread::scope(|scope| {
        for at in 0..4 {
            scope.spawn(move || issue(at * lag_ms));
        }
    });
}

#[test]
fn one_by_one() {
    four(&granted(Layout::LEAF, Rules::default(), 5, NOW_MS, 5), 1, 0);
}

#[test]
fn in_batches_with_the_worker_id_lowest() {
    four(&granted(Layout::SONYFLAKE, Rules::default(), 5, NOW_MS, 5), 50, 0);
}

#[test]
fn with_clocks_that_lag() {
    four(&granted(Layout::LEAF, Rules::default(), 5, NOW_MS, 5), 3, 7);
}

#[test]
fn while_borrowing() {
    let rules = Rules { on_exhausted: OnExhausted::Borrow, ..PLAIN };
    four(&granted(Layout::LEAF, rules, 5, NOW_MS, 5), 1, 0);
}
