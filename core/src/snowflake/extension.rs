//! The extension of a generator's span: when, by how much, and when to check again.
//!
//! Construct: [`SpanExtension::new`]. Poll: [`SpanExtension::poll`]. Events: [`SpanExtension::written`],
//! [`SpanExtension::failed`], the two ends of a write. Queries: all others.
//!
//! | Rest of the span | Room | Action |
//! | --- | --- | --- |
//! | more than half of what a new span would hold | any | not needed |
//! | some | none | not needed |
//! | half of it or less | some | extend |
//! | nothing | none, because the lease ends here | lease short |
//! | nothing | none, because the logical clock is too far ahead | no room |

use crate::{BackOff, Layout, Record, Rules, Span, next_until};
use core::time::Duration;

/// Spans are extended in the background if ids were issued within this time.
const IN_USE_MS: i64 = 60_000;

/// The extension of one generator's span.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SpanExtension {
    /// The boot time when the generator was opened.
    opened: Duration,
    back_off: BackOff,
}

/// The next action of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ExtensionAction {
    /// Write a record with this span, then grant it.
    Extend(Span),
    /// Nothing: enough of the span is left.
    NotNeeded,
    /// Nothing: the logical clock is so far ahead that no span may be granted yet.
    NoRoom,
    /// Renew the lease: it has no more ticks.
    LeaseShort,
}

impl SpanExtension {
    /// `opened` is the boot time, which counts suspended time too.
    pub(crate) const fn new(opened: Duration) -> SpanExtension {
        SpanExtension { opened, back_off: BackOff::new() }
    }

    /// The next action. `first_unused` is the generator's. `lease_until` is the first tick outside its lease,
    /// `u64::MAX` without one. `boot_time` is the boot time.
    pub(crate) fn poll(
        &self,
        rules: &Rules,
        record: &Record,
        first_unused: u64,
        lease_until: u64,
        now_ms: i64,
        boot_time: Duration,
    ) -> ExtensionAction {
        let age_ms = boot_time.saturating_sub(self.opened).as_millis() as i64;
        let position = first_unused.max(record.layout.tick_at(now_ms).unwrap_or(0));
        let left = record.run.until.saturating_sub(position);
        let from = record.first_free(position);
        let until = next_until(&record.layout, rules, &record.skipped, from, now_ms, age_ms);
        match until.map(|until| until.min(lease_until)).filter(|until| *until > from) {
            // Half of the possible span is left.
            Some(until) if left > 0 && 2 * left > until - position => ExtensionAction::NotNeeded,
            Some(until) => ExtensionAction::Extend(Span { from, until }),
            None if left > 0 => ExtensionAction::NotNeeded,
            None if lease_until <= from => ExtensionAction::LeaseShort,
            None => ExtensionAction::NoRoom,
        }
    }

    /// The record was written.
    pub(crate) const fn written(&mut self) {
        self.back_off.succeeded();
    }

    /// The record was not written.
    pub(crate) const fn failed(&mut self) {
        self.back_off.failed(0, 0);
    }

    /// Whether the span is to be extended in the background. `waited_for`: a caller waits for a span.
    pub(crate) fn is_in_use(layout: &Layout, first_unused: u64, now_ms: i64, waited_for: bool) -> bool {
        waited_for || now_ms - layout.tick_start_ms(first_unused) <= IN_USE_MS
    }

    /// How long until the next poll after a failed extension.
    pub(crate) const fn back_off(&self) -> Duration {
        self.back_off.duration(false)
    }

