//! Calls each hot path of leafid for Rust so often, and twice as often, for callgrind to count. A line for each such loop
//! says what was called and how often, in the order of callgrind's dumps.

mod public_ids;
mod snowflakes;
mod tags;

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A call of one id.
const CALLS: usize = 32;
/// A multiple of what a handle of one thread's takes at a time, so that each loop holds as many of its runs.
const LOCAL_CALLS: usize = 256;
/// A call of this many ids.
const BATCHES: usize = 1;
const BATCH: usize = 1_000;
/// This many loops of each length: some meet the end of a tick, or of a span.
const ROUNDS: usize = 41;

fn main() {
    floors();
    snowflakes::count();
    tags::count();
    public_ids::count();
}

fn one_by_one(path: &str, call: impl FnMut()) {
    rounds(path, CALLS, call);
}

fn in_batches(path: &str, call: impl FnMut()) {
    rounds(path, BATCHES, call);
}

fn rounds(path: &str, calls: usize, mut call: impl FnMut()) {
    let mut many = |times| (0..times).for_each(|_| call());
    let many: &mut dyn FnMut(usize) = black_box(&mut many);
    for _ in 0..ROUNDS {
        for times in [calls, 2 * calls] {
            settled(many, calls, times);
            println!("{path}\t{times}");
        }
    }
}

/// What was counted until here is forgotten, which takes a while; then the loop begins in a tick that has begun.
#[unsafe(no_mangle)]
#[inline(never)]
fn settled(many: &mut dyn FnMut(usize), calls: usize, times: usize) {
    many(calls);
    counted(many, times);
    // A call, not a jump out of it at the end.
    black_box(());
}

/// What happens below this function, on its thread, is counted; it ends with a dump.
#[unsafe(no_mangle)]
#[inline(never)]
fn counted(many: &mut dyn FnMut(usize), times: usize) {
    many(times);
    black_box(());
}

/// How it is counted, and what a loop costs by itself.
fn floors() {
    let counter = AtomicU64::new(0);
    one_by_one("empty loop", || {
        black_box(());
    });
    one_by_one("atomic add", || {
        black_box(counter.fetch_add(1, Relaxed));
    });
}
