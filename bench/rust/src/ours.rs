//! leafid for Rust, as the peers are measured.

use crate::harness::{cpu_now, measured, pair, single};
pub use crate::open::{builder, wide};
use leafid::ClockSource;
use std::time::Duration;

pub fn measure() {
    let flake = wide().open().expect("open");
    let next = || flake.next().expect("an id");
    single("leafid", "Snowflake::next wide 5+23", next);
    pair("leafid", "Snowflake::next wide 5+23", next);
    let flake = wide().clock_source(ClockSource::Coarse).open().expect("open");
    let next = || flake.next().expect("an id");
    single("leafid", "Snowflake::next wide 5+23, coarse", next);
    pair("leafid", "Snowflake::next wide 5+23, coarse", next);
    measured("idle", idle_share(), 0.0);
}

/// The processor time of the whole process while no thread asks for an id, in percent of a processor.
pub fn idle_share() -> f64 {
    let (time, cpu) = (Duration::from_secs(2), cpu_now());
    std::thread::sleep(time);
    (cpu_now() - cpu).as_secs_f64() / time.as_secs_f64() * 100.0
}
