//! Several threads that make ids at the same time.
//!
//! The figure is the wall time from the first thread's start to the last one's end, over the ids of all.

use crate::harness::{Check, Id, N, REPS, cpu_now};
use crate::line::{Seen, Subject, pairs_measured, subject};
use std::hint::black_box;
use std::sync::Barrier;
use std::time::Instant;

/// What each thread calls: made on the thread, so that it may be a handle of its own.
pub trait Make: Sync {
    type Id: Id;
    fn make(&self) -> impl FnMut() -> Self::Id;
}

impl<T: Id, G: FnMut() -> T, F: Fn() -> G + Sync> Make for F {
    type Id = T;
    fn make(&self) -> impl FnMut() -> T {
        self()
    }
}

/// Nanoseconds for an id, of `each` calls in this many threads; none if one panicked.
pub fn together(threads: usize, each: usize, make: &impl Make) -> Option<f64> {
    let start = Barrier::new(threads);
    let run = || {
        let mut f = make.make();
        start.wait();
        let begun = Instant::now();
        for _ in 0..each {
            black_box(f());
        }
        (begun, Instant::now())
    };
    let times = on_threads(threads, run)?;
    let begun = times.iter().map(|time| time.0).min()?;
    let ended = times.iter().map(|time| time.1).max()?;
    Some((ended - begun).as_nanos() as f64 / (threads * each) as f64)
}

/// The ids of this many threads, compared with each other; none if one panicked.
fn check(threads: usize, each: usize, make: &impl Make) -> Option<Check> {
    let start = Barrier::new(threads);
    let ids = on_threads(threads, || {
        let mut f = make.make();
        start.wait();
        (0..each).map(|_| f().key()).collect::<Vec<u128>>()
    })?;
    Some(Check::unordered(ids.concat()))
}

fn on_threads<T: Send>(threads: usize, run: impl Fn() -> T + Sync) -> Option<Vec<T>> {
    std::thread::scope(|s| {
        let all: Vec<_> = (0..threads).map(|_| s.spawn(&run)).collect();
        // All of them are joined, or the scope would panic with the one that did.
        let results: Vec<_> = all.into_iter().map(|one| one.join()).collect();
        results.into_iter().map(Result::ok).collect()
    })
}

/// Two threads share one generator. One that panics under contention is reported as such.
pub fn pair<T: Id>(peer: &str, what: &str, f: impl Fn() -> T + Sync) {
    let (threads, each, make) = (2, N, || || f());
    let (mut ns, mut seen, mut panics) = (vec![], Seen::default(), 0);
    for rep in 0..REPS + 1 {
        let cpu = cpu_now();
        match together(threads, each, &make) {
            Some(one) if rep > 0 => {
                ns.push(one);
                seen.cpu.push((cpu_now() - cpu).as_nanos() as f64 / (each * threads) as f64);
            }
            Some(_) => {}
            None => panics += 1,
        }
    }
    seen.check = check(threads, each, &make);
    if panics > 0 {
        seen.notes = format!("PANICKED in {panics} of {} repeats", REPS + 1);
    }
    subject(&Subject { peer, what, kind: "2 threads", threads }, ns, seen);
}

/// A figure of two threads beside its floor of two threads: 21 pairs, in turn.
pub fn two_compared(what: &str, floor: impl Make, figure: impl Make) {
    let pairs = (0..22).filter_map(|_| {
        let (first, second) = (together(2, N / 2, &floor)?, together(2, N / 2, &figure)?);
        Some((first, second))
    });
    // The first warms up.
    pairs_measured(what, &pairs.skip(1).collect::<Vec<_>>());
}
