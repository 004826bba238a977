//! The generators and tags that are measured.

use leafid::{Layout, Segment, Segments, Snowflake, SnowflakeBuilder};
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering::Relaxed};
use std::time::{SystemTime, UNIX_EPOCH};

/// A generator in the bench's own state directory, under a name of its own.
pub fn builder() -> SnowflakeBuilder {
    static OPENED: AtomicU32 = AtomicU32::new(0);
    let directory = std::env::var_os("BENCH_STATE").expect("BENCH_STATE names a directory for state files");
    let name = format!("bench-{}-{}", std::process::id(), OPENED.fetch_add(1, Relaxed));
    Snowflake::builder().worker(1u32).name(name).state_dir(PathBuf::from(directory))
}

/// 23 bits of sequence from the first day of this year, starting at 0: a tick is never used up.
pub fn wide() -> SnowflakeBuilder {
    let days =
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / 86_400) as i64;
    // The 35 bits last 398 days; the year is the one whose first day is nearest below.
    let first_day =
        |year: i64| (year - 1970) * 365 + (year - 1969) / 4 - (year - 1901) / 100 + (year - 1601) / 400;
    let year = (2000..).take_while(|year| first_day(*year) <= days).last().unwrap_or(2000);
    let layout =
        Layout::parse("35|5|23").and_then(|layout| layout.with_epoch_ms(first_day(year) * 86_400_000));
    builder().layout(layout.expect("a layout")).random_start(0)
}

/// Segments whose tags `order…` are never used up; a segment of any other tag has a thousand ids.
pub fn segments() -> Segments {
    let next = AtomicI64::new(1);
    let fetch = move |request: &leafid::FetchRequest| {
        let start = next.fetch_add(1 << 40, Relaxed);
        let length = if request.tag.starts_with("order") { 1 << 40 } else { 1_000 };
        Ok(Some(Segment::new(start, start + length, 1)?.into()))
    };
    Segments::builder().persist(false).fetch(fetch).open().expect("open")
}
