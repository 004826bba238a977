//! How a subject is measured: medians and minima of REPS repeats, after one that warms up.
//!
//! sustained  ids back to back, waiting for the next tick included (12-bit sequence => >= 244 ns)
//! burst      2048 ids right after a fresh millisecond, so nothing ever waits: the cost of a call
//! 2 threads  see `together.rs`
//!
//! Every subject that makes ids is also checked: ids once more, duplicates and descents counted.

pub use crate::line::measured;
use crate::line::{Seen, Subject, subject};
pub use crate::together::pair;
use std::hint::{black_box, spin_loop};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub const REPS: usize = 9;
pub const N: usize = 1_000_000;

/// What an id is compared by.
pub trait Id: Copy + Send {
    fn key(self) -> u128;
}
impl Id for i64 {
    fn key(self) -> u128 {
        self as u64 as u128
    }
}
impl Id for u64 {
    fn key(self) -> u128 {
        self.into()
    }
}
impl Id for u128 {
    fn key(self) -> u128 {
        self
    }
}

pub fn single<T: Id>(peer: &str, what: &str, f: impl FnMut() -> T) {
    run(peer, what, None, N, f)
}

#[cfg(feature = "peers")]
pub fn burst<T: Id>(peer: &str, what: &str, f: impl FnMut() -> T) {
    run(peer, what, Some(2048), N / 2, f)
}

/// Measures REPS times `n` calls, after one repeat that warms up; with `burst` so many after each tick.
fn run<T: Id>(peer: &str, what: &str, burst: Option<usize>, n: usize, mut f: impl FnMut() -> T) {
    let (mut ns, mut seen) = (vec![], Seen::default());
    for rep in 0..REPS + 1 {
        let (c, t) = (cpu_now(), Instant::now());
        let (spent, made) = match burst {
            Some(k) => ((0..n / k).map(|_| after_tick(k, &mut f)).sum(), n / k * k),
            None => {
                (0..n).for_each(|_| _ = black_box(f()));
                (t.elapsed(), n)
            }
        };
        if rep > 0 {
            ns.push(spent.as_nanos() as f64 / made as f64);
            // Of a burst the wait for the tick is the bench's own.
            if burst.is_none() {
                seen.cpu.push((cpu_now() - c).as_nanos() as f64 / made as f64);
            }
        }
    }
    let kind = if burst.is_some() { "burst" } else { "sustained" };
    seen.check = Some(Check::of((0..n).map(|_| f().key()).collect()));
    subject(&Subject { peer, what, kind, threads: 1 }, ns, seen);
}

fn after_tick<T>(k: usize, f: &mut impl FnMut() -> T) -> Duration {
    next_tick();
    let t = Instant::now();
    for _ in 0..k {
        black_box(f());
    }
    t.elapsed()
}

/// What is wrong with ids.
pub struct Check {
    pub dups: usize,
    /// Of ids of one thread.
    pub descents: Option<usize>,
    pub of: usize,
}

impl Check {
    /// Of ids in the order that they were made in.
    pub fn of(ids: Vec<u128>) -> Check {
        let descents = ids.windows(2).filter(|w| w[1] < w[0]).count();
        Check { descents: Some(descents), ..Check::unordered(ids) }
    }

    pub fn unordered(mut ids: Vec<u128>) -> Check {
        ids.sort_unstable();
        let dups = ids.windows(2).filter(|w| w[1] == w[0]).count();
        Check { dups, descents: None, of: ids.len() }
    }
}

/// What was made is needed: the compiler may leave nothing of it out.
pub fn used<T>(made: T) {
    black_box(made);
}

/// Unix milliseconds.
pub fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

/// The same by the clock of the last timer interrupt.
pub fn coarse_ms() -> u64 {
    #[cfg(target_os = "linux")]
    let clock = libc::CLOCK_REALTIME_COARSE;
    #[cfg(not(target_os = "linux"))]
    let clock = libc::CLOCK_REALTIME;
    let t = read(clock);
    t.tv_sec as u64 * 1_000 + t.tv_nsec as u64 / 1_000_000
}

pub fn read(clock: libc::clockid_t) -> libc::timespec {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec.
    unsafe { libc::clock_gettime(clock, &mut t) };
    t
}

/// Returns early in a fresh tick.
pub fn next_tick() {
    let t = now_ms();
    while now_ms() == t {
        spin_loop();
    }
    // A clock kept by a background thread may lag a little: let it catch up.
    let t = Instant::now();
    while t.elapsed() < Duration::from_micros(150) {
        spin_loop();
    }
}

/// The processor time of all threads of the process.
pub fn cpu_now() -> Duration {
    since(read(libc::CLOCK_PROCESS_CPUTIME_ID))
}

/// What this thread has used of a processor.
pub fn thread_cpu_now() -> Duration {
    since(read(libc::CLOCK_THREAD_CPUTIME_ID))
}

fn since(t: libc::timespec) -> Duration {
    Duration::new(t.tv_sec as u64, t.tv_nsec as u32)
}
