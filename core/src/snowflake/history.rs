//! The history in a record, so that after a reset no id is issued twice.
//!
//! If a clock was in 2036 for a while, runs of that time remain in the record, perhaps several. When the clock is
//! corrected and the record is reset, all of them are skipped, because time will reach 2036 again.

use crate::snowflake::record::{MOST_FORMER, MOST_SKIPPED};
use crate::sorted::sorted;
use crate::{Code, Error, Record, Result, Span};
use alloc::format;
use alloc::vec::Vec;

/// Former runs with a smaller distance are joined.
const NEAR_MS: u64 = 60_000;
impl Record {
    /// The record of the next run, which starts where [`Record::admit`] says.
    #[cfg(feature = "parts")]
    pub fn begin(&self, run: Span, granted_at_ms: i64, owner: u128) -> Record {
        self.begun(run, granted_at_ms, owner)
    }

    /// The record of the current run with one more span.
    #[cfg(feature = "parts")]
    pub fn extend(&self, span: Span, granted_at_ms: i64) -> Record {
        self.extended(span, granted_at_ms)
    }

    /// The former runs and the skipped spans of the record once this run has begun. The last run is a former one then.
    pub fn history_before(&self, run: Span) -> (Vec<Span>, Vec<Span>) {
        // No run begins below this one except by a reset, which skips the spans of earlier runs.
        let (passed, skipped) = self.skipped.iter().partition(|span| span.until <= run.from);
        (self.former_with([passed, Vec::from([self.run])].concat()), skipped)
    }

    /// As `begin`, whose order a machine holds.
    pub(crate) fn begun(&self, run: Span, granted_at_ms: i64, owner: u128) -> Record {
        let (former, skipped) = self.history_before(run);
        Record { run, granted_at_ms, owner, skipped, former, ..self.clone() }
    }

    /// As `extend`. Ticks in between, such as after a leap of the clock, do not count as used, so that no reset skips
    /// them.
    pub(crate) fn extended(&self, span: Span, granted_at_ms: i64) -> Record {
        let gap = span.from.saturating_sub(self.run.until);
        if !self.run.is_empty() && self.is_near(gap) {
            let run = Span { from: self.run.from, until: span.until };
            return Record { run, granted_at_ms, ..self.clone() };
        }
        let former = self.former_with(Vec::from([self.run]));
        Record { run: span, granted_at_ms, former, ..self.clone() }
    }

    /// The record for ids that start at the clock again, although this record is ahead of the clock. It skips all spans
    /// that were ever granted at or above the clock. No rules write a run from below the clock to more than a year
    /// above it: of such a run it skips an hour and three seconds.
    ///
    /// Errors: `before_epoch`, `time_exhausted`; `state_io` if there would be too many skipped spans.
    pub fn reset(&self, now_ms: i64) -> Result<Record> {
        let now = self.layout.tick_at(now_ms).ok_or_else(|| self.layout.clock_before_epoch(now_ms))?;
        if now > self.layout.last_tick() {
            return Err(self.layout.time_exhausted(now_ms));
        }
        let run = self.plausible_run(now_ms);
        let used = self.former.iter().chain([&run]).copied();
        let (above, below): (Vec<Span>, Vec<Span>) = used
            .map(|span| {
                let above = Span { from: span.from.max(now), ..span };
                (above, Span { until: span.until.min(now), ..span })
            })
            .unzip();
        let skipped = joined([&self.skipped[..], &above].concat(), |_| false);
        let (passed, skipped): (Vec<Span>, Vec<Span>) =
            skipped.into_iter().partition(|span| span.until <= now);
        if skipped.len() > MOST_SKIPPED {
            let message = format!(
                "the record of worker id {} would hold {} skipped spans, and {MOST_SKIPPED} can be kept; nothing was \
                 changed: correct the clock, or use another worker id",
                self.worker_id,
                skipped.len()
            );
            return Err(Error::new(Code::StateIo, message));
        }
        let former = Record { former: Vec::new(), ..self.clone() }.former_with([below, passed].concat());
        // Granted now, so that a clock that goes back after this is detected.
        let run = Span { from: now, until: now };
        Ok(Record { run, granted_at_ms: now_ms, skipped, former, ..self.clone() })
    }

    fn former_with(&self, more: Vec<Span>) -> Vec<Span> {
        let mut spans = joined([&self.former[..], &more].concat(), |gap| self.is_near(gap));
        while spans.len() > MOST_FORMER {
            let gap = |i: &usize| spans[i + 1].from - spans[*i].until;
            let Some(nearest) = (0..spans.len() - 1).min_by_key(gap) else { break };
            spans[nearest].until = spans[nearest + 1].until;
            spans.remove(nearest + 1);
        }
        spans
    }

    fn is_near(&self, gap: u64) -> bool {
        gap.saturating_mul(self.layout.tick_ms() as u64) < NEAR_MS
    }
}

/// The spans in order, without empty ones. Spans that overlap, touch or are `near` are joined.
fn joined(mut spans: Vec<Span>, near: impl Fn(u64) -> bool) -> Vec<Span> {
    spans.retain(|span| !span.is_empty());
    let mut joined: Vec<Span> = Vec::with_capacity(spans.len());
    for span in sorted(spans) {
        match joined.last_mut() {
            Some(last) if span.from <= last.until || near(span.from - last.until) => {
                last.until = last.until.max(span.until);
            }
            _ => joined.push(span),
        }
    }
    joined
}
