//! The results of a generator's call besides one id: a run of ids, or the next action.

use crate::error::message;
use crate::{Code, Error, Layout, Rules, Utc};
use alloc::vec::Vec;

/// The next action of a caller that got no id. The call changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Call again when the clock reads this, in Unix milliseconds.
    WaitUntil(i64),
    /// Grant the next span, from [`crate::Snowflake::first_unused`] on, and call again.
    NeedSpan,
    /// Refused: the clock is further behind the last id than the bound. Read the clock once more before you report
    /// this.
    ClockBackwards {
        /// The time of the last id, Unix milliseconds.
        last_ms: i64,
        /// The time of the call.
        now_ms: i64,
    },
    /// Refused: the time of the call is before the epoch.
    BeforeEpoch {
        /// The time of the call.
        now_ms: i64,
    },
    /// Refused: the layout's timestamp bits are used up.
    TimeExhausted {
        /// The time of the call.
        now_ms: i64,
    },
    /// Refused: the generator was sealed.
    Sealed,
}

/// A run of ids of one tick: `first`, `first + stride`, …, `count` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Run {
    /// The first id.
    pub first: i64,
    /// The distance between two ids.
    pub stride: i64,
    /// The number of ids.
    pub count: usize,
}

impl Run {
    /// Writes the ids to the front of `out`, which has room for at least `count`.
    // Inlined into the bindings, which are optimised for speed in every build.
    #[inline]
    pub fn write(&self, out: &mut [i64]) {
        let mut id = self.first;
        // One addition for each id, of which the compiler does several at once. It does not do that for a
        // multiplication.
        for slot in out.iter_mut().take(self.count) {
            *slot = id;
            // It wraps only behind the last id.
            id = id.wrapping_add(self.stride);
        }
    }

    /// Takes the first ids out of it, at most `most`.
    #[inline]
    pub fn take_first(&mut self, most: usize) -> Run {
        let taken = Run { count: self.count.min(most), ..*self };
        // It wraps only behind the last id.
        self.first = self.first.wrapping_add(self.stride.wrapping_mul(taken.count as i64));
        self.count -= taken.count;
        taken
    }

    /// Writes the ids of these runs, one run after another, as far as `out` has room.
    #[inline]
    pub fn write_all(runs: &[Run], mut out: &mut [i64]) {
        for run in runs {
            let (now, later) = out.split_at_mut(run.count.min(out.len()));
            run.write(now);
            out = later;
        }
    }
}

/// Lengthens a list of ids by zeroes.
#[inline]
pub fn push_zeroes(ids: &mut Vec<i64>, count: usize) {
    ids.resize(ids.len() + count, 0);
}

impl Action {
    /// The error of an action: of a refusal, or of the reason for a wait.
    #[cold]
    pub(crate) fn error(self, layout: &Layout, rules: &Rules) -> Error {
        match self {
            Action::ClockBackwards { last_ms, now_ms } => {
                let bound = rules.max_backwards_ms;
                let message = message!(
                    "the clock reads {now_ms} ms ({}), {} ms behind the last id's {last_ms} ms ({}); at most {bound} ms \
                     are bridged: correct the clock or wait until it has caught up",
                    Utc(now_ms),
                    last_ms - now_ms,
                    Utc(last_ms)
                );
                Error::new(Code::ClockBackwards, message)
            }
            Action::BeforeEpoch { now_ms } => layout.clock_before_epoch(now_ms),
            Action::TimeExhausted { now_ms } => layout.time_exhausted(now_ms),
            Action::Sealed => Error::new(Code::Closed, "the generator was closed; open another one"),
            Action::NeedSpan => {
                Error::new(Code::StateIo, "the next span was not made durable in time; try again")
            }
            Action::WaitUntil(ms) => {
                let message = message!("no id before {ms} ms ({}); call again then", Utc(ms));
                Error::new(Code::WouldBlock, message)
            }
        }
    }
}
