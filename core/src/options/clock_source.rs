//! The system clock that the time in ids is read from.

use crate::words::words;

/// The clock that the time in an id is read from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ClockSource {
    /// The system clock.
    #[default]
    System,
    /// The system clock at its last timer interrupt: cheaper to read, and late by up to one interval.
    ///
    /// The interval is 1 to 10 ms, depending on the kernel; `Stats::clock_lag_ms` returns it. If the interrupt itself
    /// is late, the time is later still. Decisions about spans and records use the other clock.
    Coarse,
}

words! { ClockSource of "clock_source": "system" => System, or "coarse" => Coarse }
