//! What a call of the generator returns if it is not one id: a run of ids, or the next action.

use crate::{Code, Error, Layout, Rules, Utc};
use alloc::format;

/// The next action of a caller that got no id. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Ask again once the clock reads this, in Unix milliseconds.
    WaitUntil(i64),
    /// Have the next span granted, from [`crate::Snowflake::first_unused`] on, and ask again.
    NeedSpan,
    /// Refused: the clock is further behind the last id than the bound. Read the clock once more before believing it.
    ClockBackwards {
        /// The time of the last id, Unix milliseconds.
        last_ms: i64,
        /// The time given.
        now_ms: i64,
    },
    /// Refused: the time given lies before the epoch.
    BeforeEpoch {
        /// The time given.
        now_ms: i64,
    },
    /// Refused: the layout's timestamp bits are used up.
    TimeExhausted {
        /// The time given.
        now_ms: i64,
    },
    /// Refused: the generator was sealed.
    Sealed,
}

/// Ids of one step: `first`, `first + stride`, …, `count` of them, all of one tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The first id.
    pub first: i64,
    /// From one id to the next.
    pub stride: i64,
    /// How many.
    pub count: usize,
}

impl Run {
    /// Writes the ids to the front of `out`, which has room for at least `count`.
    pub fn write(&self, out: &mut [i64]) {
        let mut id = self.first;
        // One addition an id, which the compiler does several of at once; a multiplication it does not.
        for slot in out.iter_mut().take(self.count) {
            *slot = id;
            // Wraps behind the last id at most.
            id = id.wrapping_add(self.stride);
        }
    }
}

impl Action {
    /// The error of an action: of a refusal, or of what the caller was waiting for.
    #[cold]
    pub(crate) fn error(self, layout: &Layout, rules: &Rules) -> Error {
        match self {
            Action::ClockBackwards { last_ms, now_ms } => {
                let bound = rules.max_backwards_ms;
                let message = format!(
                    "the clock reads {now_ms} ms ({}), {} ms behind the last id's {last_ms} ms ({}); at most {bound} ms \
                     are bridged: correct the clock or wait until it has caught up",
                    Utc(now_ms),
                    last_ms - now_ms,
                    Utc(last_ms)
                );
                Error::new(Code::ClockBackwards, message)
            }
            Action::BeforeEpoch { now_ms } => layout.before_epoch(now_ms),
            Action::TimeExhausted { now_ms } => layout.time_exhausted(now_ms),
            Action::Sealed => Error::new(Code::Closed, "the generator was closed; open another one"),
            Action::NeedSpan => {
                Error::new(Code::StateIo, "the next span was not made durable in time; try again")
            }
            Action::WaitUntil(ms) => {
                let message = format!("no id before {ms} ms ({}); ask again then", Utc(ms));
                Error::new(Code::WouldBlock, message)
            }
        }
    }
}
