//! The figures that have a goal, each beside its floor in the same run.

use crate::harness::{coarse_ms, next_tick, now_ms};
use crate::line::{compared, measured};
use crate::ours::{builder, wide};
use crate::together::two_compared;
use aes::cipher::{BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Block};
use leafid::{ClockSource, PublicIdKey, PublicIds, Snowflake};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// This many windows of this many calls, a fifth of a millisecond each: in most of them nothing else runs.
pub const WINDOWS: usize = 301;
pub const CALLS: usize = 10_000;

pub fn ns_each(n: usize, mut f: impl FnMut()) -> f64 {
    let t = Instant::now();
    for _ in 0..n {
        f();
    }
    t.elapsed().as_nanos() as f64 / n as f64
}

/// One call of next where nothing waits, in turn with a read of its clock and an atomic add.
pub fn call() {
    let counter = AtomicU64::new(0);
    one("call", &wide().open().expect("open"), || now_ms() + counter.fetch_add(1, Relaxed));
    let flake = wide().clock_source(ClockSource::Coarse).open().expect("open");
    one("coarse", &flake, || coarse_ms() + counter.fetch_add(1, Relaxed));
    local(&wide().open().expect("open"));
}

fn one(what: &str, flake: &Snowflake, floor: impl Fn() -> u64) {
    let floor = || {
        ns_each(CALLS, || {
            black_box(floor());
        })
    };
    let figure = || {
        ns_each(CALLS, || {
            black_box(flake.next().expect("an id"));
        })
    };
    compared(what, WINDOWS, floor, figure);
}

/// A thread's own handle, beside what it reads to know how old its run is.
fn local(flake: &Snowflake) {
    let mut local = flake.local();
    let floor = || {
        ns_each(CALLS, || {
            black_box(coarse_ms());
        })
    };
    let figure = || {
        ns_each(CALLS, || {
            black_box(local.next().expect("an id"));
        })
    };
    compared("local", WINDOWS, floor, figure);
}

/// Two threads with one generator, in turn with two that read the clock and add to one counter; and handles of their
/// own, in turn with one thread that has as many ids to make as each of them.
pub fn two() {
    let counter = AtomicU64::new(0);
    let flake = wide().open().expect("open");
    two_compared("two", || || now_ms() + counter.fetch_add(1, Relaxed), || || flake.next().expect("an id"));
    let flake = wide().clock_source(ClockSource::Coarse).open().expect("open");
    two_compared(
        "two_coarse",
        || || coarse_ms() + counter.fetch_add(1, Relaxed),
        || || flake.next().expect("an id"),
    );
}

/// A plain loop over next on the leaf layout: the share of all ids that 400 ticks hold, the median of 7 windows; beside
/// it the share of the processor that it takes.
pub fn plain_loop() {
    const TICKS: usize = 400;
    let flake = builder().random_start(0).open().expect("open");
    let mut shares: Vec<f64> = (0..7)
        .map(|_| {
            next_tick();
            // The start lies early in a tick, so that whole ticks are counted: a last one begun counts as one.
            let ns = ns_each(TICKS * 4096, || {
                black_box(flake.next().expect("an id"));
            });
            TICKS as f64 / (ns * (TICKS * 4096) as f64 / 1e6 + 0.15).ceil()
        })
        .collect();
    shares.sort_by(f64::total_cmp);
    measured("loop", shares[3], 1.0);
}

/// A million ids into memory that was touched, in turn with writing as many numbers in a loop.
pub fn fill() {
    let flake = wide().open().expect("open");
    let mut numbers = vec![0i64; 1_000_000];
    let mut out = vec![0i64; 1_000_000];
    let write = || {
        ns_each(1, || {
            for (at, slot) in black_box(&mut numbers).iter_mut().enumerate() {
                *slot = at as i64;
            }
        }) / 1e6
    };
    let fill = || {
        let ns = ns_each(1, || flake.fill(black_box(&mut out)).expect("a million ids")) / 1e6;
        assert!(out.windows(2).all(|pair| pair[0] < pair[1]));
        ns
    };
    compared("fill", 25, write, fill);
}

/// An id encrypted, in turn with the ten blocks of AES without which FF1 cannot be.
pub fn public_ids() {
    let ids = PublicIds::new(PublicIdKey::new(&[7; 16]).expect("a key"), 1).expect("a version");
    let (aes, mut block, mut id) = (Aes128::new(&[7; 16].into()), Block::default(), 1);
    let floor = || ns_each(CALLS / 10, || (0..10).for_each(|_| aes.encrypt_block(black_box(&mut block))));
    let figure = || ns_each(CALLS / 10, || id = ids.encrypt(black_box(id)).expect("an id"));
    compared("public_id", WINDOWS, floor, figure);
}
