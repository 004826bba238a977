//! How far a span may reach: seconds while the clock leads, little while the ids do, and never where a restart would be
//! refused.

use crate::common::{NOW_MS, PLAIN, PLAIN_WAIT};
use leafid_core::{Layout, LayoutFields, Rules, Span, next_until};

const LEAF: Layout = Layout::LEAF;
const LONG_LIFE: i64 = 60_000;

fn tick(ms: i64) -> u64 {
    LEAF.tick_at(ms).expect("after the epoch")
}

/// The end of a span from `from_ms`, in Unix milliseconds.
fn until(rules: &Rules, skipped: &[Span], from_ms: i64, now_ms: i64, life_ms: i64) -> Option<i64> {
    next_until(&LEAF, rules, skipped, tick(from_ms), now_ms, life_ms).map(|until| LEAF.tick_start_ms(until))
}

#[test]
fn three_seconds_beyond_a_clock_that_leads() {
    for from_ms in [NOW_MS - 3_600_000, NOW_MS - 1, NOW_MS, NOW_MS + 1] {
        for rules in [PLAIN, PLAIN_WAIT] {
            assert_eq!(
                until(&rules, &[], from_ms, NOW_MS, LONG_LIFE),
                Some(NOW_MS + 3_000),
                "from {from_ms}"
            );
        }
    }
}

#[test]
fn ahead_of_the_clock_eight_ticks_or_an_eighth_of_the_life() {
    for (life_ms, ticks) in
        [(i64::MIN, 8), (0, 8), (64, 8), (80, 10), (8_000, 1_000), (24_000, 3_000), (i64::MAX, 3_000)]
    {
        let from_ms = NOW_MS + 2;
        assert_eq!(until(&PLAIN, &[], from_ms, NOW_MS, life_ms), Some(from_ms + ticks), "after {life_ms} ms");
    }
}

#[test]
fn a_skipped_span_is_not_entered() {
    let skipped = |from: i64, until: i64| Span { from: tick(NOW_MS + from), until: tick(NOW_MS + until) };
    let ends = |skipped: &[Span], from: i64| {
        until(&PLAIN, skipped, NOW_MS + from, NOW_MS, LONG_LIFE).map(|ms| ms - NOW_MS)
    };
    assert_eq!(ends(&[skipped(1_000, 2_000)], 0), Some(1_000), "ends before it");
    assert_eq!(ends(&[skipped(1_000, 2_000)], 1_000), None, "at its start");
    assert_eq!(ends(&[skipped(1_000, 2_000)], 1_500), None, "inside it");
    assert_eq!(ends(&[skipped(-10, 10)], 0), None, "inside it, the clock leading");
    assert_eq!(ends(&[skipped(1_000, 2_000)], 2_000), Some(5_000), "after it");
    assert_eq!(
        ends(&[skipped(2_500, 2_600), skipped(1_000, 2_000), skipped(-50, -40)], 0),
        Some(1_000),
        "the nearest one"
    );
    assert_eq!(ends(&[skipped(9_000, 9_100)], 0), Some(3_000), "far away");
}

#[test]
fn spans_are_milliseconds_rounded_up_to_ticks() {
    // Ticks of 10 ms.
    let sony = Layout::SONYFLAKE;
    let now = sony.tick_at(NOW_MS).expect("after the epoch");
    assert_eq!(next_until(&sony, &PLAIN, &[], now, NOW_MS, LONG_LIFE), Some(now + 300));
    assert_eq!(next_until(&sony, &PLAIN, &[], now, NOW_MS + 1, LONG_LIFE), Some(now + 301));
    assert_eq!(next_until(&sony, &PLAIN, &[], now, NOW_MS, 0), Some(now + 50));
    assert_eq!(next_until(&sony, &PLAIN, &[], now + 2, NOW_MS, 0), Some(now + 10));
    assert_eq!(next_until(&sony, &PLAIN, &[], now + 2, NOW_MS, 8_000), Some(now + 102));
    // Ticks of a second.
    let fields = LayoutFields { timestamp_bits: 32, worker_bits: 18, ..Layout::UID_GENERATOR.fields() };
    let seconds = Layout::new(fields).expect("63 bits");
    let now = seconds.tick_at(NOW_MS).expect("after the epoch");
    assert_eq!(next_until(&seconds, &PLAIN, &[], now, NOW_MS, LONG_LIFE), Some(now + 3));
    assert_eq!(next_until(&seconds, &PLAIN, &[], now, NOW_MS + 999, 0), Some(now + 2));
    assert_eq!(
        next_until(&seconds, &PLAIN, &[], now + 2, NOW_MS, 0),
        Some(now + 5),
        "the bound, not 8 ticks"
    );
    assert_eq!(
        next_until(&seconds, &PLAIN, &[], now, NOW_MS, 0),
        Some(now + 1),
        "the tick itself, at the least"
    );
}
