//! leafid for Rust, as the peers are measured.

use crate::harness::{batch, burst, cpu_now, measured, pair, single};
use crate::open::segments;
pub use crate::open::{builder, wide};
use leafid::ClockSource;
use std::time::Duration;

pub fn measure() {
    let flake = builder().open().expect("open");
    let next = || flake.next().expect("an id");
    single("leafid", "Snowflake::next", next);
    burst("leafid", "Snowflake::next", next);
    pair("leafid", "Snowflake::next", next);

    let flake = wide().open().expect("open");
    let next = || flake.next().expect("an id");
    single("leafid", "Snowflake::next wide 5+23", next);
    pair("leafid", "Snowflake::next wide 5+23", next);
    batch("leafid", "fill(1000) wide 5+23", 1_000, |out| flake.fill(out).expect("ids"));
    batch("leafid", "take(1000) wide 5+23", 1_000, |out| *out = flake.take(1_000).expect("ids"));
    let mut local = flake.local();
    single("leafid", "Local::next wide 5+23", || local.next().expect("an id"));

    let flake = wide().clock_source(ClockSource::Coarse).open().expect("open");
    let next = || flake.next().expect("an id");
    single("leafid", "Snowflake::next wide 5+23, coarse", next);
    pair("leafid", "Snowflake::next wide 5+23, coarse", next);
    measured("idle", idle_share(), 0.0);

    let order = segments().tag("order").expect("a tag");
    let next = || order.next().expect("an id");
    single("leafid", "Tag::next", next);
    pair("leafid", "Tag::next", next);
    let mut local = order.local();
    single("leafid", "LocalTag::next", || local.next().expect("an id"));
    batch("leafid", "Tag::fill(1000)", 1_000, |out| order.fill(out).expect("ids"));
    batch("leafid", "Tag::take(1000)", 1_000, |out| *out = order.take(1_000).expect("ids"));
}

/// The processor time of the whole process while nobody asks for an id, in percent of a processor.
pub fn idle_share() -> f64 {
    let (time, cpu) = (Duration::from_secs(2), cpu_now());
    std::thread::sleep(time);
    (cpu_now() - cpu).as_secs_f64() / time.as_secs_f64() * 100.0
}
