//! No id lies outside the spans granted: not before the first, not after the last, not in a gap between.

use crate::common::{NOW_MS, PER_TICK, PLAIN, granted};
use leafid_core::{Action, Code, Layout, OnExhausted, Rules, Snowflake, Span};

const LEAF: Layout = Layout::LEAF;

fn tick(ms: i64) -> u64 {
    LEAF.tick_at(ms).expect("after the epoch")
}

fn time_of(id: i64) -> i64 {
    LEAF.decode(id).expect("an id").timestamp_ms
}

#[test]
fn without_a_span_there_is_no_id() {
    let flake = Snowflake::new(LEAF, PLAIN, 1, tick(NOW_MS), 0);
    assert_eq!(flake.next(NOW_MS), Err(Action::NeedSpan));
    assert_eq!(flake.reserve(NOW_MS, 10), Err(Action::NeedSpan));
    assert_eq!((flake.first_unused(), flake.until()), (Some(tick(NOW_MS)), tick(NOW_MS)));
    assert_eq!(flake.error(Action::NeedSpan).code(), Code::StateIo);
}

#[test]
fn a_span_serves_until_its_end_exclusive() {
    let flake = granted(LEAF, PLAIN, 1, NOW_MS, 3);
    assert!(flake.next(NOW_MS + 2).is_ok());
    assert_eq!(flake.next(NOW_MS + 3), Err(Action::NeedSpan));
    assert!(flake.next(NOW_MS + 2).is_ok(), "the tick begun goes on");
    flake.grant(Span { from: flake.until(), until: flake.until() + 1 });
    assert_eq!(flake.next(NOW_MS + 3).map(time_of), Ok(NOW_MS + 3));
}

#[test]
fn an_early_clock_begins_with_the_span() {
    // The record said that ticks up to NOW_MS may have been used; the clock reads 100 ms less.
    let flake = granted(LEAF, PLAIN, 1, NOW_MS, 8);
    assert_eq!(flake.next(NOW_MS - 100).map(time_of), Ok(NOW_MS));
}

#[test]
fn a_gap_is_stepped_over() {
    let flake = granted(LEAF, PLAIN, 1, NOW_MS, 2);
    assert!(flake.next(NOW_MS).is_ok());
    let gap_end = tick(NOW_MS) + 50;
    flake.grant(Span { from: gap_end, until: gap_end + 2 });
    // The clock stands in the gap, or before it in the rest of the first span: both were given up.
    for now_ms in [NOW_MS, NOW_MS + 1, NOW_MS + 2, NOW_MS + 49] {
        assert_eq!(flake.next(now_ms).map(time_of), Ok(NOW_MS + 50));
    }
    assert_eq!(flake.next(NOW_MS + 52), Err(Action::NeedSpan));
}

#[test]
fn stepping_over_a_gap_moves_a_begun_tick_on() {
    let flake = granted(LEAF, PLAIN, 1, NOW_MS, 1);
    assert!(flake.next(NOW_MS).is_ok());
    flake.grant(Span { from: tick(NOW_MS) + 10, until: tick(NOW_MS) + 20 });
    assert_eq!(flake.first_unused(), Some(tick(NOW_MS) + 10));
}

#[test]
fn nonsense_is_not_granted() {
    let flake = granted(LEAF, PLAIN, 1, NOW_MS, 10);
    assert!(flake.next(NOW_MS).is_ok());
    let state = (flake.first_unused(), flake.until());
    let until = flake.until();
    for (from, end) in [
        (until, until),
        (until + 5, until),
        (u64::MAX, 0),
        (0, 0),
        (0, until),
        (0, u64::MAX),
        (until + 5, LEAF.last_tick() + 2),
        (u64::MAX - 1, u64::MAX),
    ] {
        flake.grant(Span { from, until: end });
        assert_eq!((flake.first_unused(), flake.until()), state, "granted {from} to {end}");
    }
}

#[test]
fn a_span_granted_twice_changes_nothing_the_second_time() {
    let flake = granted(LEAF, PLAIN, 1, NOW_MS, 10);
    let first = flake.next(NOW_MS).expect("an id");
    flake.grant(Span { from: tick(NOW_MS), until: tick(NOW_MS) + 10 });
    assert_eq!(flake.next(NOW_MS), Ok(first + 1));
}

#[test]
fn ahead_and_borrowed_ticks_need_a_span_too() {
    for on_exhausted in [OnExhausted::Wait, OnExhausted::Borrow] {
        let flake = granted(LEAF, Rules { on_exhausted, ..PLAIN }, 1, NOW_MS, 2);
        // The clock is 10 ms behind the span: two ticks of ids, at the clock's pace or borrowed.
        let mut ticks = 0;
        for now_ms in NOW_MS - 10..NOW_MS {
            while let Ok(run) = flake.reserve(now_ms, PER_TICK) {
                assert!(time_of(run.first) < NOW_MS + 2);
                ticks += 1;
            }
        }
        assert_eq!(ticks, 2);
        assert_eq!(flake.next(NOW_MS - 1), Err(Action::NeedSpan));
    }
}

#[test]
fn a_span_that_follows_skips_nothing() {
    let flake = granted(LEAF, PLAIN, 1, NOW_MS, 10);
    let first = flake.next(NOW_MS).expect("an id");
    flake.grant(Span { from: tick(NOW_MS) + 10, until: tick(NOW_MS) + 20 });
    assert_eq!(flake.next(NOW_MS), Ok(first + 1), "what is left of the span before it comes first");
}
