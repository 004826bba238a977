//! `burst`: many threads that use segments up faster than the source gives them; with `forks`, children beside them that
//! fetch their own, or do nothing.

use crate::issuer::text;
use crate::ledger::Ledger;
use crate::options::Options;
use crate::process::{End, Kind, fork, wait};
use crate::segments::{Counting, builder, describe};
use leafid::{Segments, Tag};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// Arguments: those of segments, `threads`, `takes` ids of each, `forks`, `child_takes`, or `idle_ms` that children live
/// without a call, all of them at once, and `kind` (fork, _fork, clone).
pub fn run(options: &Options) -> Result<(), String> {
    let counting = Counting::new(options.number("delay_ms", 5));
    let builder = match options.text("servers") {
        Some(_) => builder(options),
        None => describe(options, Segments::builder().source(counting.source())),
    };
    let segments = builder.open().map_err(text)?;
    let tag = segments.tag("order").map_err(text)?;
    let (threads, takes) = (options.number("threads", 8), options.number("takes", 5_000));
    let (forks, child_takes) = (options.number("forks", 0), options.number("child_takes", 50));
    let (kind, idle_ms) = (Kind::parse(options.text("kind").unwrap_or("fork")), options.number("idle_ms", 0));
    let ledger = Ledger::new((threads * takes + forks * child_takes) as usize);
    let (errors, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let slowest_us = AtomicU64::new(0);
    let bad = std::thread::scope(|scope| {
        let issuing: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| errors.fetch_add(issue(&tag, &ledger, takes, &stop, &slowest_us), SeqCst))
            })
            .collect();
        let bad = match idle_ms {
            0 => (0..forks).filter(|_| !child_issues(&tag, &ledger, child_takes, kind)).count(),
            _ => idle_children(forks, idle_ms, kind),
        };
        stop.store(forks > 0, SeqCst);
        issuing.into_iter().for_each(|thread| drop(thread.join()));
        bad
    });
    let stats = tag.stats().map_err(text)?;
    println!(
        "{} errors={} slowest_us={} bad_children={bad} calls={} most_at_once={} fetches={}",
        ledger.judge().line(),
        errors.load(SeqCst),
        slowest_us.load(SeqCst),
        counting.calls.load(SeqCst),
        counting.most.load(SeqCst),
        stats.fetches
    );
    Ok(())
}

/// How many calls failed.
fn issue(tag: &Tag, ledger: &Ledger, takes: u64, stop: &AtomicBool, slowest_us: &AtomicU64) -> usize {
    let mut failed = 0;
    for _ in 0..takes {
        if stop.load(SeqCst) {
            break;
        }
        // Before the id: see the ledger.
        let Some(at) = ledger.reserve(1) else { break };
        let begun = Instant::now();
        let next = tag.next();
        slowest_us.fetch_max(begun.elapsed().as_micros() as u64, SeqCst);
        match next {
            Ok(id) => ledger.write(at, id),
            Err(error) => {
                eprintln!("{error}");
                failed += 1;
            }
        }
    }
    failed
}

/// A child that takes ids with the tag that it inherited, and ends.
fn child_issues(tag: &Tag, ledger: &Ledger, takes: u64, kind: Kind) -> bool {
    std::thread::sleep(Duration::from_millis(3));
    match fork(kind) {
        0 => {
            let failed = issue(tag, ledger, takes, &AtomicBool::new(false), &AtomicU64::new(0));
            unsafe { libc::_exit(failed.min(100) as i32) }
        }
        pid => wait(pid) == End::Exit(0),
    }
}

/// Children at random moments that only live for some time, together. How many ended otherwise.
fn idle_children(count: u64, idle_ms: u64, kind: Kind) -> usize {
    let pids: Vec<i32> = (0..count)
        .map(|nth| {
            std::thread::sleep(Duration::from_micros(500 + 700 * (nth % 7)));
            match fork(kind) {
                0 => unsafe {
                    libc::usleep(idle_ms as libc::c_uint * 1_000);
                    libc::_exit(0)
                },
                pid => pid,
            }
        })
        .collect();
    std::thread::sleep(Duration::from_millis(idle_ms / 2));
    pids.into_iter().filter(|&pid| wait(pid) != End::Exit(0)).count()
}
