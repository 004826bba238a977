//! `signal-forks`: a signal handler forks every millisecond, wherever the thread happens to be: between the step and
//! the check, inside a batch, inside a claim. The child returns from the handler into the call that was interrupted.
//!
//! What the interrupted call answers in the child is thrown away when it is short: a fork between a call's last check and
//! the line that looks at the result copies an id that was issued before the fork. A long batch counts if its last id
//! was not there yet at the fork; and so does everything after it.

use crate::issuer::{Issuer, Opened};
use crate::ledger::Ledger;
use crate::options::Options;
use crate::process::{self, Kind};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

static FORKED: AtomicBool = AtomicBool::new(false);
/// Where the call under way puts its last id, and whether that was still to come when this child was made.
static LAST_ID: AtomicPtr<i64> = AtomicPtr::new(std::ptr::null_mut());
static MADE_IN_CALL: AtomicBool = AtomicBool::new(false);
static KIND: AtomicI32 = AtomicI32::new(0);
static LEFT: AtomicU64 = AtomicU64::new(0);
static PERIOD_US: AtomicU64 = AtomicU64::new(0);
static LIVE: AtomicI32 = AtomicI32::new(0);
static FORKS: AtomicU64 = AtomicU64::new(0);
static BAD_ENDS: AtomicU64 = AtomicU64::new(0);
static LAST_BAD: AtomicI32 = AtomicI32::new(0);

/// Children that live at once: fewer than there are worker ids.
const AT_ONCE: i32 = 6;
/// A batch from which on the interrupted call counts.
const LONG: usize = 1_000;

extern "C" fn on_signal(_: i32) {
    let errno = unsafe { *libc::__errno_location() };
    reap();
    if LIVE.load(Relaxed) < AT_ONCE && LEFT.load(Relaxed) > 0 {
        let kind = [Kind::Fork, Kind::Bare, Kind::Clone][KIND.load(Relaxed) as usize % 3];
        match process::fork(kind) {
            0 => {
                // One that hangs with a lock of malloc's keeps no pipe open once its parent has counted it.
                unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
                let last = LAST_ID.load(Relaxed);
                MADE_IN_CALL.store(!last.is_null() && unsafe { last.read_volatile() } == 0, Relaxed);
                FORKED.store(true, Relaxed);
            }
            pid if pid > 0 => {
                LIVE.fetch_add(1, Relaxed);
                LEFT.fetch_sub(1, Relaxed);
                FORKS.fetch_add(1, Relaxed);
            }
            _ => {}
        }
    }
    // Set each time: a fork that takes longer than the period would leave the thread no time of its own.
    if !FORKED.load(Relaxed) {
        once(PERIOD_US.load(Relaxed));
    }
    unsafe { *libc::__errno_location() = errno };
}

fn reap() {
    let mut status = 0;
    while unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) } > 0 {
        LIVE.fetch_sub(1, Relaxed);
        if !libc::WIFEXITED(status) || libc::WEXITSTATUS(status) != 0 {
            BAD_ENDS.fetch_add(1, Relaxed);
            LAST_BAD.store(status, Relaxed);
        }
    }
}

