//! `leafid bench`: the rate and the latency of this host.

use super::options::{Bits, Space};
use super::streams::{Outcome, Streams};
use crate::storage::state_file;
use crate::{Result, Snowflake};
use clap::Args;
use leafid_core::Error;
use serde_json::json;
use std::path::Path;
use std::time::{Duration, Instant};

/// Calls between two looks at the clock.
const AT_ONCE: u64 = 256;
/// A bucket for each power of two of nanoseconds; the last one, from one second on, has no end.
const BUCKETS: usize = 32;
/// The length of the longest bar.
const BAR: u64 = 50;

/// Measure how many ids this host creates, and how long a call lasts
///
/// Takes its ids from an id space of its own, in a directory below the state directory that is gone afterwards. First
/// every thread calls next without a clock, then it measures each call: the clock's own time of about 20 ns is in it. At
/// the layout's limit a call waits for the next tick.
#[derive(Args)]
pub(super) struct BenchArguments {
    /// How long it measures each, seconds
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,
    /// The threads that share one generator
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
    #[command(flatten)]
    space: Space,
    #[command(flatten)]
    bits: Bits,
    /// Print it as a line of JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn bench(arguments: &BenchArguments, streams: &mut Streams<'_>) -> Outcome {
    let settings = arguments.space.settings()?;
    let layout = arguments.bits.layout()?;
    let existing = settings.directory.ancestors().find(|path| path.is_dir()).unwrap_or(Path::new("/"));
    let directory = tempfile::Builder::new()
        .prefix("leafid-bench-")
        .tempdir_in(existing)
        .map_err(|error| state_file::failed("make a directory in", existing, &error))?;
    let name = directory.path().file_name().map(|name| name.to_string_lossy().into_owned());
    let begun = Instant::now();
    let flake = Snowflake::builder()
        .worker(0)
        .layout(layout)
        .name(name.unwrap_or_default())
        .state_dir(directory.path())
        .open()?;
    let opened = begun.elapsed();
    let time = Duration::from_secs(arguments.seconds);
    let measured = measure(&flake, arguments.threads, time);
    flake.close()?;
    let (rate, latency) = measured?;
    // Both are whole numbers within 2^63.
    let limit = (u64::from(layout.max_sequence()) + 1) * 1_000 / layout.tick_ms() as u64;
    let opened_ms = opened.as_secs_f64() * 1_000.0;
    if arguments.json {
        let line = json!({
            "directory": existing.display().to_string(),
            "opened_ms": opened_ms,
            "threads": arguments.threads,
            "ids_per_second": rate,
            "layout_ids_per_second": limit,
            "calls": latency.calls(),
            "p50_ns": latency.quantile(0.5),
            "p99_ns": latency.quantile(0.99),
            "p999_ns": latency.quantile(0.999),
            "max_ns": latency.max_ns,
            "histogram": latency.used().map(|(below, calls)| json!({"below_ns": below, "calls": calls})).collect::<Vec<_>>(),
        });
        writeln!(streams.stdout, "{line}")?;
        return Ok(true);
    }
    let threads = match arguments.threads {
        1 => "1 thread".to_owned(),
        threads => format!("{threads} threads"),
    };
    writeln!(streams.stdout, "open     {opened_ms:.1} ms, in {}", existing.display())?;
    writeln!(streams.stdout, "next     {rate} ids a second, {threads}; the layout allows {limit}")?;
    let [p50, p99, p999] = [0.5, 0.99, 0.999].map(|part| shown(latency.quantile(part)));
    writeln!(
        streams.stdout,
        "latency  p50 below {p50}, p99 below {p99}, p99.9 below {p999}, longest {}",
        shown(latency.max_ns)
    )?;
    let most = latency.used().map(|(_, calls)| calls).max().unwrap_or(1);
    for (below, calls) in latency.used() {
        let bar = "#".repeat((calls * BAR).div_ceil(most) as usize);
        let percent = calls as f64 * 100.0 / latency.calls() as f64;
        writeln!(streams.stdout, "  below {:>7} {percent:>9.4} % {bar}", shown(below))?;
    }
    Ok(true)
}

