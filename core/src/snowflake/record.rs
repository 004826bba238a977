//! The record of a worker id, and the decision whether a new generator may continue from it.
//!
//! Construct: [`Record::unused`]. Poll: [`Record::admit`]. Events, which return the record to write:
//! [`Record::begin`], [`Record::extend`], [`Record::closed`], [`Record::reset`], [`Record::raised_to`],
//! [`Record::after_lost_slot`]. Queries: all others.
//!
//! | State | Event | Next state |
//! | --- | --- | --- |
//! | unused, or ended | `begin` | a run with its first span |
//! | a run | `extend` | the run ends later |
//! | a run | `closed` | ended: at the first unused tick |
//! | a run, whose program died | `admit`, then `begin` | a run above it; the old one is `former` |
//! | a run, whose newest slot is lost | `after_lost_slot` | a run that covers what the slot may have held |
//! | any | `raised_to` | all ticks below the floor are used |
//! | any | `reset` | unused at the clock; all spans above it are `skipped` |

use crate::snowflake::LONGEST_SPAN_MS;
use crate::snowflake::span::first_not_skipped;
use crate::{Code, Error, Layout, OnClockBackwards, Result, Rules, Span, Utc};
use alloc::format;
use alloc::vec::Vec;

/// The largest number of former runs. Beyond that, the two with the smallest distance are joined.
pub const MOST_FORMER: usize = 16;
/// The largest number of skipped spans of a record, which fit into a state file's slot. None is ever dropped for
/// another.
pub const MOST_SKIPPED: usize = 48;

/// A start is refused if its record ends further ahead of the clock than this. The rules allow at most an hour, and
/// several starts on clocks that went back one after another a little more.
const MOST_LEAD_MS: i64 = 86_400_000;
/// No run starts below the clock and ends this far above it, because a leap of the clock ends a run's span.
const LONGEST_RUN_AHEAD_MS: i64 = 366 * 86_400_000;

/// The durable state of a worker id. With it, the next holder issues no id that an earlier one may have issued.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// The worker id.
    pub worker_id: u32,
    /// The layout and epoch of its ids.
    pub layout: Layout,
    /// The current or the last run: its first tick, and the first tick that it may not use.
    pub run: Span,
    /// The time of the clock when `run.until` was granted, Unix milliseconds.
    pub granted_at_ms: i64,
    /// The random number of the generator that wrote it.
    pub owner: u128,
    /// Spans that a reset skipped. No id of them is ever issued again.
    pub skipped: Vec<Span>,
    /// The spans of earlier runs, in order. A reset skips these too.
    pub former: Vec<Span>,
}

#[cfg(feature = "parts")]
impl Record {
    /// Decides whether the next generator may start, and at which tick.
    pub fn admit(&self, rules: &Rules, now_ms: i64) -> Admission {
        self.admission(rules, now_ms)
    }

    /// The same record with all ticks below this one used.
    pub fn raised_to(self, floor: u64) -> Record {
        self.raised(floor)
    }

    /// The record after a clean end: its run ends at the first unused tick of the sealed generator.
    pub fn closed(self, first_unused: u64, now_ms: i64) -> Record {
        self.ended(first_unused, now_ms)
    }

    /// The older record of a file whose newest slot cannot be read, raised above any span that the slot may have held.
    pub fn after_lost_slot(self, rules: &Rules, now_ms: i64) -> Record {
        self.with_lost_slot(rules, now_ms)
    }
}

/// Whether a new generator may start.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Admission {
    /// At this tick. No tick at or above it was ever granted.
    From(u64),
    /// When the clock reads this.
    WaitUntil(i64),
    /// Not at all, because of this error.
    Refused(Error),
}

impl Record {
    /// The record of an unused worker id.
    pub fn unused(worker_id: u32, layout: Layout) -> Record {
        let run = Span { from: 0, until: 0 };
        Record { worker_id, layout, run, granted_at_ms: 0, owner: 0, skipped: Vec::new(), former: Vec::new() }
    }

    /// Decides whether the next generator may start, and at which tick.
    ///
    /// Under `continue` it starts at `run.until`, if the record was not granted more than `max_backwards_ms` ahead of
    /// the clock and does not end more than a day ahead of it. Under `wait` it starts when the clock has reached
    /// `run.until`, which is at most the longest span ahead. The bound of 5 ms is for a running generator.
    pub(crate) fn admission(&self, rules: &Rules, now_ms: i64) -> Admission {
        let Some(now) = self.layout.tick_at(now_ms) else {
            return Admission::Refused(self.layout.clock_before_epoch(now_ms));
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
            OnClockBackwards::Continue => match self.false_lead_ms(now_ms) {
                Some(until_ms) => {
                    Admission::Refused(self.clock_backwards(until_ms, now_ms, rules.max_backwards_ms))
                }
                None => Admission::From(from),
            },
            OnClockBackwards::Wait => {
                let begins = self.layout.tick_start_ms(from);
                if from == now {
                    Admission::From(from)
                } else if begins - now_ms <= LONGEST_SPAN_MS + self.layout.tick_ms() {
                    Admission::WaitUntil(begins)
                } else {
                    Admission::Refused(self.clock_backwards(begins, now_ms, LONGEST_SPAN_MS))
                }
            }
        }
    }