    /// How long until the next poll otherwise: until half of the rest of a span up to `until` is over.
    pub(crate) fn due_in(layout: &Layout, until: u64, first_unused: u64, now_ms: i64) -> Duration {
        let now = layout.tick_at(now_ms).unwrap_or(0);
        let left_ms = until.saturating_sub(first_unused.max(now)) as i64 * layout.tick_ms();
        Duration::from_millis(1 + left_ms as u64 / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPENED: Duration = Duration::from_secs(100);
    const NO_LEASE: u64 = u64::MAX;

    /// A record whose run starts at this tick, with a first span.
    fn record(from: u64) -> Record {
        let run = Span { from, until: from + 500 };
        Record { run, ..Record::unused(7, Layout::LEAF) }
    }

    fn now_ms(tick: u64) -> i64 {
        Layout::LEAF.tick_start_ms(tick)
    }

    #[test]
    fn a_span_is_extended_once_half_of_it_is_used_and_there_is_room() {
        use ExtensionAction::{Extend, NoRoom, NotNeeded};
        let extend = |from, until| Extend(Span { from, until });
        let from = 1_000_000;
        for (used, clock, action) in [
            (0, 0, NotNeeded),
            (249, 0, NotNeeded),
            (249, 249, NotNeeded),
            (250, 250, extend(250, 750)),
            // Ahead of the clock there is room for 8 ticks.
            (495, 0, NotNeeded),
            (496, 0, extend(496, 504)),
            (500, 500, extend(500, 1_000)),
            (500, 5_000, extend(5_000, 5_500)),
            // Behind by more than the rules allow.
            (499, -6_000, NotNeeded),
            (500, -6_000, NoRoom),
        ] {
            let found = SpanExtension::new(OPENED).poll(
                &Rules::default(),
                &record(from),
                from + used,
                NO_LEASE,
                now_ms(from) + clock,
                OPENED,
            );
            let found = match found {
                Extend(span) => extend(span.from - from, span.until - from),
                other => other,
            };
            assert_eq!(found, action, "{used} ticks used, the clock at {clock} ms");
        }
    }

    #[test]
    fn a_span_grows_with_the_age_and_ends_with_the_lease_and_before_what_is_skipped() {
        let (from, extension) = (1_000_000, SpanExtension::new(OPENED));
        let poll = |record: &Record, lease_until, age_ms| {
            let boot_time = OPENED + Duration::from_millis(age_ms);
            let now_ms = now_ms(from + 500);
            match extension.poll(&Rules::default(), record, from + 500, lease_until, now_ms, boot_time) {
                ExtensionAction::Extend(span) => Ok(span.until - from),
                other => Err(other),
            }
        };
        assert_eq!(poll(&record(from), NO_LEASE, 2_000), Ok(2_500));
        assert_eq!(poll(&record(from), NO_LEASE, 60_000), Ok(3_500));
        assert_eq!(poll(&record(from), from + 600, 60_000), Ok(600));
        assert_eq!(poll(&record(from), from + 500, 60_000), Err(ExtensionAction::LeaseShort));
        let skipped = [Span { from: from + 700, until: from + 800 }].into();
        assert_eq!(poll(&Record { skipped, ..record(from) }, NO_LEASE, 60_000), Ok(700));
    }

    #[test]
    fn the_next_look_is_when_half_of_the_rest_is_over_and_later_after_each_failure() {
        let (layout, from) = (Layout::LEAF, 1_000_000);
        let due_ms = |first_unused, clock| {
            SpanExtension::due_in(&layout, from + 500, from + first_unused, now_ms(from) + clock).as_millis()
        };
        assert_eq!([due_ms(0, 0), due_ms(100, 0), due_ms(0, 300), due_ms(0, 900)], [251, 201, 101, 1]);
        let (layout, tick_ms) = (Layout::SONYFLAKE, Layout::SONYFLAKE.tick_start_ms(from));
        let due_ms = |ticks| SpanExtension::due_in(&layout, from + ticks, from, tick_ms).as_millis();
        assert_eq!([due_ms(500), due_ms(3)], [2_501, 16]);
        let mut extension = SpanExtension::new(OPENED);
        let back_offs = [(); 3].map(|()| {
            extension.failed();
            extension.back_off().as_millis()
        });
        assert_eq!(back_offs, [200, 400, 800]);
        extension.written();
        assert_eq!(extension.back_off().as_millis(), 200);
    }

    #[test]
    fn a_generator_is_in_use_for_a_minute_after_its_last_id() {
        let (layout, tick) = (Layout::LEAF, 1_000_000);
        let in_use =
            |clock, waited_for| SpanExtension::is_in_use(&layout, tick, now_ms(tick) + clock, waited_for);
        assert!(in_use(60_000, false) && !in_use(60_001, false) && in_use(60_001, true));
    }
}