/// The ids a second without a clock, then the latencies of all threads.
fn measure(flake: &Snowflake, threads: u16, time: Duration) -> Result<(u64, Latencies)> {
    let on_each = |work: fn(&Snowflake, Instant) -> Result<Latencies>| -> Result<(Duration, Latencies)> {
        let begun = Instant::now();
        let until = begun + time;
        let ended = std::thread::scope(|scope| {
            let running: Vec<_> = (0..threads).map(|_| scope.spawn(move || work(flake, until))).collect();
            running.into_iter().map(std::thread::ScopedJoinHandle::join).collect::<Vec<_>>()
        });
        let took = begun.elapsed();
        let mut all = Latencies::default();
        for one in ended {
            let failed = || Error::new(leafid_core::Code::Internal, "a thread of the measurement panicked");
            all.add(&one.map_err(|_| failed())??);
        }
        Ok((took, all))
    };
    let (took, counted) = on_each(|flake, until| {
        let mut calls = Latencies::default();
        while Instant::now() < until {
            for _ in 0..AT_ONCE {
                std::hint::black_box(flake.next()?);
            }
            calls.buckets[0] += AT_ONCE;
        }
        Ok(calls)
    })?;
    let (_, latencies) = on_each(|flake, until| {
        let mut calls = Latencies::default();
        let mut begun = Instant::now();
        while begun < until {
            std::hint::black_box(flake.next()?);
            let ended = Instant::now();
            calls.note(ended - begun);
            begun = ended;
        }
        Ok(calls)
    })?;
    Ok(((counted.calls() as f64 / took.as_secs_f64()) as u64, latencies))
}

#[derive(Default)]
struct Latencies {
    /// Bucket n counts calls of less than 2^n nanoseconds, and not less than half of that.
    buckets: [u64; BUCKETS],
    max_ns: u64,
}

impl Latencies {
    fn note(&mut self, time: Duration) {
        let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let bucket = (u64::BITS - ns.leading_zeros()) as usize;
        self.buckets[bucket.min(BUCKETS - 1)] += 1;
        self.max_ns = self.max_ns.max(ns);
    }

    fn add(&mut self, other: &Latencies) {
        self.buckets.iter_mut().zip(other.buckets).for_each(|(all, one)| *all += one);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    fn calls(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// The buckets from the first used one to the last: their end in nanoseconds, and their calls.
    fn used(&self) -> impl Iterator<Item = (u64, u64)> {
        let first = self.buckets.iter().position(|calls| *calls > 0).unwrap_or(0);
        let end = self.buckets.iter().rposition(|calls| *calls > 0).map_or(0, |last| last + 1);
        (first..end).map(|at| (1 << at, self.buckets[at]))
    }

    /// The end of the bucket in which this part of the calls ends, at most the longest call.
    fn quantile(&self, part: f64) -> u64 {
        let wanted = (self.calls() as f64 * part).ceil() as u64;
        let mut seen = 0;
        let bucket = self.used().find(|(_, calls)| {
            seen += calls;
            seen >= wanted
        });
        bucket.map_or(self.max_ns, |(below, _)| below)
    }
}

/// A time with its unit.
fn shown(ns: u64) -> String {
    match ns {
        0..2_000 => format!("{ns} ns"),
        2_000..2_000_000 => format!("{} us", ns / 1_000),
        2_000_000..10_000_000_000 => format!("{} ms", ns / 1_000_000),
        _ => format!("{} s", ns / 1_000_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_in_powers_of_two() {
        let mut calls = Latencies::default();
        for ns in [40, 63, 64, 1_000] {
            calls.note(Duration::from_nanos(ns));
        }
        let used: Vec<_> = calls.used().filter(|(_, calls)| *calls > 0).collect();
        assert_eq!((used, calls.calls(), calls.max_ns), (vec![(64, 2), (128, 1), (1_024, 1)], 4, 1_000));
        assert_eq!([0.5, 0.75, 1.0].map(|part| calls.quantile(part)), [64, 128, 1_024]);
        let mut long = Latencies::default();
        long.note(Duration::MAX);
        calls.add(&long);
        assert_eq!((calls.calls(), calls.max_ns), (5, u64::MAX));
    }

    #[test]
    fn times_have_units() {
        assert_eq!([64, 2_048, 4_194_304, 34_359_738_368].map(shown), ["64 ns", "2 us", "4 ms", "34 s"]);
    }
}
