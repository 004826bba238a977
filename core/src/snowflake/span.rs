//! Spans of ticks: each is granted to one generator, once.

use crate::{FIRST_SPAN_MS, LONGEST_SPAN_MS, Layout, OnClockBackwards, Rules};
use alloc::vec::Vec;

/// A half-open range of ticks `[from, until)` of one worker id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The first tick.
    pub from: u64,
    /// The first tick that is no longer part of it.
    pub until: u64,
}

impl Span {
    /// Whether no tick is in it.
    pub const fn is_empty(&self) -> bool {
        self.from >= self.until
    }
}

/// The shortest span while the logical clock is ahead.
const SHORTEST_AHEAD_TICKS: u64 = 8;

/// Where a span that begins at `from` may end, or none while the clock leaves no room for it.
///
/// `from` is the first unused tick, `age_ms` how long the generator has lived. While the clock leads, the span ends
/// up to 3 s ahead of it. While the logical clock is ahead, it holds 8 ticks or an eighth of the age, if that is
/// more. Under continue it never ends beyond now + `max_backwards_ms`, so that a crash leaves a record that the next
/// start admits; `skipped` spans are never entered.
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
    // A skipped span that holds `from` leaves no room either.
    if let Some(next) = skipped.iter().filter(|span| span.until > from).map(|span| span.from).min() {
        until = until.min(next);
    }
    until = until.min(layout.last_tick() + 1);
    (until > from).then_some(until)
}

/// The first tick at or above `tick` that lies in no skipped span.
pub(crate) fn first_not_skipped(skipped: &[Span], mut tick: u64) -> u64 {
    let mut spans: Vec<Span> = skipped.to_vec();
    spans.sort_unstable();
    for span in spans {
        if (span.from..span.until).contains(&tick) {
            tick = span.until;
        }
    }
    tick
}
