//! The world outside, of which segments read the clock and random numbers.

use crate::world;
use std::time::Duration;

pub(crate) struct Env {
    pub(crate) clock: Clock,
    pub(crate) random: Random,
}

pub(crate) struct Clock;

impl Clock {
    pub(crate) fn boot_time(&self) -> Duration {
        world::now()
    }

    pub(crate) fn now_ms(&self) -> i64 {
        world::now().as_millis() as i64
    }
}

pub(crate) struct Random;

impl Random {
    pub(crate) fn number(&self) -> std::io::Result<u128> {
        Ok(0)
    }
}