    /// Checks the order and the number of its spans. [`Record::admit`] checks its end, because it knows the clock.
    ///
    /// Errors: `state_corrupt` for spans that are out of order, outside the layout, or too many.
    pub fn check(&self) -> Result<()> {
        let end = self.layout.last_tick() + 1;
        let mut flaw = (self.run.from > self.run.until || self.run.until > end)
            .then(|| format!("its run begins at tick {} and ends at {}", self.run.from, self.run.until));
        for (what, spans, most) in
            [("skipped", &self.skipped, MOST_SKIPPED), ("former", &self.former, MOST_FORMER)]
        {
            if spans.len() > most {
                flaw = Some(format!("it has {} {what} spans, and at most {most} are kept", spans.len()));
            } else if spans.iter().any(|span| span.is_empty() || span.until > end)
                || spans.windows(2).any(|pair| pair[0].until > pair[1].from)
            {
                flaw =
                    Some(format!("its {what} spans are empty, not in order, or past the layout's last tick"));
            }
        }
        flaw.map_or(Ok(()), |flaw| {
            let message = format!(
                "the record of worker id {0} is not as leafid writes it: {flaw}; nothing was changed. Find out what wrote \
                 it, then use another worker id, or: leafid state reset {0} --confirm {0}",
                self.worker_id
            );
            Err(Error::new(Code::StateCorrupt, message))
        })
    }

    /// The end of the run in Unix milliseconds, if it is too far ahead of the clock for a wait. `None` for an empty run
    /// directly above a former span, however long that span is.
    fn false_lead_ms(&self, now_ms: i64) -> Option<i64> {
        let follows_former =
            self.run.is_empty() && self.former.last().is_some_and(|span| span.until >= self.run.until);
        let until_ms = self.layout.tick_start_ms(self.run.until);
        (!follows_former && until_ms.saturating_sub(now_ms) > MOST_LEAD_MS + self.layout.tick_ms())
            .then_some(until_ms)
    }

    /// The plausible part of the run. No rules write a run that starts below the clock and ends more than a year above
    /// it. Then it is the longest run that any rules can have granted, whatever the record says.
    pub(crate) fn plausible_run(&self, now_ms: i64) -> Span {
        let Span { from, until } = self.run;
        let from_ms = self.layout.tick_start_ms(from);
        let until_ms = self.layout.tick_start_ms(until);
        if from_ms > now_ms || until_ms.saturating_sub(now_ms) <= LONGEST_RUN_AHEAD_MS {
            return self.run;
        }
        let most_ms = OnClockBackwards::Continue.max_ms_range().1 + LONGEST_SPAN_MS;
        let most = self.layout.tick_from(now_ms.saturating_add(most_ms)).unwrap_or(until);
        Span { from, until: until.min(most) }
    }

    /// The same record with all ticks below this one used: another lease source or another program may have used them.
    pub(crate) fn raised(mut self, floor: u64) -> Record {
        if floor > self.run.until {
            self.run = Span { from: floor, until: floor };
        }
        self
    }

    /// Whether it never granted anything: it is as good as none.
    pub fn is_unused(&self) -> bool {
        *self == Record { owner: self.owner, ..Record::unused(self.worker_id, self.layout) }
    }

    /// The record after a clean end: its run ends at the first unused tick of the sealed generator.
    pub(crate) fn ended(self, first_unused: u64, now_ms: i64) -> Record {
        let Span { from, until } = self.run;
        // The earlier time of a grant stays, so that the next start detects that the clock went back.
        let granted_at_ms = now_ms.max(self.granted_at_ms);
        Record { run: Span { from, until: first_unused.clamp(from, until) }, granted_at_ms, ..self }
    }

    /// The older record of a file whose newest slot cannot be read, raised above any span that the slot may have held:
    /// none was used that ended more than the longest span above the older record. Earlier versions used such spans, and
    /// ended none further ahead of the clock than the rules of their place allowed; a clock that was set back since is
    /// not covered for them.
    pub(crate) fn with_lost_slot(mut self, rules: &Rules, now_ms: i64) -> Record {
        let ahead_ms = rules.bridged_ms().max(LONGEST_SPAN_MS);
        let ahead = self.layout.tick_from(now_ms + ahead_ms).unwrap_or(0);
        let latest = self.latest_after(self.run.until);
        self.run.until = self.run.until.max(latest.max(ahead).min(self.layout.last_tick() + 1));
        self
    }

    /// The end of the longest span that a generator may use while the older slot of its file has a run that ends at
    /// `until`.
    pub(crate) fn latest_after(&self, until: u64) -> u64 {
        let latest_ms = self.layout.tick_start_ms(until) + LONGEST_SPAN_MS;
        self.layout.tick_from(latest_ms).unwrap_or(until)
    }

    /// The first tick at or above this one that is in no skipped span.
    pub fn first_free(&self, tick: u64) -> u64 {
        first_not_skipped(&self.skipped, tick)
    }

    fn clock_backwards(&self, recorded_ms: i64, now_ms: i64, bound_ms: i64) -> Error {
        let message = format!(
            "the clock reads {now_ms} ms ({}), {} ms behind the record of worker id {} at {recorded_ms} ms; at most \
             {bound_ms} ms are bridged: correct the clock or wait; if the record is wrong: leafid state reset {} --confirm {}",
            Utc(now_ms),
            recorded_ms.saturating_sub(now_ms),
            self.worker_id,
            self.worker_id,
            self.worker_id
        );
        Error::new(Code::ClockBackwards, message)
    }
}
