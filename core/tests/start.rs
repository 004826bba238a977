//! Where a generator starts, from its record, the options and the clock.

use crate::common::{NOW_MS, PLAIN, PLAIN_WAIT};
use leafid_core::snowflake::{LONGEST_SPAN_MS, Start, StartAction};
use leafid_core::{Code, Layout, OnClockBackwards, Record, Rules, Span};

const LEAF: Layout = Layout::LEAF;

fn tick(ms: i64) -> u64 {
    LEAF.tick_at(ms).expect("after the epoch")
}

fn start(rules: &Rules) -> Start<'_> {
    Start { rules, lease: None, floor: 0, start_after: 0, no_record_wait_ms: 0, forgets: false }
}

/// A record of a run that was granted until this time.
fn record(until_ms: i64) -> Record {
    let run = Span { from: tick(NOW_MS - 60_000), until: tick(until_ms) };
    Record { run, granted_at_ms: NOW_MS - 1_000, owner: 1, ..Record::unused(9, LEAF) }
}

fn begin(start: &Start<'_>, found: &Record) -> (Span, Option<i64>) {
    match start.poll(found, NOW_MS) {
        StartAction::Begin { first, begins_ms } => (first, begins_ms),
        other => panic!("{other:?}"),
    }
}

#[test]
fn where_ids_may_be_unrecorded_the_clock_s_own_tick_is_left_out() {
    let forgets = Start { forgets: true, ..start(&PLAIN_WAIT) };
    assert_eq!(begin(&forgets, &Record::unused(9, LEAF)).0.from, tick(NOW_MS) + 1);
}

#[test]
fn a_start_without_a_record_waits_and_the_next_one_waits_on() {
    let waits = Start { no_record_wait_ms: 700, ..start(&PLAIN) };
    let unused = Record::unused(9, LEAF);
    let (first, begins_ms) = begin(&waits, &unused);
    assert_eq!((first.is_empty(), first.from), (true, tick(NOW_MS + 700) + 1));
    assert_eq!(begins_ms, Some(LEAF.tick_start_ms(first.from)));
    // What it wrote keeps the wait, which does not become longer.
    let written = unused.begin(first, NOW_MS, 1);
    assert_eq!(begin(&waits, &written), (first, begins_ms));
    // A record of ids that were issued is no reason to wait.
    assert_eq!(begin(&waits, &record(NOW_MS - 1)).1, None);
    let late = waits.poll(&unused, LEAF.tick_start_ms(LEAF.last_tick()));
    assert!(matches!(late, StartAction::Refused(error) if error.code() == Code::TimeExhausted));
}

#[test]
fn start_after_is_refused_further_ahead_than_the_rules_bridge() {
    for (rules, bridged_ms) in [(&PLAIN, PLAIN.max_backwards_ms), (&PLAIN_WAIT, LONGEST_SPAN_MS)] {
        let poll = |ahead_ms| {
            let start_after = tick(NOW_MS + ahead_ms);
            Start { start_after, ..start(rules) }.poll(&Record::unused(9, LEAF), NOW_MS)
        };
        assert!(!matches!(poll(bridged_ms), StartAction::Refused(_)), "{rules:?}");
        let StartAction::Refused(error) = poll(bridged_ms + 1) else { panic!("{rules:?}") };
        assert_eq!(error.code(), Code::ClockBackwards);
    }
}

#[test]
fn a_lost_slot_is_taken_for_the_latest_that_it_may_have_held() {
    use OnClockBackwards::{Continue, Wait};
    let after_last = LEAF.last_tick() + 1;
    let last_ms = LEAF.tick_start_ms(LEAF.last_tick());
    for (on_clock_backwards, until_ms, worst_ms) in [
        (Wait, NOW_MS - 60_000, NOW_MS + LONGEST_SPAN_MS),
        (Continue, NOW_MS - 60_000, NOW_MS + LONGEST_SPAN_MS + 7),
        (Wait, NOW_MS + 60_000, NOW_MS + 60_000 + LONGEST_SPAN_MS),
        (Wait, last_ms - LONGEST_SPAN_MS + 1, LEAF.tick_start_ms(after_last)),
    ] {
        let rules = Rules { on_clock_backwards, max_backwards_ms: LONGEST_SPAN_MS + 7, ..PLAIN };
        let raised = record(until_ms).after_lost_slot(&rules, NOW_MS);
        assert_eq!(LEAF.tick_start_ms(raised.run.until), worst_ms, "{on_clock_backwards:?}, {until_ms}");
    }
}
