//! The figures that have a goal, each beside its floor in the same run.

use crate::harness::{measured, next_tick, now_ms};
use crate::ours::{builder, wide};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

fn ns_each(n: usize, mut f: impl FnMut()) -> f64 {
    let t = Instant::now();
    for _ in 0..n {
        f();
    }
    t.elapsed().as_nanos() as f64 / n as f64
}

/// One call of next where nothing waits, in turn with a clock read and an atomic add: the best of 600 windows of each,
/// so short that some are disturbed by nothing else on the machine.
pub fn call() {
    let flake = wide().open().expect("open");
    let counter = AtomicU64::new(0);
    let (mut figure, mut floor) = (f64::MAX, f64::MAX);
    for _ in 0..600 {
        floor = floor.min(ns_each(10_000, || {
            black_box(now_ms() + counter.fetch_add(1, Relaxed));
        }));
        figure = figure.min(ns_each(10_000, || {
            black_box(flake.next().expect("an id"));
        }));
    }
    measured("call", figure, floor);
}

/// A plain loop over next on the leaf layout: the share of all ids that 200 ticks hold, the best of 7 windows. The floor
/// is one of the clock and the add alone, which would be let through 4096 times a millisecond.
pub fn plain_loop() {
    const TICKS: usize = 200;
    let flake = builder().random_start(0).open().expect("open");
    let mut best = 0f64;
    for _ in 0..7 {
        next_tick(1);
        // The start lies early in a tick, so that whole ticks are counted: a last one begun counts as one.
        let ms = ns_each(TICKS * 4096, || {
            black_box(flake.next().expect("an id"));
        }) * (TICKS * 4096) as f64
            / 1e6;
        best = best.max(TICKS as f64 / (ms + 0.15).ceil());
    }
    measured("loop", best, 1.0);
}

/// A million ids into a buffer, in turn with writing as many numbers in a loop: ns for each, the best of 25.
pub fn fill() {
    let flake = wide().open().expect("open");
    let mut out = vec![0i64; 1_000_000];
    let (mut figure, mut floor) = (f64::MAX, f64::MAX);
    for round in 0..25 {
        floor = floor.min(ns_each(1, || {
            for (at, slot) in black_box(&mut out).iter_mut().enumerate() {
                *slot = round + at as i64;
            }
        }));
        figure = figure.min(ns_each(1, || flake.fill(black_box(&mut out)).expect("a million ids")));
        assert!(out.windows(2).all(|pair| pair[0] < pair[1]));
    }
    measured("fill", figure / 1e6, floor / 1e6);
}
