//! `wait-forks`: forks in a signal handler while the thread waits for a span. The child continues with a call whose
//! background thread does not exist there.

use crate::ledger::Ledger;
use crate::options::Options;
use crate::process::{self, Kind};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::Relaxed};
use std::time::Duration;

static FORKED: AtomicBool = AtomicBool::new(false);
static ARMED: AtomicBool = AtomicBool::new(false);
static CHILD: AtomicI32 = AtomicI32::new(0);
static KIND: AtomicI32 = AtomicI32::new(0);

extern "C" fn on_signal(_: i32) {
    if !ARMED.swap(false, Relaxed) {
        return;
    }
    let kind = [Kind::Fork, Kind::Bare][KIND.load(Relaxed) as usize % 2];
    match process::fork(kind) {
        0 => FORKED.store(true, Relaxed),
        pid => CHILD.store(pid, Relaxed),
    }
}

/// Arguments: `dir`, `name`, `generators`, `kind`, `delay_us`. A generator each is left without a span, then asked for an id, with
/// a fork a little later, at another moment each time.
pub fn run(options: &Options) -> Result<(), String> {
    let generators = options.number("generators", 40);
    KIND.store(Kind::parse(options.text("kind").unwrap_or("fork")) as i32, Relaxed);
    let name = options.text("name").unwrap_or("default");
    let ledger = Ledger::new(1 << 20);
    let text = |error: leafid::Error| error.to_string();
    let flakes: Result<Vec<_>, String> = (0..generators)
        .map(|n| {
            // Ids of their own, so that all may stand in one ledger.
            let worker = format!("{}-{}", 10 * n, 10 * n + 3);
            options.builder().name(format!("{name}-{n}")).worker(worker).open().map_err(text)
        })
        .collect();
    let flakes = flakes?;
    // The background thread must not renew meanwhile: it ends with a fork, and begins with a call that needs it.
    for flake in &flakes {
        ledger.push(flake.next().map_err(text)?);
    }
    match process::fork(Kind::Fork) {
        0 => unsafe { libc::_exit(0) },
        pid => process::wait(pid),
    };
    std::thread::sleep(Duration::from_millis(600));
    let (mut forks, mut bad) = (0, 0);
    for (n, flake) in flakes.iter().enumerate() {
        let delay = options.number("delay_us", 20 + (n as u64 * 37) % 900);
        ARMED.store(true, Relaxed);
        arm(delay);
        // Before the call: see the ledger.
        let Some(at) = ledger.reserve(1) else { break };
        let answer = flake.next();
        if FORKED.load(Relaxed) {
            child(flake, &ledger, answer.map(drop), delay);
        }
        ledger.write(at, answer.map_err(|error| format!("in the parent: {error}"))?);
        while ARMED.load(Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
        if FORKED.load(Relaxed) {
            child(flake, &ledger, Ok(()), delay);
        }
        let pid = CHILD.swap(0, Relaxed);
        if pid > 0 {
            forks += 1;
            let end = process::wait(pid);
            if end != process::End::Exit(0) {
                eprintln!("child: {end:?} (fork {delay} us after the call)");
                bad += 1;
            }
        }
    }
    println!("forks={forks} bad_ends={bad} {}", ledger.judge().line());
    Ok(())
}

fn child(flake: &leafid::Snowflake, ledger: &Ledger, answer: Result<(), leafid::Error>, delay: u64) -> ! {
    let mut code = 0;
    if let Err(error) = answer {
        eprintln!("child: forked {delay} us into the call, which answered: {error}");
        code = 5;
    }
    match flake.next() {
        Ok(id) => ledger.push(id),
        Err(error) => {
            eprintln!("child: the next call: {error}");
            code = 4;
        }
    }
    unsafe { libc::_exit(code) }
}

fn arm(micros: u64) {
    unsafe {
        libc::signal(libc::SIGALRM, on_signal as *const () as usize);
        let once = libc::timeval { tv_sec: 0, tv_usec: micros as i64 };
        let never = libc::timeval { tv_sec: 0, tv_usec: 0 };
        let timer = libc::itimerval { it_interval: never, it_value: once };
        libc::setitimer(libc::ITIMER_REAL, &raw const timer, std::ptr::null_mut());
    }
}
