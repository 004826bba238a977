//! The record of a worker id, and whether a new generator may go on from it.

use crate::span::step_over;
use crate::{Code, Error, LONGEST_SPAN_MS, Layout, OnClockBackwards, Rules, Span, Utc};
use alloc::format;
use alloc::vec::Vec;

/// What is kept of a worker id: enough that the next holder issues nothing that a former one may have issued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The worker id.
    pub worker_id: u32,
    /// The layout and epoch of its ids.
    pub layout: Layout,
    /// The current, or last, run: its first tick and the first tick that it may not use.
    pub run: Span,
    /// The clock when `run.until` was granted, in Unix milliseconds.
    pub granted_at_ms: i64,
    /// The random number of the generator that wrote it.
    pub owner: u128,
    /// Spans given up by a reset: never issued from again.
    pub burnt: Vec<Span>,
    /// The spans of runs before this one, in order: what a reset must burn besides.
    pub former: Vec<Span>,
}

/// Whether a new generator may begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// At this tick; nothing at or above it was ever granted.
    From(u64),
    /// Once the clock reads this.
    WaitUntil(i64),
    /// Not: the error says why.
    Refused(Error),
}

impl Record {
    /// A record of a worker id that was never used.
    pub fn unused(worker_id: u32, layout: Layout) -> Record {
        let run = Span { from: 0, until: 0 };
        Record { worker_id, layout, run, granted_at_ms: 0, owner: 0, burnt: Vec::new(), former: Vec::new() }
    }

    /// Whether the next generator may begin, and where.
    ///
    /// Under continue it goes on at `run.until` if the record was not granted more than `max_backwards_ms` ahead of
    /// the clock. Under wait it begins once the clock has reached `run.until`, which is at most the longest span
    /// ahead; the bound of 5 ms is for the running generator.
    pub fn admit(&self, rules: &Rules, now_ms: i64) -> Admission {
        let Some(now) = self.layout.tick_at(now_ms) else {
            return Admission::Refused(self.layout.before_epoch(now_ms));
        };
        let from = self.first_free(self.run.until.max(now));
        if from > self.layout.last_tick() {
            return Admission::Refused(
                self.layout.time_exhausted(now_ms.max(self.layout.tick_start_ms(from))),
            );
        }
        match rules.on_clock_backwards {
            OnClockBackwards::Continue
                if self.granted_at_ms.saturating_sub(now_ms) > rules.max_backwards_ms =>
            {
                Admission::Refused(self.clock_backwards(self.granted_at_ms, now_ms, rules.max_backwards_ms))
            }
            OnClockBackwards::Continue => Admission::From(from),
            OnClockBackwards::Wait => {
                let begins = self.layout.tick_start_ms(from);
                if begins <= now_ms || from == now {
                    Admission::From(from)
                } else if begins - now_ms <= LONGEST_SPAN_MS + self.layout.tick_ms() {
                    Admission::WaitUntil(begins)
                } else {
                    Admission::Refused(self.clock_backwards(begins, now_ms, LONGEST_SPAN_MS))
                }
            }
        }
    }

    /// The same record with nothing left below this tick: what another giver, or ids made elsewhere, may have used.
    pub fn raised_to(mut self, floor: u64) -> Record {
        if floor > self.run.until {
            self.run = Span { from: floor, until: floor };
        }
        self
    }

    /// The first tick at or above this one that no reset has burnt.
    pub fn first_free(&self, tick: u64) -> u64 {
        step_over(&self.burnt, tick)
    }

    fn clock_backwards(&self, recorded_ms: i64, now_ms: i64, bound_ms: i64) -> Error {
        let message = format!(
            "the clock reads {now_ms} ms ({}), {} ms behind the record of worker id {} at {recorded_ms} ms ({}); \
             at most {bound_ms} ms are bridged: correct the clock, wait until it has caught up, or, if the recorded \
             time is the wrong one, use another worker id or give the record up by \
             `leafid state reset {} --confirm {}`",
            Utc(now_ms),
            recorded_ms.saturating_sub(now_ms),
            self.worker_id,
            Utc(recorded_ms),
            self.worker_id,
            self.worker_id
        );
        Error::new(Code::ClockBackwards, message)
    }
}
