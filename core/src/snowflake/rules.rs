//! How a generator behaves when the clock goes back, and when a tick is used up.

use crate::{Error, Result};

/// The longest span, in milliseconds beyond the clock.
pub const LONGEST_SPAN_MS: i64 = 3_000;
/// The first span of a generator that the clock leads; it grows with the generator's age to the longest, so that a
/// crash loop does not begin seconds ahead of the clock.
pub const FIRST_SPAN_MS: i64 = 500;

/// What a generator does when the clock is behind its last id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum OnClockBackwards {
    /// Goes on upon the logical clock, which never goes back.
    #[default]
    Continue,
    /// Waits until the clock has caught up (Leaf's rule).
    Wait,
}

impl OnClockBackwards {
    /// Reads `continue` or `wait`.
    pub fn parse(text: &str) -> Result<OnClockBackwards> {
        match text {
            "continue" => Ok(OnClockBackwards::Continue),
            "wait" => Ok(OnClockBackwards::Wait),
            _ => Err(Error::invalid(
                "on_clock_backwards",
                alloc::format!("{text:?}"),
                "\"continue\" or \"wait\"",
            )),
        }
    }

    /// `continue` or `wait`.
    pub const fn name(self) -> &'static str {
        match self {
            OnClockBackwards::Continue => "continue",
            OnClockBackwards::Wait => "wait",
        }
    }

    /// The default of `max_backwards_ms`: 5000 under continue, 5 (Leaf's) under wait.
    pub const fn default_max_ms(self) -> i64 {
        match self {
            OnClockBackwards::Continue => 5_000,
            OnClockBackwards::Wait => 5,
        }
    }

    /// The least and the most of `max_backwards_ms`: a bound under 100 ms leaves continue no room for a span.
    pub const fn max_ms_range(self) -> (i64, i64) {
        match self {
            OnClockBackwards::Continue => (100, 3_600_000),
            OnClockBackwards::Wait => (0, 3_600_000),
        }
    }
}

/// What a generator does when a tick's sequence is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum OnExhausted {
    /// Waits for the clock's next tick.
    #[default]
    Wait,
    /// Steps on ahead of the clock, within the bound of `max_backwards_ms`.
    Borrow,
}

impl OnExhausted {
    /// Reads `wait` or `borrow`.
    pub fn parse(text: &str) -> Result<OnExhausted> {
        match text {
            "wait" => Ok(OnExhausted::Wait),
            "borrow" => Ok(OnExhausted::Borrow),
            _ => Err(Error::invalid("on_exhausted", alloc::format!("{text:?}"), "\"wait\" or \"borrow\"")),
        }
    }

    /// `wait` or `borrow`.
    pub const fn name(self) -> &'static str {
        match self {
            OnExhausted::Wait => "wait",
            OnExhausted::Borrow => "borrow",
        }
    }
}

/// The rules of one generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rules {
    /// When the clock is behind the last id.
    pub on_clock_backwards: OnClockBackwards,
    /// How far the clock may be behind, in milliseconds.
    pub max_backwards_ms: i64,
    /// When a tick is used up.
    pub on_exhausted: OnExhausted,
    /// A new tick starts its sequence below this number; 0 and 1 always start at 0. Clamped to an eighth of the
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
    /// How far ahead of the clock a generator may begin, in milliseconds: under wait it waits for so long.
    pub const fn bridged_ms(&self) -> i64 {
        match self.on_clock_backwards {
            OnClockBackwards::Continue => self.max_backwards_ms,
            OnClockBackwards::Wait => LONGEST_SPAN_MS,
        }
    }

    /// The same rules for a generator that must never run ahead of the clock, as its record may not outlive it: where
    /// others go on or borrow, it waits.
    pub fn never_ahead(self) -> Rules {
        Rules { on_clock_backwards: OnClockBackwards::Wait, on_exhausted: OnExhausted::Wait, ..self }
    }
}
