//! Whether a new generator may continue from a record, and where: never below what the last one was granted.

use crate::common::{NOW_MS, PLAIN, PLAIN_WAIT};
use leafid_core::snowflake::{Admission, LONGEST_SPAN_MS, Start, StartAction};
use leafid_core::{Code, Layout, OnClockBackwards, Record, Rules, Span};

const LEAF: Layout = Layout::LEAF;

fn tick(ms: i64) -> u64 {
    LEAF.tick_at(ms).expect("after the epoch")
}

/// A record granted at one time until another.
fn record(granted_at_ms: i64, until_ms: i64) -> Record {
    let run = Span { from: tick(NOW_MS - 60_000), until: tick(until_ms) };
    Record { run, granted_at_ms, owner: 1, ..Record::unused(9, LEAF) }
}

fn refusal(record: &Record, rules: &Rules, now_ms: i64) -> leafid_core::Error {
    match record.admit(rules, now_ms) {
        Admission::Refused(error) => error,
        other => panic!("{other:?} at {now_ms}"),
    }
}

#[test]
fn continue_looks_at_when_the_span_was_granted() {
    for max_backwards_ms in [100, 5_000] {
        let rules = Rules { max_backwards_ms, ..PLAIN };
        let written = record(NOW_MS + max_backwards_ms, NOW_MS + 3_000);
        assert_eq!(written.admit(&rules, NOW_MS), Admission::From(tick(NOW_MS + 3_000)));
        assert_eq!(refusal(&written, &rules, NOW_MS - 1).code(), Code::ClockBackwards);
    }
}

#[test]
fn wait_waits_at_most_the_longest_span() {
    // A tick more, for ends are rounded up to one.
    let written = record(NOW_MS, NOW_MS + 3_001);
    assert_eq!(written.admit(&PLAIN_WAIT, NOW_MS), Admission::WaitUntil(NOW_MS + 3_001));
    assert_eq!(refusal(&written, &PLAIN_WAIT, NOW_MS - 1).code(), Code::ClockBackwards);
    let patient = Rules { max_backwards_ms: 10_000, ..PLAIN_WAIT };
    assert_eq!(
        refusal(&written, &patient, NOW_MS - 1).code(),
        Code::ClockBackwards,
        "the bound is for running"
    );
}

const DAY_MS: i64 = 86_400_000;

#[test]
fn an_end_days_ahead_is_refused_with_the_way_out() {
    for rules in [PLAIN, Rules { max_backwards_ms: 3_600_000, ..PLAIN }] {
        let day = record(NOW_MS, NOW_MS + DAY_MS + 1);
        assert_eq!(day.admit(&rules, NOW_MS), Admission::From(tick(NOW_MS + DAY_MS + 1)));
        for (ahead_ms, said) in
            [(DAY_MS + 2, "86400002 ms behind"), (30 * 365 * DAY_MS, "946080000000 ms behind")]
        {
            let years = record(NOW_MS, NOW_MS + ahead_ms);
            let error = refusal(&years, &rules, NOW_MS);
            assert_eq!(error.code(), Code::ClockBackwards);
            for said in [said, "worker id 9", "1700000000000 ms", "leafid state reset 9 --confirm 9"] {
                assert!(error.message().contains(said), "{error} does not say {said}");
            }
            let reset = years.reset(NOW_MS).expect("there is room");
            assert!(matches!(reset.admit(&rules, NOW_MS), Admission::From(_)));
        }
    }
    // What was skipped is as long as it is: a start above it waits.
    let end = tick(NOW_MS + 400 * DAY_MS);
    let written = Record {
        run: Span { from: end, until: end },
        former: vec![Span { from: tick(NOW_MS - DAY_MS), until: end }],
        ..record(NOW_MS, NOW_MS)
    };
    assert_eq!(written.admit(&PLAIN, NOW_MS), Admission::From(end));
    // Nothing was skipped or used there: another wrote it.
    for forged in [
        Record { former: Vec::new(), ..written.clone() },
        Record { run: Span { from: 5, until: end }, ..written },
    ] {
        assert_eq!(refusal(&forged, &PLAIN, NOW_MS).code(), Code::ClockBackwards);
    }
}

