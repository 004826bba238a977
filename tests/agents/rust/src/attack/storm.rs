//! `fork-storm`: threads fork without pause, while others open and close generators of a range and issue ids. Children
//! use the inherited handle, open others, fork again, and end by exit or _exit.

use crate::ledger::Ledger;
use crate::options::Options;
use crate::process::{self, End, Kind};
use leafid::Snowflake;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// The openings that must have come to their end beside the forks.
const OPENS: u64 = 20;

/// Arguments: `name`, `dir`, `forks` at least, `forkers` (threads that fork), `kind`.
pub fn run(options: &Options) -> Result<(), String> {
    let kind = Kind::parse(options.text("kind").unwrap_or("fork"));
    let forkers = options.number("forkers", 1);
    let each = options.number("forks", 200) / forkers;
    let ledger = Ledger::new(8 << 20);
    let shared = options.builder().worker("0-99").open().map_err(|error| error.to_string())?;
    let (done, errors) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    let (bad, opens) = (AtomicU64::new(0), AtomicU64::new(0));
    let note = |what: &str, error: &dyn std::fmt::Display| {
        if let Ok(mut errors) = errors.lock() {
            errors.push(format!("{what}: {error}"));
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Relaxed) {
                let flake = match options.builder().worker("100-199").open() {
                    Ok(flake) => flake,
                    Err(error) => {
                        note("open", &error);
                        return opens.store(OPENS, Relaxed);
                    }
                };
                for _ in 0..20 {
                    match flake.next() {
                        Ok(id) => ledger.push(id),
                        Err(error) => note("next of the opener", &error),
                    }
                }
                if let Err(error) = flake.close() {
                    note("close", &error);
                }
                opens.fetch_add(1, Relaxed);
            }
        });
        scope.spawn(|| {
            while !done.load(Relaxed) {
                match shared.next() {
                    Ok(id) => ledger.push(id),
                    Err(error) => note("next", &error),
                }
                std::thread::sleep(Duration::from_micros(50));
            }
        });
        let forking: Vec<_> = (0..forkers)
            .map(|_| {
                scope.spawn(|| {
                    let mut children = Vec::new();
                    for round in (0..).take_while(|&round| round < each || opens.load(Relaxed) < OPENS) {
                        match process::fork(kind) {
                            0 => child(options, &shared, &ledger, round, 0),
                            pid if pid > 0 => children.push(pid),
                            _ => note("fork", &std::io::Error::last_os_error()),
                        }
                        while children.len() >= 4 {
                            judge(children.remove(0), &bad, &note);
                        }
                    }
                    children.into_iter().for_each(|pid| judge(pid, &bad, &note));
                })
            })
            .collect();
        forking.into_iter().for_each(|thread| drop(thread.join()));
        done.store(true, Relaxed);
    });
    let errors = errors.into_inner().unwrap_or_default();
    for error in errors.iter().take(5) {
        eprintln!("{error}");
    }
    println!(
        "errors={} bad_ends={} opens={} {}",
        errors.len(),
        bad.load(Relaxed),
        opens.load(Relaxed),
        ledger.judge().line()
    );
    Ok(())
}

fn judge(pid: i32, bad: &AtomicU64, note: &dyn Fn(&str, &dyn std::fmt::Display)) {
    let end = process::wait(pid);
    if end != End::Exit(0) {
        bad.fetch_add(1, Relaxed);
        note("child", &format!("{end:?}"));
    }
}

fn child(options: &Options, shared: &Snowflake, ledger: &Ledger, round: u64, depth: u32) -> ! {
    let fail = |code: i32, error: leafid::Error| -> ! {
        eprintln!("child of depth {depth}: {error}");
        unsafe { libc::_exit(code) }
    };
    if round % 3 != 2 {
        for _ in 0..50 {
            match shared.next() {
                Ok(id) => ledger.push(id),
                Err(error) => fail(4, error),
            }
        }
        match shared.take(200) {
            Ok(ids) => ids.into_iter().for_each(|id| ledger.push(id)),
            Err(error) => fail(5, error),
        }
    }
    if round % 4 == 1 {
        match options.builder().worker("200-299").open() {
            Ok(flake) => match flake.next() {
                Ok(id) => ledger.push(id),
                Err(error) => fail(6, error),
            },
            Err(error) => fail(7, error),
        }
    }
    if round % 5 == 1 && depth < 2 {
        match process::fork(Kind::Fork) {
            0 => child(options, shared, ledger, round + 1, depth + 1),
            pid => {
                if process::wait(pid) != End::Exit(0) {
                    unsafe { libc::_exit(8) };
                }
            }
        }
        if let Ok(id) = shared.next() {
            ledger.push(id);
        }
    }
    match round % 2 {
        0 => unsafe { libc::_exit(0) },
        _ => std::process::exit(0),
    }
}
