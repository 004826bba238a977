//! `make simulate`: plays seed after seed for a given time, and reports the results.

use super::assumed;
use super::seeds;
use super::{Faults, Outcome, run};
use std::time::{Duration, Instant};

/// The faults in the seeds of `make test`, each at least once.
pub(crate) const KINDS: &[&str] = &[
    "answer lost",
    "answers swapped",
    "skipped time comes round",
    "clock comes to a boundary",
    "clock far back for a while",
    "clock leaps and comes back",
    "clock steps ahead",
    "clock steps back",
    "closed",
    "disk fails for a while",
    "forked",
    "forked among segments",
    "killed",
    "killed at a write",
    "leap is followed",
    "lease answer late",
    "lease lost",
    "lease request late",
    "lease server away or back",
    "lease server fails",
    "lock vanishes",
    "newest slot of a counter or mark lost",
    "host lock vanishes",
    "pod moved",
    "pod moved to a clock behind",
    "power cut",
    "range refused where its locks are not seen",
    "record copied or restored",
    "record reset",
    "record vanishes",
    "records of the directory vanish",
    "segment source fails",
    "segment source lies or is stale",
    "rest of segments put back",
    "rest taken up",
    "request comes again later",
    "request comes twice",
    "slot damaged",
    "stopped and continued",
    "two requests have one answer",
    "write or sync fails",
];

pub(crate) fn replay(seed: u64, turns: u32) -> String {
    format!("seed {seed}, {turns} turns; to see it again: make simulate SEED={seed} TURNS={turns}")
}

/// The largest memory use of this program so far, in MiB.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok()).unwrap_or(0) / 1_024
}

/// A number from the environment.
fn told(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok().filter(|text| !text.is_empty())?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

#[test]
#[ignore = "make simulate runs it for as long as it is given"]
fn simulate() {
    let seconds = Duration::from_secs(told("LEAFID_SIMULATE_SECONDS").unwrap_or(60));
    let turns = told("LEAFID_SIMULATE_TURNS").unwrap_or(20_000) as u32;
    let one = told("LEAFID_SIMULATE_SEED");
    let begun = Instant::now();
    // Other seeds each time, which make test does not run.
    let from = one.unwrap_or_else(seeds::by_the_clock);
    let (mut worlds, mut snowflakes, mut segment_ids, mut processes) = (0u64, 0u64, 0u64, 0u64);
    let mut faults = Faults::new();
    let mut duplicates = 0;
    for seed in from.. {
        let Outcome { wrong, digest, faults: more, .. } = {
            let outcome = run(seed, turns);
            snowflakes += outcome.snowflakes;
            segment_ids += outcome.segment_ids;
            processes += outcome.processes - (1 << 40);
            outcome
        };
        worlds += 1;
        more.iter().for_each(|(kind, count)| *faults.entry(kind).or_default() += count);
        if one.is_some() {
            println!("seed {seed}: digest {digest:016x}");
        }
        if let Some(wrong) = wrong {
            duplicates += 1;
            println!("WRONG: {wrong}; {}", replay(seed, turns));
        }
        if one.is_some() || begun.elapsed() >= seconds || duplicates >= 10 {
            break;
        }
    }
    let ids = snowflakes + segment_ids;
    let a_minute = ids as f64 * 60.0 / begun.elapsed().as_secs_f64() / 1e6;
    println!("simulated {worlds} worlds, {processes} processes in {:.0} s", begun.elapsed().as_secs_f64());
    println!("faults injected: {}", faults.values().sum::<u64>());
    faults.iter().for_each(|(kind, count)| println!("  {count:>9} {kind}"));
    println!(
        "ids issued: {ids} ({snowflakes} snowflakes, {segment_ids} of segments), {a_minute:.1} million a minute"
    );
    println!("memory at most: {} MiB", peak_mib());
    print!("{}", assumed::NOT_COVERED);
    println!("duplicates: {duplicates}");
    assert_eq!(duplicates, 0);
    assert!(one.is_some() || a_minute >= 10.0, "ten million a minute are due");
    assert!(peak_mib() <= 1_024, "one GiB is allowed");
}
