//! Spans of ticks. Each is granted to one generator, once.

use crate::snowflake::rules::{FIRST_SPAN_MS, LONGEST_SPAN_MS};
use crate::sorted::sorted;
use crate::{Layout, OnClockBackwards, Rules};

/// A half-open range of ticks `[from, until)` of one worker id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The first tick.
    pub from: u64,
    /// The first tick after the span.
    pub until: u64,
}

impl Span {
    /// Whether it contains no tick.
    pub const fn is_empty(&self) -> bool {
        self.from >= self.until
    }
}

/// The shortest span while the logical clock is ahead.
const SHORTEST_AHEAD_TICKS: u64 = 8;

/// The end of a span that starts at `from`, or `None` while the clock leaves no room for it.
///
/// `from` is the first unused tick, `age_ms` the age of the generator. If the clock is ahead of `from`, the span ends
/// up to 3 s ahead of the clock. If the logical clock is ahead, it contains 8 ticks, or an eighth of the age if that is
/// more. Under `continue` it never ends above now + `max_backwards_ms`, so that the next start after a crash admits the
/// record. It never contains ticks of `skipped` spans.
pub fn next_until(
    layout: &Layout,
    rules: &Rules,
    skipped: &[Span],
    from: u64,
    now_ms: i64,
    age_ms: i64,
) -> Option<u64> {
    let now = layout.tick_at(now_ms)?;
    let mut until = if from > now + 1 {
        let age = age_ms.clamp(0, 8 * LONGEST_SPAN_MS) / layout.tick_ms();
        from.saturating_add(SHORTEST_AHEAD_TICKS.max(age as u64 / 8))
    } else {
        layout.tick_from(now_ms.saturating_add(age_ms.clamp(FIRST_SPAN_MS, LONGEST_SPAN_MS)))?
    };
    if rules.on_clock_backwards == OnClockBackwards::Continue {
        until = until.min(layout.tick_from(now_ms.saturating_add(rules.max_backwards_ms))?);
    }
    // A skipped span that contains `from` leaves no room either.
    if let Some(next) = skipped.iter().filter(|span| span.until > from).map(|span| span.from).min() {
        until = until.min(next);
    }
    until = until.min(layout.last_tick() + 1);
    (until > from).then_some(until)
}

/// The first tick at or above `tick` that is in no skipped span.
pub(crate) fn first_not_skipped(skipped: &[Span], mut tick: u64) -> u64 {
    for span in sorted(skipped.to_vec()) {
        if (span.from..span.until).contains(&tick) {
            tick = span.until;
        }
    }
    tick
}
