//! A clock behind the last id: bridged or waited for up to the bound, refused beyond it.

use crate::common::{NOW_MS, PLAIN, PLAIN_WAIT, granted};
use leafid_core::{Action, Code, Layout, LayoutFields, OnClockBackwards, Snowflake, Span};

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
