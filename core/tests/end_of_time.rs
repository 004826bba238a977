//! The last tick of a layout is used to its last id; after it there is an error, never a negative or repeated id.

use crate::common::{PLAIN, PLAIN_WAIT, layout};
use leafid_core::{Action, Code, Layout, OnExhausted, Rules, Snowflake, Span, next_until};

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
