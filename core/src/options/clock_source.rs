//! The system clock that the time in ids is read from.

use crate::quoted::Quoted;
use crate::{Error, Result};

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

impl ClockSource {
    /// The allowed values, for error messages.
    pub(crate) const ALLOWED: &str = "\"system\" or \"coarse\"";

    /// Parses `system` or `coarse`. Errors: `invalid_argument`.
    pub fn parse(text: &str) -> Result<ClockSource> {
        match text {
            "system" => Ok(ClockSource::System),
            "coarse" => Ok(ClockSource::Coarse),
            _ => Err(Error::invalid("clock_source", Quoted(text), ClockSource::ALLOWED)),
        }
    }

    /// The name that [`ClockSource::parse`] accepts: `system` or `coarse`.
    pub const fn name(self) -> &'static str {
        match self {
            ClockSource::System => "system",
            ClockSource::Coarse => "coarse",
        }
    }
}