#[test]
fn spans_that_no_rules_write_are_refused() {
    let many = |count: u64| (0..count).map(|n| Span { from: 2 * n, until: 2 * n + 1 }).collect::<Vec<_>>();
    let good = record(NOW_MS, NOW_MS);
    assert_eq!(Record::unused(9, LEAF).check(), Ok(()));
    assert_eq!(Record { skipped: many(48), former: many(16), ..good.clone() }.check(), Ok(()));
    let last = Span { from: 0, until: LEAF.last_tick() + 1 };
    assert_eq!(Record { run: last, skipped: vec![last], former: vec![last], ..good.clone() }.check(), Ok(()));
    let touching = vec![Span { from: 0, until: 1 }, Span { from: 1, until: 2 }];
    assert_eq!(Record { skipped: touching, ..good.clone() }.check(), Ok(()));
    let past = Span { from: 0, until: LEAF.last_tick() + 2 };
    for (bad, said) in [
        (Record { run: Span { from: 8, until: 7 }, ..good.clone() }, "begins at tick 8 and ends at 7"),
        (Record { run: past, ..good.clone() }, "begins at tick 0"),
        (Record { skipped: many(49), ..good.clone() }, "49 skipped spans, and at most 48"),
        (Record { former: many(17), ..good.clone() }, "17 former spans, and at most 16"),
        (Record { skipped: vec![Span { from: 5, until: 5 }], ..good.clone() }, "skipped spans are empty"),
        (Record { former: many(3).into_iter().rev().collect(), ..good.clone() }, "not in order"),
        (Record { skipped: vec![past], ..good.clone() }, "last tick"),
    ] {
        let error = bad.check().expect_err(said);
        assert_eq!(error.code(), Code::StateCorrupt);
        for said in [said, "worker id 9", "nothing was changed", "leafid state reset 9 --confirm 9"] {
            assert!(error.message().contains(said), "{error} does not say {said}");
        }
    }
}

#[test]
fn a_floor_raises_the_run_and_nothing_else_does() {
    let was = record(NOW_MS, NOW_MS + 100);
    let until = was.run.until;
    for floor in [0, until - 1, until] {
        assert_eq!(was.clone().raised_to(floor), was, "at {floor}");
    }
    let raised = Record { run: Span { from: until + 1, until: until + 1 }, ..was.clone() };
    assert_eq!(was.raised_to(until + 1), raised);
}

#[test]
fn the_last_tick_of_a_layout_is_admitted_and_none_after_it() {
    let last = LEAF.last_tick();
    let now_ms = LEAF.tick_start_ms(last);
    assert_eq!(Record::unused(9, LEAF).admit(&PLAIN, now_ms), Admission::From(last));
    let used = Record::unused(9, LEAF).raised_to(last + 1);
    assert!(
        matches!(used.admit(&PLAIN, now_ms), Admission::Refused(error) if error.code() == Code::TimeExhausted)
    );
}

fn start(rules: &Rules) -> Start<'_> {
    Start { rules, lease: None, floor: 0, start_after: 0, no_record_wait_ms: 0, forgets: false }
}

/// A record of a run that was granted until this time.
fn granted_until(until_ms: i64) -> Record {
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
    assert_eq!(begin(&waits, &granted_until(NOW_MS - 1)).1, None);
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
        // The first span begins there, or its time is waited for.
        let starts_ms = match poll(bridged_ms) {
            StartAction::Begin { first, .. } => LEAF.tick_start_ms(first.from),
            StartAction::WaitUntil(ms) => ms,
            StartAction::Refused(error) => panic!("{error}"),
        };
        assert_eq!(starts_ms, NOW_MS + bridged_ms, "{rules:?}");
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
        let raised = granted_until(until_ms).after_lost_slot(&rules, NOW_MS);
        assert_eq!(LEAF.tick_start_ms(raised.run.until), worst_ms, "{on_clock_backwards:?}, {until_ms}");
    }
}
