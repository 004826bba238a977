//! The rules of a generator: for a clock that goes back, and for a tick that is used up.

use crate::words::words;
use crate::{Error, Result};

/// How far ahead of the clock the longest span ends, in milliseconds.
pub const LONGEST_SPAN_MS: i64 = 3_000;
/// How far ahead of the clock the first span ends, in milliseconds. Later spans grow with the generator's age to the
/// longest, so that a crash loop does not start seconds ahead of the clock.
pub(crate) const FIRST_SPAN_MS: i64 = 500;

/// What a generator does when the clock is behind its last id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum OnClockBackwards {
    /// It continues with the logical clock, which never goes back.
    #[default]
    Continue,
    /// It waits until the clock has caught up (Leaf's rule).
    Wait,
}

words! { OnClockBackwards of "on_clock_backwards": "continue" => Continue, or "wait" => Wait }

impl OnClockBackwards {
    /// The allowed values of `max_backwards_ms`, for error messages.
    pub(crate) const ALLOWED_MAX_MS: &str =
        "100 to 3600000 milliseconds under \"continue\", 0 to 3600000 under \"wait\"";

    /// The default of `max_backwards_ms`: 5000 under `continue`, 5 (Leaf's) under `wait`.
    pub const fn default_max_ms(self) -> i64 {
        match self {
            OnClockBackwards::Continue => 5_000,
            OnClockBackwards::Wait => 5,
        }
    }

    /// The range of `max_backwards_ms`. A bound under 100 ms leaves no room for a span under `continue`.
    pub const fn max_ms_range(self) -> (i64, i64) {
        match self {
            OnClockBackwards::Continue => (100, 3_600_000),
            OnClockBackwards::Wait => (0, 3_600_000),
        }
    }

    /// Checks `max_backwards_ms`. Errors: `invalid_argument`.
    pub fn check_max_ms(self, ms: i64) -> Result<i64> {
        let (least, most) = self.max_ms_range();
        match ms {
            ms if (least..=most).contains(&ms) => Ok(ms),
            ms => Err(Error::invalid("max_backwards_ms", ms, OnClockBackwards::ALLOWED_MAX_MS)),
        }
    }
}

/// What a generator does when the sequence of a tick is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum OnExhausted {
    /// It waits for the next tick of the clock.
    #[default]
    Wait,
    /// It uses the next tick ahead of the clock, within the bound of `max_backwards_ms`.
    Borrow,
}

words! { OnExhausted of "on_exhausted": "wait" => Wait, or "borrow" => Borrow }

/// The rules of one generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rules {
    /// The rule for a clock that is behind the last id.
    pub on_clock_backwards: OnClockBackwards,
    /// How far the clock may be behind the last id, in milliseconds.
    pub max_backwards_ms: i64,
    /// The rule for a tick that is used up.
    pub on_exhausted: OnExhausted,
    /// A new tick starts its sequence below this number; 0 and 1 always start at 0. It is reduced to an eighth of the
    /// sequence space.
    pub random_start: u32,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules {
            on_clock_backwards: OnClockBackwards::Continue,
            max_backwards_ms: 5_000,
            on_exhausted: OnExhausted::Wait,
            random_start: 100,
        }
    }
}

impl Rules {
    /// The allowed values of `random_start`, for error messages.
    #[cfg(feature = "options")]
    pub(crate) const ALLOWED_RANDOM_START: &str = "0 to 1000000; 0 starts every tick at sequence number 0";

    /// How far ahead of the clock a generator may start, in milliseconds. Under `wait` it waits for this time.
    pub const fn bridged_ms(&self) -> i64 {
        match self.on_clock_backwards {
            OnClockBackwards::Continue => self.max_backwards_ms,
            OnClockBackwards::Wait => LONGEST_SPAN_MS,
        }
    }

    /// The same rules for a generator that must never run ahead of the clock, because its record may not survive. Where
    /// other rules continue or borrow, it waits.
    pub fn never_ahead(self) -> Rules {
        Rules { on_clock_backwards: OnClockBackwards::Wait, on_exhausted: OnExhausted::Wait, ..self }
    }
}