/// Arguments: those of a generator (a range), or `of=segments` and those of segments; `kind` (fork, _fork, clone), `method` (next, take, fill), `forks`,
/// `threads`, `batch`.
pub fn run(options: &Options) -> Result<(), String> {
    let kind = Kind::parse(options.text("kind").unwrap_or("fork"));
    KIND.store(kind as i32, Relaxed);
    LEFT.store(options.number("forks", 200), Relaxed);
    let method = options.text("method").unwrap_or("next").to_owned();
    let ledger = Ledger::new(64 << 20);
    let issuer =
        Opened::open(options).and_then(|opened| opened.issuer("order")).map_err(|error| error.to_string())?;
    // Threads beside it, in which no signal is handled: what they hold at a fork stays held in the child.
    let parent = std::process::id();
    for _ in 1..options.number("threads", 1) {
        let beside = issuer.clone();
        process::spawn_quietly(move || {
            while std::process::id() == parent && LEFT.load(Relaxed) > 0 {
                if let (Some(at), Ok(id)) = (ledger.reserve(1), beside.next()) {
                    ledger.write(at, id);
                }
                spin(Duration::from_micros(20));
            }
        });
    }
    let size = if method == "next" { 1 } else { options.number("batch", 64) as usize };
    // Before the first signal: a fork in the middle of this thread's malloc would wait for its own lock.
    let mut batch = vec![0; size];
    arm(options.number("micros", 1_000));
    let begun = Instant::now();
    let mut slowest = Duration::ZERO;
    while LEFT.load(Relaxed) > 0 && begun.elapsed() < process::HANGS {
        let Some(at) = ledger.reserve(batch.len()) else { break };
        let called = Instant::now();
        batch.fill(0);
        LAST_ID.store(&raw mut batch[size - 1], Relaxed);
        let done = issuer.issue(&method, &mut batch);
        LAST_ID.store(std::ptr::null_mut(), Relaxed);
        if FORKED.load(Relaxed) {
            if size >= LONG && MADE_IN_CALL.load(Relaxed) && done.is_ok() {
                batch.iter().for_each(|&id| ledger.push(id));
            }
            child(&issuer, (&method, size), &ledger, done);
        }
        done.map_err(|error| format!("in the parent: {error}"))?;
        slowest = slowest.max(called.elapsed());
        for (i, &id) in batch.iter().enumerate() {
            ledger.write(at + i, id);
        }
        if FORKED.load(Relaxed) {
            // Copied while it wrote: the same ids in the same places.
            child(&issuer, (&method, size), &ledger, Ok(()));
        }
        if method == "next" {
            // A billion ids prove no more than a million.
            spin(Duration::from_micros(2));
        }
    }
    arm(0);
    let patience = Instant::now();
    while LIVE.load(Relaxed) > 0 && patience.elapsed() < process::HANGS {
        reap();
        std::thread::sleep(Duration::from_millis(1));
    }
    println!(
        "forks={} bad_ends={} last_bad={:#x} left_alive={} slowest_us={} {}",
        FORKS.load(Relaxed),
        BAD_ENDS.load(Relaxed),
        LAST_BAD.load(Relaxed),
        LIVE.load(Relaxed),
        slowest.as_micros(),
        ledger.judge().line()
    );
    Ok(())
}

/// Ends the process: 0 when all went well.
fn child(
    issuer: &Issuer,
    (method, size): (&str, usize),
    ledger: &Ledger,
    interrupted: Result<(), leafid::Error>,
) -> ! {
    let fail = |code: i32, what: String| -> ! {
        eprintln!("child: {what}");
        unsafe { libc::_exit(code) }
    };
    if let Err(error) = interrupted {
        fail(5, format!("the interrupted call: {error}"));
    }
    let mut batch = vec![0; size];
    for _ in 0..if size >= LONG { 2 } else { 40 } {
        if let Err(error) = issuer.issue(method, &mut batch) {
            fail(4, error.to_string());
        }
        batch.iter().for_each(|&id| ledger.push(id));
    }
    match std::process::id() % 2 {
        0 => unsafe { libc::_exit(0) },
        _ => unsafe { libc::exit(0) },
    }
}

fn arm(micros: u64) {
    PERIOD_US.store(micros, Relaxed);
    unsafe { libc::signal(libc::SIGALRM, on_signal as *const () as usize) };
    once(micros);
}

fn once(micros: u64) {
    let never = libc::timeval { tv_sec: 0, tv_usec: 0 };
    let timer =
        libc::itimerval { it_interval: never, it_value: libc::timeval { tv_sec: 0, tv_usec: micros as i64 } };
    unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const timer, std::ptr::null_mut()) };
}

fn spin(time: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < time {
        std::hint::spin_loop();
    }
}
