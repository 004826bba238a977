//! A tick whose sequence is used up: wait for the clock, borrow from the future, or step on while ahead of the clock.

use crate::common::{NOW_MS, PER_TICK, PLAIN, granted};
use leafid_core::{Action, Layout, LayoutFields, OnExhausted, Rules};

const BORROW: Rules = Rules { on_exhausted: OnExhausted::Borrow, ..PLAIN };

#[test]
fn borrow_waits_for_whole_ticks() {
    let fields = LayoutFields { timestamp_bits: 32, worker_bits: 18, ..Layout::UID_GENERATOR.fields() };
    let layout = Layout::new(fields).expect("63 bits");
    let flake = granted(layout, Rules { max_backwards_ms: 2_500, ..BORROW }, 3, NOW_MS, 10);
    for ahead in 0..=2 {
        assert_eq!(
            flake.reserve(NOW_MS + 700, usize::MAX).map(|run| run.count),
            Ok(8_192),
            "{ahead} s ahead"
        );
    }
    // 2.5 s allow two ticks ahead: the third becomes possible with the clock's next tick, not 0.5 s later.
    assert_eq!(flake.next(NOW_MS + 700), Err(Action::WaitUntil(NOW_MS + 1_000)));
    assert!(flake.next(NOW_MS + 1_000).is_ok());
}

/// A loop at full rate on a virtual clock: how many ids a true millisecond, and the lead over the clock at the end.
fn full_rate(rules: Rules, lead_ms: i64, ns_per_id: u64, for_ms: u64) -> (f64, i64) {
    let flake = granted(Layout::LEAF, rules, 3, NOW_MS + lead_ms, 100_000);
    flake.next(NOW_MS + lead_ms).expect("the id after which the clock goes back");
    let clock = |ns: u64| NOW_MS + (ns / 1_000_000) as i64;
    let (mut ns, mut ids) = (0u64, 0u64);
    while ns < for_ms * 1_000_000 {
        match flake.next(clock(ns)) {
            Ok(_) => (ids, ns) = (ids + 1, ns + ns_per_id),
            Err(Action::WaitUntil(ms)) => {
                assert!((1..=3).contains(&(ms - clock(ns))), "waits {} ms", ms - clock(ns));
                ns = (ms - NOW_MS) as u64 * 1_000_000;
            }
            Err(action) => panic!("{action:?} after {ids} ids"),
        }
    }
    let last_ms = Layout::LEAF.tick_start_ms(flake.first_unused().expect("open") - 1);
    (ids as f64 / for_ms as f64, last_ms - clock(ns))
}

#[test]
fn ahead_of_the_clock_a_loop_keeps_its_rate() {
    for random_start in [0, 100] {
        for lead_ms in [1, 50, 3_000, 5_000] {
            let (rate, lead) = full_rate(Rules { random_start, ..PLAIN }, lead_ms, 30, 2_000);
            assert!(rate >= 0.97 * PER_TICK as f64, "{rate} ids/ms at {lead_ms} ms ahead");
            // The first step ahead, and the tick being used.
            assert!(lead <= lead_ms + 1, "from {lead_ms} to {lead} ms ahead");
        }
    }
}

#[test]
fn ahead_of_the_clock_the_lead_melts_by_a_256th() {
    let (_, lead) = full_rate(PLAIN, 3_000, 30, 5_120);
    assert!((2_978..=2_982).contains(&lead), "{lead} ms ahead after 5120 ms");
}

#[test]
fn a_second_step_back_while_ahead_stops_nothing_for_long() {
    let flake = granted(Layout::LEAF, PLAIN, 3, NOW_MS, 100_000);
    flake.next(NOW_MS).expect("an id");
    // Two seconds back, at full rate for a while, then two seconds more.
    for (from_ms, ticks) in [(NOW_MS - 2_000, 500), (NOW_MS - 4_000, 500)] {
        let mut made = 0;
        for now_ms in from_ms..from_ms + ticks {
            while flake.reserve(now_ms, PER_TICK).is_ok() {
                made += 1;
            }
        }
        assert!((ticks * 97 / 100..=ticks + 2).contains(&made), "{made} ticks of ids in {ticks} ms");
    }
}
