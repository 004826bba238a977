//! Throughput by threads: shared handles, whose ids rise for all, and handles of each thread's own.

use crate::harness::{measured, thread_cpu_now, used};
use crate::open::segments;
use crate::ours::wide;
use leafid::{Snowflake, Tag};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Barrier, Mutex};
use std::time::{Duration, Instant};

const COUNTS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
const ROUNDS: usize = 5;
const WINDOW: Duration = Duration::from_millis(100);
/// Calls between looks at whether the time is over.
const IN_A_ROW: u64 = 1_000;

const ADD: &str = "add";
const SHARED: [&str; 2] = ["tag", "snowflake"];
const LOCAL: [&str; 2] = ["tag_local", "snowflake_local"];

/// What a number of threads made.
#[derive(Clone, Copy, Debug)]
struct Made {
    /// Of all together, in millions a second.
    rate: f64,
    /// Processor time of one, in nanoseconds.
    cpu_ns: f64,
}

pub fn measure() {
    let (flake, tag) = (wide().open().expect("open"), segments().tag("order").expect("a tag"));
    let mut all: BTreeMap<(&str, usize), Vec<Made>> = BTreeMap::new();
    // In turn, so that what the machine does meanwhile falls on all alike.
    for _ in 0..ROUNDS {
        for subject in [ADD].into_iter().chain(SHARED).chain(LOCAL) {
            for threads in COUNTS {
                all.entry((subject, threads)).or_default().push(once(subject, threads, &flake, &tag));
            }
        }
    }
    let median = |subject, threads| {
        let mut made = all[&(subject, threads)].clone();
        made.sort_by(|one, other| one.rate.total_cmp(&other.rate));
        made[ROUNDS / 2]
    };
    for subject in SHARED.into_iter().chain(LOCAL) {
        for threads in COUNTS {
            let figure = median(subject, threads).rate;
            measured(&format!("threads_{subject}_{threads}"), figure, median(ADD, threads).rate);
        }
    }
    // The least that more threads make together, of what two make.
    let kept = |subject| {
        let least = COUNTS[2..].iter().map(|&threads| median(subject, threads).rate);
        least.fold(f64::MAX, f64::min) / median(subject, 2).rate
    };
    for subject in SHARED {
        measured(&format!("threads_{subject}_kept"), kept(subject), kept(ADD));
    }
    for subject in LOCAL {
        let cpu_ns = |threads| median(subject, threads).cpu_ns;
        let most = COUNTS.iter().map(|&threads| cpu_ns(threads)).fold(0.0, f64::max);
        measured(&format!("threads_{subject}_cpu"), most, cpu_ns(1));
    }
}

fn once(subject: &str, threads: usize, flake: &Snowflake, tag: &Tag) -> Made {
    let counter = AtomicU64::new(0);
    match subject {
        ADD => run(threads, || || used(counter.fetch_add(1, Relaxed))),
        "tag" => run(threads, || || used(tag.next().expect("an id"))),
        "snowflake" => run(threads, || || used(flake.next().expect("an id"))),
        "tag_local" => run(threads, || {
            let mut local = tag.local();
            move || used(local.next().expect("an id"))
        }),
        _ => run(threads, || {
            let mut local = flake.local();
            move || used(local.next().expect("an id"))
        }),
    }
}

/// `make` is called on each thread, and gives what that thread does again and again.
fn run<F: FnMut()>(threads: usize, make: impl Fn() -> F + Sync) -> Made {
    let (start, stop) = (Barrier::new(threads + 1), AtomicBool::new(false));
    let (made, cpu_ns) = (AtomicU64::new(0), AtomicU64::new(0));
    let span: Mutex<Option<(Instant, Instant)>> = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut next = make();
                next();
                start.wait();
                let (begun, cpu, mut mine) = (Instant::now(), thread_cpu_now(), 0);
                while !stop.load(Relaxed) {
                    (0..IN_A_ROW).for_each(|_| next());
                    mine += IN_A_ROW;
                }
                let (ended, cpu) = (Instant::now(), thread_cpu_now() - cpu);
                made.fetch_add(mine, Relaxed);
                cpu_ns.fetch_add(cpu.as_nanos() as u64, Relaxed);
                let mut span = span.lock().expect("no thread panics with it");
                *span =
                    Some(span.map_or((begun, ended), |(first, last)| (first.min(begun), last.max(ended))));
            });
        }
        start.wait();
        std::thread::sleep(WINDOW);
        stop.store(true, Relaxed);
    });
    let (first, last) = span.into_inner().expect("no thread panics with it").expect("a thread");
    let made = made.into_inner() as f64;
    Made { rate: made / (last - first).as_secs_f64() / 1e6, cpu_ns: cpu_ns.into_inner() as f64 / made }
}
