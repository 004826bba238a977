//! Spans: how far one may reach, the last ticks of a layout, the end that a seal tells, and how many ids were issued.

use crate::common::{NOW_MS, PER_TICK, PLAIN, PLAIN_WAIT, Random, each_seed, granted, layout};
use leafid_core::{Action, Code, Layout, LayoutFields, OnExhausted, Rules, Snowflake, Span, next_until};

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

/// Layouts whose last id is the largest of all, some of 63 bits without a worker id.
fn layouts() -> Vec<Layout> {
    let mut all: Vec<Layout> = Layout::PRESETS.iter().map(|(_, layout)| *layout).collect();
    all.extend([
        layout(32, 0, 31, 0),
        layout(52, 0, 11, 0),
        layout(32, 31, 0, 0),
        layout(1, 31, 31, 0),
        layout(1, 0, 0, 0),
    ]);
    all
}

/// The generator of the largest worker id in the layout's last tick.
fn at_the_end(layout: Layout, rules: Rules) -> Snowflake {
    let flake = Snowflake::new(layout, rules, layout.max_worker_id(), layout.last_tick(), 0);
    flake.grant(Span { from: layout.last_tick(), until: layout.last_tick() + 1 });
    flake
}

#[test]
fn the_last_tick_is_used_to_its_last_id_then_exhausted() {
    for layout in layouts() {
        for rules in [PLAIN, PLAIN_WAIT, Rules { on_exhausted: OnExhausted::Borrow, ..PLAIN }] {
            let flake = at_the_end(layout, rules);
            let end = layout.expires_at_ms();
            let now_ms = end - 1;
            let run = flake.reserve(now_ms, usize::MAX).expect("the last tick");
            assert_eq!(run.count as u64, u64::from(layout.max_sequence()) + 1, "{layout}");
            let last = run.first + (run.count as i64 - 1) * run.stride;
            let expected = layout.compose(now_ms, layout.max_worker_id(), layout.max_sequence());
            assert_eq!(Ok(last), expected, "{layout}");
            let waits = matches!(flake.next(now_ms), Err(Action::WaitUntil(ms)) if ms == end);
            let ends = matches!(flake.next(now_ms), Err(Action::TimeExhausted { .. }));
            assert!(waits || ends, "{layout}: {:?}", flake.next(now_ms));
            assert_eq!(flake.next(end), Err(Action::TimeExhausted { now_ms: end }), "{layout}");
            assert_eq!(flake.first_unused(), Some(layout.last_tick() + 1), "{layout}");
            assert_eq!(flake.seal(), Some(layout.last_tick() + 1), "{layout}");
            assert!(flake.next(now_ms).is_err(), "{layout}");
        }
    }
}

#[test]
fn no_span_reaches_past_the_last_tick() {
    for layout in layouts() {
        let end = layout.expires_at_ms();
        let last = layout.last_tick();
        assert_eq!(next_until(&layout, &PLAIN, &[], last, end - 1, 0), Some(last + 1), "{layout}");
        assert_eq!(next_until(&layout, &PLAIN, &[], last + 1, end, 0), None, "{layout}");
        for now_ms in [i64::MAX, end + 1_000_000] {
            let until = next_until(&layout, &PLAIN, &[], last, now_ms, i64::MAX);
            assert_eq!(until, Some(last + 1), "{layout} at {now_ms}");
        }
        for from in [last + 1, u64::MAX] {
            assert_eq!(
                next_until(&layout, &PLAIN, &[], from, i64::MAX, i64::MIN),
                None,
                "{layout} from {from}"
            );
        }
        assert_eq!(next_until(&layout, &PLAIN, &[], 0, i64::MIN, 0), None, "{layout}");
    }
}

#[test]
fn a_grant_past_the_last_tick_is_ignored() {
    let flake = Snowflake::new(Layout::LEAF, PLAIN, 1, 0, 0);
    for until in [Layout::LEAF.last_tick() + 2, u64::MAX] {
        flake.grant(Span { from: 0, until });
        assert_eq!(flake.until(), 0);
    }
}

#[test]
fn the_error_says_when_it_ended_and_what_to_do() {
    let flake = at_the_end(Layout::UID_GENERATOR, PLAIN);
    let error = flake.error(Action::TimeExhausted { now_ms: 1_732_109_056_000 });
    assert_eq!(error.code(), Code::TimeExhausted);
    for said in ["28 timestamp bits", "1732109056000", "2024-11-20T13:24:16.000Z", "later epoch"] {
        assert!(error.message().contains(said), "{error} does not say {said}");
    }
}

#[test]
fn the_last_tick_needs_a_span_as_any_other_and_after_it_there_is_none() {
    let last = Layout::LEAF.last_tick();
    let flake = Snowflake::new(Layout::LEAF, PLAIN, 1, last, 0);
    assert_eq!(flake.next(Layout::LEAF.tick_start_ms(last)), Err(Action::NeedSpan));
    let now_ms = Layout::LEAF.tick_start_ms(last + 1);
    assert_eq!(flake.next(now_ms), Err(Action::TimeExhausted { now_ms }));
}

#[test]
fn the_mark_is_the_tick_after_the_last_id() {
    let tick = LEAF.tick_at(NOW_MS).expect("after the epoch");
    for (ids, expected) in [(0, tick), (1, tick + 1), (PER_TICK, tick + 1), (PER_TICK + 1, tick + 2)] {
        let flake = granted(LEAF, PLAIN, 1, NOW_MS, 100);
        let mut now_ms = NOW_MS;
        let mut left = ids;
        while left > 0 {
            match flake.reserve(now_ms, left) {
                Ok(run) => left -= run.count,
                Err(_) => now_ms += 1,
            }
        }
        assert_eq!(flake.seal(), Some(expected), "after {ids} ids");
    }
}

#[test]
fn ids_are_counted_over_ticks_and_gaps_of_the_spans() {
    each_seed(200, |seed| {
        let mut random = Random(seed);
        let random_start = random.pick(&[0, 2, 100, 512]);
        let on_exhausted = random.pick(&[OnExhausted::Wait, OnExhausted::Borrow]);
        let rules = Rules { random_start, on_exhausted, ..PLAIN };
        let flake = granted(LEAF, rules, 1, NOW_MS, 50);
        let (mut now_ms, mut issued) = (NOW_MS, 0);
        for _ in 0..300 {
            match random.below(4) {
                0 => now_ms += random.between(-3, 6),
                1 if flake.next(now_ms).is_ok() => issued += 1,
                2 => {
                    // Up to the end of a tick, exactly or in parts.
                    let most = random.pick(&[1, 7, 4_095, 4_096, 10_000]);
                    issued += flake.reserve(now_ms, most).map_or(0, |run| run.count as u64);
                }
                _ if random.below(20) == 0 => {
                    let from = flake.until() + random.below(3);
                    flake.grant(Span { from, until: from + 1 + random.below(30) });
                }
                _ => {}
            }
            assert_eq!(flake.issued(), issued);
        }
        flake.seal();
        assert_eq!(flake.issued(), issued, "after the seal");
    });
}
