//! A clock behind the last id: bridged or waited for up to the bound, refused beyond it.

use crate::common::{NOW_MS, PLAIN, PLAIN_WAIT, granted};
use leafid_core::{Action, Code, Layout, LayoutFields, OnClockBackwards, Rules, Snowflake, Span};

fn time_of(id: Result<i64, Action>) -> i64 {
    Layout::LEAF.decode(id.expect("an id")).expect("an id").timestamp_ms
}

#[test]
fn continue_bridges_exactly_the_bound() {
    let flake = granted(Layout::LEAF, PLAIN, 3, NOW_MS, 3_000);
    let first = flake.next(NOW_MS).expect("an id");
    assert_eq!(flake.next(NOW_MS - 5_000), Ok(first + 1), "goes on upon the logical clock");
    let refused = Action::ClockBackwards { last_ms: NOW_MS, now_ms: NOW_MS - 5_001 };
    assert_eq!(flake.next(NOW_MS - 5_001), Err(refused));
    assert_eq!(
        flake.next(NOW_MS - 3_600_000),
        Err(Action::ClockBackwards { last_ms: NOW_MS, now_ms: NOW_MS - 3_600_000 })
    );
    assert_eq!(flake.next(NOW_MS - 5_000), Ok(first + 2), "a refusal changed nothing");
}

#[test]
fn wait_waits_within_the_bound_and_refuses_beyond() {
    let flake = granted(Layout::LEAF, PLAIN_WAIT, 3, NOW_MS, 3_000);
    let first = flake.next(NOW_MS).expect("an id");
    for behind in 1..=5 {
        assert_eq!(flake.next(NOW_MS - behind), Err(Action::WaitUntil(NOW_MS)), "{behind} ms behind");
    }
    let refused = Action::ClockBackwards { last_ms: NOW_MS, now_ms: NOW_MS - 6 };
    assert_eq!(flake.next(NOW_MS - 6), Err(refused));
    assert_eq!(flake.next(NOW_MS), Ok(first + 1));
}

#[test]
fn a_bound_of_zero_refuses_one_millisecond() {
    let flake = granted(Layout::LEAF, Rules { max_backwards_ms: 0, ..PLAIN_WAIT }, 3, NOW_MS, 3_000);
    assert!(flake.next(NOW_MS).is_ok());
    assert!(matches!(flake.next(NOW_MS - 1), Err(Action::ClockBackwards { .. })));
}

#[test]
fn a_used_up_tick_does_not_count_as_a_later_id() {
    // The last id's tick is NOW_MS although the next position lies in the tick after it.
    let flake = granted(Layout::LEAF, PLAIN, 3, NOW_MS, 3_000);
    assert_eq!(flake.reserve(NOW_MS, 4_096).map(|run| run.count), Ok(4_096));
    let refused = Action::ClockBackwards { last_ms: NOW_MS, now_ms: NOW_MS - 5_001 };
    assert_eq!(flake.next(NOW_MS - 5_001), Err(refused));
    // A step on would be 5001 ahead, and refused from then on.
    assert_eq!(flake.next(NOW_MS - 5_000), Err(Action::WaitUntil(NOW_MS - 4_999)));
    assert_eq!(time_of(flake.next(NOW_MS - 4_999)), NOW_MS + 1);
}

#[test]
fn the_bound_is_milliseconds_whatever_the_tick() {
    // uid-generator with more timestamp bits: ticks of a second.
    let fields = LayoutFields { timestamp_bits: 32, worker_bits: 18, ..Layout::UID_GENERATOR.fields() };
    let layout = Layout::new(fields).expect("63 bits");
    let flake = granted(layout, PLAIN, 3, NOW_MS, 10);
    assert!(flake.next(NOW_MS + 999).is_ok());
    assert!(flake.next(NOW_MS - 5_000).is_ok(), "five ticks behind");
    let action = flake.next(NOW_MS - 5_001).expect_err("six ticks behind");
    assert_eq!(action, Action::ClockBackwards { last_ms: NOW_MS, now_ms: NOW_MS - 5_001 });
}

