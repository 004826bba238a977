//! Which of the system's clocks ids are made of.

use leafid_core::{Error, Result};

/// The clock that the time in an id is read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ClockSource {
    /// The system's clock.
    #[default]
    System,
    /// The system's clock as of its last timer interrupt: cheaper to read, and up to that interval late (1 to 10 ms, by
    /// the kernel; `Stats::clock_lag_ms` says it), or more where the interrupt itself is late. Whatever decides about
    /// spans and records reads the other one.
    Coarse,
}

impl ClockSource {
    /// What it may be, for errors.
    pub(crate) const ALLOWED: &str = "\"system\" or \"coarse\"";

    /// Reads `system` or `coarse`.
    pub fn parse(text: &str) -> Result<ClockSource> {
        match text {
            "system" => Ok(ClockSource::System),
            "coarse" => Ok(ClockSource::Coarse),
            _ => Err(Error::invalid("clock_source", format!("{text:?}"), ClockSource::ALLOWED)),
        }
    }

    /// `system` or `coarse`.
    pub const fn name(self) -> &'static str {
        match self {
            ClockSource::System => "system",
            ClockSource::Coarse => "coarse",
        }
    }
}
