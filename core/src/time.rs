//! Time: when to retry, and which readings of a clock to follow.

pub(crate) mod back_off;
pub(crate) mod clock_filter;
pub(crate) mod clock_steps;
pub(crate) mod durations;
pub(crate) mod poll_pause;

#[cfg(feature = "parts")]
pub use back_off::LONGEST_MS;
pub use clock_filter::LeapEvent;
pub use clock_steps::ClockSteps;
