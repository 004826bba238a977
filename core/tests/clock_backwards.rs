//! A clock behind the last id: bridged or waited for up to the bound, refused beyond it; and a thread that read the clock
//! and then slept, whose old reading moves no id back and does not drive ids away from the clock.

use crate::common::{NOW_MS, PER_TICK, PLAIN, PLAIN_WAIT, Random, each_seed, granted};
use leafid_core::{Action, Code, Layout, LayoutFields, OnClockBackwards, Rules, Snowflake, Span};

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

/// What a thread of the simulation will do next: use the reading it took.
#[derive(Clone, Copy)]
struct Thread {
    read_at_us: u64,
    acts_at_us: u64,
}

/// Threads that take whole ticks as fast as they can while `lead_ms` ahead of the clock, with `sleep_us` between some
/// readings and their use. Answers the lead at the end and the ticks used for each millisecond.
fn contend(seed: u64, lead_ms: i64, threads: usize, sleep_us: u64, for_ms: u64) -> (i64, f64) {
    let mut random = Random(seed);
    let flake = granted(Layout::LEAF, Rules { random_start: 100, ..PLAIN }, 3, NOW_MS + lead_ms, 1_000_000);
    flake.next(NOW_MS + lead_ms).expect("the id after which the clock goes back");
    let clock = |us: u64| NOW_MS + (us / 1_000) as i64;
    let mut delay = |from: u64| {
        let us = if random.below(20) == 0 { random.below(sleep_us + 1) } else { random.below(3) };
        Thread { read_at_us: from, acts_at_us: from + us }
    };
    let mut all: Vec<Thread> = (0..threads).map(|_| delay(0)).collect();
    let (mut last, mut ids, mut us) = (0, 0u64, 0u64);
    while us < for_ms * 1_000 {
        let at = (0..threads).min_by_key(|at| all[*at].acts_at_us).expect("a thread");
        let thread = all[at];
        us = thread.acts_at_us;
        let resumes = match flake.reserve(clock(thread.read_at_us), PER_TICK) {
            Ok(run) => {
                assert!(run.first > last, "went back");
                last = run.first + (run.count as i64 - 1) * run.stride;
                ids += run.count as u64;
                us + 5
            }
            // A reading that is old already needs no wait; a host that spins reads again at once.
            Err(Action::WaitUntil(ms)) => us.max((ms - NOW_MS) as u64 * 1_000).max(us + 1),
            Err(action) => panic!("{action:?} at {us} us"),
        };
        all[at] = delay(resumes);
    }
    let last_ms = Layout::LEAF.decode(last).expect("an id").timestamp_ms;
    (last_ms - clock(us), ids as f64 / PER_TICK as f64 / for_ms as f64)
}

#[test]
fn old_readings_do_not_make_the_lead_grow() {
    for (threads, sleep_us) in [(1, 0), (2, 1_000), (4, 5_000), (8, 30_000)] {
        each_seed(5, |seed| {
            let (lead, rate) = contend(seed, 1_000, threads, sleep_us, 10_000);
            let said = format!(
                "{threads} threads that sleep up to {sleep_us} us: {lead} ms ahead, {rate} of full rate"
            );
            // 10 s at full rate melt it by 39 ms.
            assert!(lead <= 1_002, "{said}");
            assert!(rate >= 0.97, "{said}");
        });
    }
}

/// 50 ms and a tick, whatever a tick is.
#[test]
fn a_reading_is_old_up_to_a_bound_and_a_clock_that_went_back_beyond_it() {
    for (tick_ms, old_ms) in [(1, 51), (10, 60)] {
        let fields =
            LayoutFields { tick_ms, sequence_bits: 0, timestamp_bits: 40, ..LayoutFields::default() };
        let layout = Layout::new(fields).expect("a layout");
        // Ahead of the clock, and not where the lead melts.
        let from = (layout.tick_at(NOW_MS).expect("after the epoch") + 100) / 256 * 256 + 128;
        let begun = || {
            let flake = Snowflake::new(layout, PLAIN, 1, from, 0);
            flake.grant(Span { from, until: from + 10 });
            let now_ms = layout.tick_start_ms(from - 100);
            flake.next(now_ms).expect("a step ahead");
            (flake, now_ms)
        };
        let (flake, now_ms) = begun();
        assert_eq!(flake.next(now_ms - old_ms), Err(Action::WaitUntil(now_ms + tick_ms)));
        let (flake, now_ms) = begun();
        flake
            .next(now_ms - old_ms - tick_ms)
            .expect("the clock went back: a step, and the count starts again");
    }
}
