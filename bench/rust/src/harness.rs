//! How a subject is measured, and the line that tells of it.
//!
//! sustained  ids back to back, waiting for the next tick included (12-bit sequence => >= 244 ns)
//! burst      2048 ids right after a fresh millisecond, so nothing ever waits: the cost of a call
//! 2 threads  one shared generator, two threads; ns = wall time / ids made by both together
//!
//! Every single-thread subject is also checked: its ids once more, duplicates and descents counted, in the notes.

use std::hint::{black_box, spin_loop};
use std::sync::Barrier;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub const REPS: usize = 9;
pub const N: usize = 1_000_000;
const BURST: usize = 2048;

#[derive(Clone, Copy)]
pub enum Mode {
    Raw,
    Sustained,
    Burst { tick_ms: u64, k: usize },
}

pub fn raw<T: Into<u128>>(peer: &str, what: &str, f: impl FnMut() -> T) {
    run(peer, what, Mode::Raw, N * 4, f)
}

pub fn single<T: Into<u128>>(peer: &str, what: &str, f: impl FnMut() -> T) {
    run(peer, what, Mode::Sustained, N, f)
}

pub fn burst<T: Into<u128>>(peer: &str, what: &str, f: impl FnMut() -> T) {
    run(peer, what, Mode::Burst { tick_ms: 1, k: BURST }, N / 2, f)
}

/// Measures REPS times `n` calls, after one repeat that warms up.
pub fn run<T: Into<u128>>(peer: &str, what: &str, mode: Mode, n: usize, mut f: impl FnMut() -> T) {
    let mut ns = vec![];
    let mut cpu = vec![];
    for rep in 0..REPS + 1 {
        let (c, t) = (cpu_now(), Instant::now());
        let (spent, made) = match mode {
            Mode::Burst { tick_ms, k } => {
                ((0..n / k).map(|_| after_tick(tick_ms, k, &mut f)).sum(), n / k * k)
            }
            _ => {
                (0..n).for_each(|_| drop(black_box(f())));
                (t.elapsed(), n)
            }
        };
        if rep > 0 {
            ns.push(spent.as_nanos() as f64 / made as f64);
            cpu.push((cpu_now() - c).as_nanos() as f64 / made as f64);
        }
    }
    let (kind, notes) = match mode {
        Mode::Raw => ("floor", String::new()),
        Mode::Burst { .. } => ("burst", String::new()),
        Mode::Sustained => ("sustained", checked(n, cpu, f)),
    };
    emit(peer, &format!("{what} [{kind}]"), ns, &notes);
}

fn after_tick<T>(tick_ms: u64, k: usize, f: &mut impl FnMut() -> T) -> Duration {
    next_tick(tick_ms);
    let t = Instant::now();
    for _ in 0..k {
        black_box(f());
    }
    t.elapsed()
}

fn checked<T: Into<u128>>(n: usize, mut cpu: Vec<f64>, mut f: impl FnMut() -> T) -> String {
    let mut ids: Vec<u128> = (0..n).map(|_| f().into()).collect();
    let descents = ids.windows(2).filter(|w| w[1] < w[0]).count();
    ids.sort_unstable();
    let dups = ids.windows(2).filter(|w| w[1] == w[0]).count();
    cpu.sort_by(f64::total_cmp);
    format!("cpu_ns={:.1} dups={dups} descents={descents} of {n}", cpu[cpu.len() / 2])
}

/// `per` ids come from one call.
pub fn batch<T>(peer: &str, what: &str, per: usize, mut f: impl FnMut() -> T) {
    let once = |_| {
        let t = Instant::now();
        for _ in 0..N / per {
            black_box(f());
        }
        t.elapsed().as_nanos() as f64 / (N / per * per) as f64
    };
    emit(peer, &format!("{what} [batch]"), (0..REPS).map(once).collect(), "");
}

/// Two threads share one generator. A generator that panics under contention is reported as such.
pub fn pair<T>(peer: &str, what: &str, f: impl Fn() -> T + Sync) {
    let mut panics = 0;
    let mut ns = vec![];
    for _ in 0..REPS {
        let start = Barrier::new(2);
        let go = || {
            start.wait();
            let t = Instant::now();
            for _ in 0..N {
                black_box(f());
            }
            t.elapsed()
        };
        let walls = std::thread::scope(|s| {
            let (a, b) = (s.spawn(go), s.spawn(go));
            (a.join(), b.join())
        });
        match walls {
            (Ok(a), Ok(b)) => ns.push(a.max(b).as_nanos() as f64 / (2 * N) as f64),
            _ => panics += 1,
        }
    }
    let notes = if panics == 0 { String::new() } else { format!("PANICKED in {panics} of {REPS} repeats") };
    emit(peer, &format!("{what} [2 threads]"), ns, &notes);
}

/// Unix milliseconds.
pub fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

/// Returns early in a fresh tick.
pub fn next_tick(ms: u64) {
    let t = now_ms() / ms;
    while now_ms() / ms == t {
        spin_loop();
    }
    // A clock kept by a background thread may lag a little: let it catch up.
    let t = Instant::now();
    while t.elapsed() < Duration::from_micros(150) {
        spin_loop();
    }
}

fn cpu_now() -> Duration {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut t) };
    Duration::new(t.tv_sec as u64, t.tv_nsec as u32)
}

fn version(peer: &str) -> &'static str {
    let lock = include_str!("../Cargo.lock");
    let at = lock.find(&format!("name = \"{peer}\"\n")).map_or("", |i| &lock[i..]);
    at.split('"').nth(3).unwrap_or("")
}

pub fn emit(peer: &str, what: &str, mut ns: Vec<f64>, notes: &str) {
    ns.sort_by(f64::total_cmp);
    let at = |i: usize| ns.get(i).map_or("null".into(), |v| format!("{v:.2}"));
    let (min, median, version) = (at(0), at(ns.len() / 2), version(peer));
    println!(
        r#"{{"lang":"rust","peer":"{peer}","version":"{version}","what":"{what}","ns_min":{min},"ns_median":{median},"notes":"{notes}"}}"#
    );
}

/// A figure that a goal is set for, beside its floor. `report.py` knows the goals.
pub fn measured(what: &str, figure: f64, floor: f64) {
    println!(r#"{{"lang":"rust","measure":"{what}","figure":{figure:.3},"floor":{floor:.3}}}"#);
}
