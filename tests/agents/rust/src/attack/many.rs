//! `many`: what a thousand generators cost.

use crate::options::Options;
use crate::process::{End, Kind, count, fork, resident, wait};
use std::time::{Duration, Instant};

/// Arguments: `dir`, `name`, `generators`.
pub fn run(options: &Options) -> Result<(), String> {
    let text = |error: leafid::Error| error.to_string();
    let generators = options.number("generators", 1_000);
    // One generator first, so that what is made once is not counted a thousand times.
    let first = options.builder().worker(1_000).open().map_err(text)?;
    first.next().map_err(text)?;
    let before = resident();
    let begun = Instant::now();
    let flakes: Result<Vec<_>, String> = (0..generators as u32)
        .map(|worker| {
            let flake = options.builder().worker(worker).open().map_err(text)?;
            flake.next().map_err(text)?;
            Ok(flake)
        })
        .collect();
    let flakes = flakes?;
    let opened = begun.elapsed();
    let each = resident().saturating_sub(before) / generators as usize;
    let threads = count("task");
    let (in_child, fork_took) = descriptors_of_a_child();
    // All of them renew at once, a few times.
    std::thread::sleep(Duration::from_millis(options.number("millis", 3_000)));
    let mut slowest = Duration::ZERO;
    for flake in &flakes {
        let begun = Instant::now();
        flake.next().map_err(text)?;
        slowest = slowest.max(begun.elapsed());
    }
    let each_later = resident().saturating_sub(before) / generators as usize;
    drop(flakes);
    drop(first);
    let tasks = count("task");
    println!(
        "in_child={in_child} fork_ms={} each_bytes={each} each_later_bytes={each_later} open_ms={} threads_in_use={threads} slowest_us={} \
         threads_after={tasks}",
        fork_took.as_millis(),
        opened.as_millis(),
        slowest.as_micros(),
    );
    Ok(())
}

/// How many descriptors an idle child of a fork has, but for those that were open without leafid; and how long the fork
/// took.
fn descriptors_of_a_child() -> (i32, Duration) {
    let begun = Instant::now();
    match fork(Kind::Fork) {
        // The listing itself, and standard input, output and error.
        0 => unsafe { libc::_exit(count("fd").saturating_sub(4).min(200) as i32) },
        pid => {
            let took = begun.elapsed();
            match wait(pid) {
                End::Exit(code) => (code, took),
                _ => (-1, took),
            }
        }
    }
}
