//! `close-race`: threads, and processes beside them, open the same generator, issue a few ids and close, without pause.

use crate::ledger::Ledger;
use crate::options::Options;
use crate::process::{self, End, Kind};
use leafid::Code;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Rounds that must have been done, however slow the machine is.
const ROUNDS: u64 = 51;

/// Arguments: those of a generator, `threads`; `millis` of this process, or `kills` of one of `processes`, which is begun
/// again, from `seed` on.
pub fn run(options: &Options) -> Result<(), String> {
    let ledger = Ledger::new(32 << 20);
    let (kills, processes) = (options.number("kills", 0), options.number("processes", 1));
    if kills == 0 {
        let line = work(options, &ledger, Duration::from_millis(options.number("millis", 3_000)), false)?;
        println!("{line} {}", ledger.judge().line());
        return Ok(());
    }
    let begin = || match process::fork(Kind::Fork) {
        0 => {
            if let Err(message) = work(options, &ledger, process::HANGS, true) {
                eprintln!("{message}");
            }
            unsafe { libc::_exit(4) }
        }
        pid => pid,
    };
    let mut bad = 0;
    let mut kill = |victim| {
        unsafe { libc::kill(victim, libc::SIGKILL) };
        let done = process::wait(victim);
        if done != End::Signal(libc::SIGKILL) {
            eprintln!("child: {done:?}");
            bad += 1;
        }
    };
    let mut children: Vec<i32> = (0..processes).map(|_| begin()).collect();
    let mut seed = options.number("seed", 1) | 1;
    for _ in 0..kills {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_micros(500 + (seed >> 33) % 20_000));
        kill(children.remove((seed >> 20) as usize % children.len()));
        children.push(begin());
    }
    children.into_iter().for_each(kill);
    println!("bad_ends={bad} {}", ledger.judge().line());
    Ok(())
}

/// Opens, issues and closes in threads; an error that is none of those expected ends it.
fn work(options: &Options, ledger: &Ledger, time: Duration, contended: bool) -> Result<String, String> {
    let (begun, errors) = (Instant::now(), Mutex::new(Vec::<String>::new()));
    let (rounds, refused, slowest) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for thread in 0..options.number("threads", 4) {
            let (errors, rounds, refused, slowest) = (&errors, &rounds, &refused, &slowest);
            scope.spawn(move || {
                let mut last = 0;
                let note = |what: &str, error: leafid::Error| {
                    if let Ok(mut errors) = errors.lock() {
                        errors.push(format!("{what}: {error}"));
                    }
                };
                while begun.elapsed() < time || rounds.load(Relaxed) < ROUNDS {
                    let called = Instant::now();
                    let flake = match options.open() {
                        Ok(flake) => flake,
                        Err(error) if contended && error.code() == Code::WorkerInUse => {
                            refused.fetch_add(1, Relaxed);
                            std::thread::sleep(Duration::from_micros(300));
                            continue;
                        }
                        Err(error) => return note("open", error),
                    };
                    slowest.fetch_max(called.elapsed().as_micros() as u64, Relaxed);
                    let other = (thread % 2 == 1).then(|| flake.clone());
                    for _ in 0..30 {
                        match flake.next() {
                            Ok(id) => {
                                ledger.push(id);
                                if id <= last
                                    && options.text("worker").is_some_and(|text| !text.contains('-'))
                                {
                                    note(
                                        "order",
                                        leafid::Error::new(Code::Internal, format!("{id} after {last}")),
                                    );
                                }
                                last = id;
                            }
                            Err(error) => return note("next", error),
                        }
                    }
                    if let Err(error) = flake.close() {
                        return note("close", error);
                    }
                    if let Some(other) = other {
                        match other.next() {
                            Ok(id) => ledger.push(id),
                            Err(error) => return note("next of a clone", error),
                        }
                    }
                    rounds.fetch_add(1, Relaxed);
                }
            });
        }
    });
    let errors = errors.into_inner().unwrap_or_default();
    for error in errors.iter().take(5) {
        eprintln!("{error}");
    }
    if contended && !errors.is_empty() {
        return Err(format!("{} errors", errors.len()));
    }
    Ok(format!(
        "errors={} rounds={} refused={} open_us={} descriptors={} threads={}",
        errors.len(),
        rounds.load(Relaxed),
        refused.load(Relaxed),
        slowest.load(Relaxed),
        process::count("fd"),
        process::threads()
    ))
}
