//! The start of a generator: its first span, from the record that was found, the user's options and the clock.
//!
//! Construct: by its fields. Poll: [`Start::poll`]. It has no event, because it keeps nothing between two polls.
//!
//! | the record and the options | poll returns |
//! | --- | --- |
//! | the clock has not reached what the rule `wait` asks for | `WaitUntil`: poll again then |
//! | no record, or the wait of an earlier start, with `no_record_wait_ms` | `Begin` with an empty span and the wait's end |
//! | the rules allow a span | `Begin` with that span |
//! | it is too far ahead of the clock for a span, but not for a start | `Begin` with an empty span |
//! | clock behind the record, before the epoch, past the last tick | `Refused` |

use crate::snowflake::record::Admission;
use crate::spelling::name::START_AFTER;
use crate::{Code, Error, Layout, Record, Result, Rules, Span, next_until};
use alloc::format;

/// What a start depends on besides the record and the clock.
#[derive(Clone, Debug)]
pub struct Start<'a> {
    /// The rules of the generator.
    pub rules: &'a Rules,
    /// The ticks that a lease allows; `None` without a lease.
    pub lease: Option<Span>,
    /// All ticks below this one are used, whatever the record says.
    pub floor: u64,
    /// The first tick above the user's `start_after`; 0 without one.
    pub start_after: u64,
    /// How long a start without a record waits, in milliseconds.
    pub no_record_wait_ms: i64,
    /// Whether the ids of an earlier holder may not be recorded anywhere.
    pub forgets: bool,
}

/// The next action of a start.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StartAction {
    /// Write the record of a run that begins with this span, then make the generator.
    Begin {
        /// Empty while the record is so far ahead of the clock that no span may be granted.
        first: Span,
        /// No id is issued before this time of the clock, because no record was found. Unix milliseconds.
        begins_ms: Option<i64>,
    },
    /// Poll again when the clock reads this, Unix milliseconds. At most the longest span ahead.
    WaitUntil(i64),
    /// The generator may not start, because of this error.
    Refused(Error),
}

impl Start<'_> {
    /// Decides how a generator starts from the record that was found, when the clock reads `now_ms`.
    pub fn poll(&self, found: &Record, now_ms: i64) -> StartAction {
        self.decide(found, now_ms).unwrap_or_else(StartAction::Refused)
    }

    fn decide(&self, found: &Record, now_ms: i64) -> Result<StartAction> {
        let layout = &found.layout;
        self.check_start_after(layout, now_ms)?;
        let leased = self.lease.map_or(0, |span| span.from);
        let record = found.clone().raised(leased.max(self.floor).max(self.start_after));
        if let Some(from) = self.waits_from(found, &record, now_ms)? {
            // The empty span tells the next start that the wait is not over.
            let first = Span { from, until: from };
            return Ok(StartAction::Begin { first, begins_ms: Some(layout.tick_start_ms(from)) });
        }
        let mut from = match record.admission(self.rules, now_ms) {
            Admission::From(tick) => tick,
            Admission::WaitUntil(ms) => return Ok(StartAction::WaitUntil(ms)),
            Admission::Refused(error) => return Err(error),
        };
        if self.forgets {
            // An earlier holder may have used this tick, but none after it.
            from = record.first_free(from.max(layout.tick_at(now_ms).unwrap_or(0) + 1));
        }
        let allowed = next_until(layout, self.rules, &record.skipped, from, now_ms, 0).unwrap_or(from);
        let until = allowed.min(self.lease.map_or(u64::MAX, |span| span.until)).max(from);
        Ok(StartAction::Begin { first: Span { from, until }, begins_ms: None })
    }

    /// The tick until which a start without a record waits, or the tick of an earlier start that still waits; `None`
    /// without a wait. Elsewhere, an earlier holder of the worker id whose clock was ahead of this one by no more than
    /// the wait issued no id at or above it. `record` is `found`, raised by the user's options.
    fn waits_from(&self, found: &Record, record: &Record, now_ms: i64) -> Result<Option<u64>> {
        if self.no_record_wait_ms == 0 {
            return Ok(None);
        }
        let layout = &found.layout;
        let tick_at = |ms| layout.tick_at(ms).ok_or_else(|| layout.clock_before_epoch(ms));
        let tick = if found.is_unused() {
            tick_at(now_ms + self.no_record_wait_ms)? + 1
        } else if found.run.is_empty() && found.run.until > tick_at(now_ms)? {
            found.run.until
        } else {
            return Ok(None);
        };
        let from = record.first_free(tick.max(record.run.until));
        match from > layout.last_tick() {
            true => Err(layout.time_exhausted(layout.tick_start_ms(from))),
            false => Ok(Some(from)),
        }
    }

    /// Errors: `clock_backwards` if `start_after` is further ahead of the clock than the rules allow.
    fn check_start_after(&self, layout: &Layout, now_ms: i64) -> Result<()> {
        let starts_ms = layout.tick_start_ms(self.start_after);
        let bound_ms = self.rules.bridged_ms();
        if self.start_after == 0 || starts_ms - now_ms <= bound_ms {
            return Ok(());
        }
        let message = format!(
            "{START_AFTER} is an id of {} ms, {} ms ahead of the clock; at most {bound_ms} ms are bridged: see that it is \
             of this layout and epoch, or correct the clock",
            starts_ms - layout.tick_ms(),
            starts_ms - now_ms
        );
        Err(Error::new(Code::ClockBackwards, message))
    }
}
