//! The tail: how long `next` takes while the source is slow and fails, beside an empty loop at the same pace.

use crate::harness::measured;
use crate::latency::{Histogram, Queue};
use leafid::{FetchRequest, Segment, Segments, Tag};
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

const THREADS: usize = 8;
/// Of each thread.
const RATE: u64 = 100_000;
const INTERVAL_NS: u64 = 1_000_000_000 / RATE;
const SOURCE_TAKES: Duration = Duration::from_millis(200);
/// A thread sleeps this long between bursts.
const BURSTS: Duration = Duration::from_millis(1);
/// This many calls are timed in a row before the empty loop has its turn.
const IN_A_ROW: usize = 256;
/// A tag is warm when it has ids for this many seconds at hand.
const WARM_SECONDS: u64 = 4;
const WARM_UP_AT_MOST: Duration = Duration::from_secs(60);

/// What a thread saw.
struct Seen {
    ids: Histogram,
    empty: Histogram,
    /// In the warm-up, and after it.
    errors: [u64; 2],
    waits: u64,
}

pub fn measure() {
    let seconds = std::env::var("BENCH_SECONDS").ok().and_then(|seconds| seconds.parse().ok()).unwrap_or(10);
    let segments = failing();
    let tags: Vec<Tag> = (0..THREADS).map(|n| segments.tag(&format!("tail-{n}")).expect("a tag")).collect();
    let (warm, done) = (AtomicBool::new(false), AtomicBool::new(false));
    let begun = Instant::now();
    let seen: Vec<Seen> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|n| {
                // Not all at once: on few processors they would be each other's noise.
                let begin = begun + BURSTS * n as u32 / THREADS as u32;
                let (tag, warm, done) = (&tags[n], &warm, &done);
                scope.spawn(move || paced(tag, begin, warm, done))
            })
            .collect();
        while !tags.iter().all(is_warm) && begun.elapsed() < WARM_UP_AT_MOST {
            std::thread::sleep(Duration::from_millis(10));
        }
        measured("tail_warm_up", begun.elapsed().as_secs_f64(), 0.0);
        warm.store(true, Relaxed);
        std::thread::sleep(Duration::from_secs(seconds));
        done.store(true, Relaxed);
        threads.into_iter().map(|thread| thread.join().expect("a thread")).collect()
    });
    tell(&seen, seconds);
    let stats = segments.stats().expect("stats").tags;
    let (fetches, failures) =
        stats.iter().fold((0, 0), |sum, tag| (sum.0 + tag.fetches, sum.1 + tag.failures));
    measured("tail_failed_fetches", failures as f64, fetches as f64);
}

fn tell(seen: &[Seen], seconds: u64) {
    let (mut ids, mut empty) = (Histogram::new(), Histogram::new());
    for thread in seen {
        ids.join(&thread.ids);
        empty.join(&thread.empty);
    }
    for (name, share) in [("p50", 0.5), ("p99", 0.99), ("p99_9", 0.999), ("p99_99", 0.9999)] {
        let figure = ids.percentile(share) as f64 / 1e3;
        measured(&format!("tail_{name}"), figure, empty.percentile(share) as f64 / 1e3);
    }
    // What is due is made: if not, the machine is too slow for the pace.
    measured("tail_rate", ids.count() as f64 / seconds as f64, (RATE * THREADS as u64) as f64);
    measured("tail_max", ids.max() as f64 / 1e3, empty.max() as f64 / 1e3);
    let errors = |when: usize| seen.iter().map(|thread| thread.errors[when]).sum::<u64>() as f64;
    measured("tail_errors_warm_up", errors(0), 0.0);
    measured("tail_errors", errors(1), 0.0);
    measured("tail_waits", seen.iter().map(|thread| thread.waits).sum::<u64>() as f64, 0.0);
}

/// A source that answers after 200 ms, one time in five with an error.
fn failing() -> Segments {
    let (next, asked) = (AtomicI64::new(1), AtomicU64::new(0));
    let fetch = move |request: &FetchRequest| {
        std::thread::sleep(SOURCE_TAKES);
        // Spread evenly, and alike in every run.
        if mixed(asked.fetch_add(1, Relaxed)).is_multiple_of(5) {
            return Err("the source fails".into());
        }
        let start = next.fetch_add(request.step, Relaxed);
        Ok(Some(Segment::new(start, start + request.step, 1)?.into()))
    };
    Segments::builder().persist(false).name("bench-tail").fetch(fetch).open().expect("open")
}

fn mixed(number: u64) -> u64 {
    let mixed = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32
}

fn is_warm(tag: &Tag) -> bool {
    tag.stats().is_ok_and(|stats| stats.left >= WARM_SECONDS * RATE)
}

/// Makes the calls that are due, in bursts, and as many turns of an empty loop, until done.
fn paced(tag: &Tag, begin: Instant, warm: &AtomicBool, done: &AtomicBool) -> Seen {
    let (mut ids, mut empty) = (Queue::new(INTERVAL_NS), Queue::new(INTERVAL_NS));
    let (mut errors, mut waited) = ([0; 2], None);
    let (mut made, mut bursts) = (0, 0u32);
    while !done.load(Relaxed) {
        if waited.is_none() && warm.load(Relaxed) {
            waited = Some(waits(tag));
            ids.begin();
            empty.begin();
        }
        bursts += 1;
        let pause = (begin + BURSTS * bursts).saturating_duration_since(Instant::now());
        if !pause.is_zero() {
            std::thread::sleep(pause);
        }
        let failed = &mut errors[usize::from(waited.is_some())];
        let due = begin.elapsed().as_nanos() as u64 / INTERVAL_NS;
        while made < due && !done.load(Relaxed) {
            let n = IN_A_ROW.min((due - made) as usize);
            // In turn which of them finds the thread just woken.
            let first = bursts.is_multiple_of(2);
            for ours in [first, !first] {
                match ours {
                    true => timed(&mut ids, n, || *failed += u64::from(black_box(tag.next()).is_err())),
                    false => timed(&mut empty, n, || {}),
                }
            }
            made += n as u64;
        }
    }
    let waits = waits(tag) - waited.unwrap_or(0);
    Seen { ids: ids.times, empty: empty.times, errors, waits }
}

fn waits(tag: &Tag) -> u64 {
    tag.stats().map_or(0, |stats| stats.waits)
}

/// This many calls, between which nothing but the clock is read.
fn timed(queue: &mut Queue, n: usize, mut call: impl FnMut()) {
    let mut times = [Instant::now(); IN_A_ROW + 1];
    times[0] = Instant::now();
    for at in 0..n {
        call();
        times[at + 1] = Instant::now();
    }
    for pair in times[..=n].windows(2) {
        queue.made((pair[1] - pair[0]).as_nanos() as u64);
    }
}