#[test]
fn the_clock_may_come_back() {
    for rules in [PLAIN, PLAIN_WAIT] {
        let flake = granted(Layout::LEAF, rules, 3, NOW_MS, 10_000);
        assert_eq!(time_of(flake.next(NOW_MS)), NOW_MS);
        assert!(flake.next(NOW_MS - 3_600_000).is_err());
        assert_eq!(time_of(flake.next(NOW_MS + 7)), NOW_MS + 7, "under {rules:?}");
    }
}

#[test]
fn the_refusal_says_both_times_and_what_to_do() {
    let flake = granted(Layout::LEAF, PLAIN, 3, NOW_MS, 3_000);
    assert!(flake.next(NOW_MS).is_ok());
    let error = flake.error(flake.next(NOW_MS - 3_600_000).expect_err("an hour back"));
    assert_eq!(error.code(), Code::ClockBackwards);
    for said in [
        "1699996400000",
        "1700000000000",
        "2023-11-14T21:13:20.000Z",
        "3600000 ms behind",
        "5000",
        "correct the clock",
    ] {
        assert!(error.message().contains(said), "{error} does not say {said}");
    }
}

#[test]
fn before_the_epoch_is_an_error_of_its_own() {
    let flake = granted(Layout::LEAF, PLAIN, 3, NOW_MS, 3_000);
    let now_ms = Layout::LEAF.epoch_ms() - 1;
    assert_eq!(flake.next(now_ms), Err(Action::BeforeEpoch { now_ms }));
    let error = flake.error(Action::BeforeEpoch { now_ms });
    assert_eq!(error.code(), Code::BeforeEpoch);
    assert!(error.message().contains("1288834974656") && error.message().contains("epoch_ms"), "{error}");
}

#[test]
fn rules_are_read_by_their_names() {
    for rule in [OnClockBackwards::Continue, OnClockBackwards::Wait] {
        assert_eq!(OnClockBackwards::parse(rule.name()), Ok(rule));
    }
    assert_eq!(OnClockBackwards::Continue.default_max_ms(), 5_000);
    assert_eq!(OnClockBackwards::Wait.default_max_ms(), 5);
    assert_eq!(Rules::default().max_backwards_ms, 5_000);
    assert!(
        OnClockBackwards::parse("Continue")
            .is_err_and(|error| error.message().contains("on_clock_backwards"))
    );
}

#[test]
fn one_that_begins_beyond_the_bound_waits_and_one_that_has_issued_does_not() {
    let from = Layout::LEAF.tick_at(NOW_MS + 5_002).expect("after the epoch");
    let begins = |rules| {
        let flake = Snowflake::new(Layout::LEAF, rules, 1, from, 0);
        flake.grant(Span { from, until: from + 10 });
        flake
    };
    let flake = begins(PLAIN);
    assert_eq!(flake.next(NOW_MS), Err(Action::WaitUntil(NOW_MS + 3)));
    flake.next(NOW_MS + 3).expect("the wait was long enough");
    assert!(matches!(flake.next(NOW_MS), Err(Action::ClockBackwards { .. })));
    assert!(matches!(begins(PLAIN_WAIT).next(NOW_MS), Err(Action::ClockBackwards { .. })));
}

#[test]
fn the_bound_has_a_range_under_each_rule() {
    for (rule, least) in [(OnClockBackwards::Continue, 100), (OnClockBackwards::Wait, 0)] {
        assert_eq!([least, 3_600_000].map(|ms| rule.check_max_ms(ms)), [Ok(least), Ok(3_600_000)]);
        for wrong in [least - 1, 3_600_001, i64::MIN] {
            let error = rule.check_max_ms(wrong).unwrap_err();
            let said = format!(
                "max_backwards_ms is {wrong}; allowed: 100 to 3600000 milliseconds under \"continue\", 0"
            );
            assert!(error.message().starts_with(&said), "{error}");
        }
    }
}
