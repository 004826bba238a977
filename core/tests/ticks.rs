//! The ids of a tick: taken one by one or in runs, from a random start, until it is used up.

use crate::common::{NOW_MS, PER_TICK, PLAIN, granted, layout};
use leafid_core::{Action, Layout, LayoutFields, OnExhausted, Rules, Snowflake, Span, TickRuns};
use std::collections::BTreeSet;

/// A clock that moves on only when asked to wait.
fn waits(action: Action) -> i64 {
    match action {
        Action::WaitUntil(ms) => ms,
        other => panic!("{other:?}"),
    }
}

fn one_by_one(flake: &Snowflake, mut now_ms: i64, n: usize) -> Vec<i64> {
    let mut ids = Vec::new();
    while ids.len() < n {
        match flake.next(now_ms) {
            Ok(id) => ids.push(id),
            Err(action) => now_ms = waits(action),
        }
    }
    ids
}

fn in_runs(flake: &Snowflake, mut now_ms: i64, n: usize) -> (Vec<i64>, usize) {
    let mut runs = Vec::new();
    let mut left = n;
    while left > 0 {
        match flake.reserve(now_ms, left) {
            Ok(run) => {
                left -= run.count;
                runs.push(run);
            }
            Err(action) => now_ms = waits(action),
        }
    }
    let mut ids = vec![-1; n];
    let mut rest = ids.as_mut_slice();
    for run in &runs {
        run.write(rest);
        rest = &mut rest[run.count..];
    }
    (ids, runs.len())
}

#[test]
fn a_batch_across_ticks_equals_single_ids() {
    for layout in [Layout::LEAF, Layout::JS_SAFE, Layout::SONYFLAKE, layout(41, 22, 0, 1_288_834_974_657)] {
        for random_start in [0, 100] {
            let rules = Rules { random_start, ..PLAIN };
            let worker_id = layout.max_worker_id() / 2;
            let n = (layout.max_sequence() as usize + 1) * 3 + 7;
            let expected = one_by_one(&granted(layout, rules, worker_id, NOW_MS, 10_000), NOW_MS, n);
            let (ids, runs) = in_runs(&granted(layout, rules, worker_id, NOW_MS, 10_000), NOW_MS, n);
            assert_eq!(ids, expected, "{layout}");
            assert!(
                runs <= n && (4..=5).contains(&runs) || layout.max_sequence() == 0,
                "{layout}: {runs} steps"
            );
        }
    }
}

#[test]
fn stride_steps_over_a_worker_id_that_stands_lowest() {
    let flake = granted(Layout::SONYFLAKE, PLAIN, 258, NOW_MS, 10);
    let run = flake.reserve(NOW_MS, 5).expect("granted");
    assert_eq!((run.stride, run.count), (1 << 16, 5));
    let mut ids = [0; 5];
    run.write(&mut ids);
    for (sequence, id) in ids.into_iter().enumerate() {
        let parts = Layout::SONYFLAKE.decode(id).expect("an id");
        assert_eq!((parts.worker_id, parts.sequence as usize, parts.timestamp_ms), (258, sequence, NOW_MS));
    }
    assert_eq!(flake.next(NOW_MS), Ok(ids[4] + (1 << 16)), "single ids step likewise");
}

#[test]
fn only_a_run_that_follows_in_the_clock_s_tick_has_more_than_one() {
    for layout in [Layout::LEAF, Layout::SONYFLAKE] {
        let begun = || {
            let flake = granted(layout, PLAIN, 3, NOW_MS, 100);
            let mut runs = TickRuns::new(layout);
            runs.taken(flake.reserve(NOW_MS, 10).expect("granted"), 0);
            (flake, runs.after())
        };
        let tick_ms = layout.tick_ms();
        let given =
            |flake: &Snowflake, now_ms, after| flake.reserve_after(now_ms, after, 5).map(|run| run.count);
        let (flake, after) = begun();
        assert_eq!(given(&flake, NOW_MS, after), Ok(5));
        assert_eq!(given(&flake, NOW_MS, after), Ok(1), "others took ids since");
        let (flake, after) = begun();
        assert_eq!(given(&flake, NOW_MS + tick_ms, after), Ok(1), "the next tick");
        let (flake, after) = begun();
        assert_eq!(given(&flake, NOW_MS - tick_ms, after), Ok(1), "the clock went back");
        let (flake, after) = begun();
        flake.seal();
        assert_eq!(given(&flake, NOW_MS, after), Err(Action::Sealed));
        let (flake, _) = begun();
        let mut runs = TickRuns::new(layout);
        runs.taken(flake.reserve(NOW_MS, usize::MAX).expect("the rest"), 0);
        assert_eq!(given(&flake, NOW_MS + tick_ms, runs.after()), Ok(1), "used up, and a tick begins");
    }
}

/// For every state of a small tick: fresh, begun, used up; of the clock's, behind it and ahead of it.
#[test]
fn what_is_left_in_the_tick_is_what_one_call_gives() {
    let layout = layout(41, 10, 2, 1_600_000_000_000);
    for (random_start, issued, moved) in [0, 100]
        .into_iter()
        .flat_map(|start| (0..13).flat_map(move |n| [-1, 0, 1, 2].map(|ms| (start, n, ms))))
    {
        let flake = granted(layout, Rules { random_start, ..PLAIN }, 1, NOW_MS, 100);
        // The last of them in the tick before, this one's, or the next one's.
        for n in 0..issued {
            if flake.next(NOW_MS).is_err() {
                flake.next(NOW_MS + 1 + n / 8).expect("an id of a later tick");
            }
        }
        let now_ms = NOW_MS + moved;
        let left = flake.left_in_tick(now_ms);
        let given = flake.reserve(now_ms, usize::MAX).map_or(0, |run| run.count);
        assert!(left == given || left == 0, "{left} left, {given} given: {random_start} {issued} {moved}");
        // None is said of a tick ahead of the clock that has not begun.
        assert!(left > 0 || issued % 4 == 0 || random_start > 0, "{random_start} {issued} {moved}");
    }
    let flake = granted(layout, PLAIN, 1, NOW_MS, 100);
    for (now_ms, left) in [(NOW_MS, 4), (NOW_MS + 1, 4), (NOW_MS - 1, 0), (i64::MAX, 4)] {
        assert_eq!(flake.left_in_tick(now_ms), left, "fresh, by {now_ms}");
    }
    flake.next(NOW_MS).expect("an id");
    for (now_ms, left) in [(NOW_MS, 3), (NOW_MS - 1, 3), (NOW_MS + 1, 4), (-1, 3)] {
        assert_eq!(flake.left_in_tick(now_ms), left, "begun, by {now_ms}");
    }
    flake.reserve(NOW_MS, 3).expect("the rest");
    for (now_ms, left) in [(NOW_MS, 0), (NOW_MS + 1, 4)] {
        assert_eq!(flake.left_in_tick(now_ms), left, "used up, by {now_ms}");
    }
}

/// The first sequence number of each of `ticks` ticks.
fn starts(layout: Layout, random_start: u32, seed: u64, ticks: u64) -> Vec<u32> {
    let from = layout
        .tick_at(layout.epoch_ms().max(NOW_MS.min(layout.expires_at_ms() - 10_000_000)))
        .expect("a tick");
    let worker_id = layout.max_worker_id();
    let flake = Snowflake::new(layout, Rules { random_start, ..PLAIN }, worker_id, from, seed);
    flake.grant(Span { from, until: from + ticks });
    let first = |tick| {
        let now_ms = layout.tick_start_ms(tick);
        let parts = layout.decode(flake.next(now_ms).expect("granted")).expect("an id");
        assert_eq!(
            (parts.timestamp_ms, parts.worker_id),
            (now_ms, worker_id),
            "the start ran into other bits"
        );
        parts.sequence
    };
    (from..from + ticks).map(first).collect()
}

#[test]
fn starts_lie_below_the_bound_and_spread() {
    let starts = starts(Layout::LEAF, 100, 7, 10_000);
    let mut counts = [0u32; 100];
    for start in &starts {
        counts[*start as usize] += 1;
    }
    // 100 each is expected; 50 off is five standard deviations.
    assert!(counts.iter().all(|count| (50..=150).contains(count)), "{counts:?}");
}

#[test]
fn low_rates_are_not_all_even() {
    let odd = starts(Layout::LEAF, 100, 0, 1_000).iter().filter(|start| *start % 2 == 1).count();
    assert!((400..=600).contains(&odd), "{odd} odd of 1000");
}

/// docs/FAQ.md says so of `id % n`, where n is a power of two.
#[test]
fn a_low_rate_reaches_as_many_shards_as_the_random_start() {
    let reached = |layout, random_start, shard: &dyn Fn(i64) -> i64| {
        let flake = granted(layout, Rules { random_start, ..PLAIN }, 7, NOW_MS, 20_000);
        let ids = (0..20_000).map(|ms| flake.next(NOW_MS + ms).expect("granted"));
        ids.map(shard).collect::<BTreeSet<_>>().len()
    };
    for (random_start, shards, count) in [
        (100, 64, 64),
        (100, 128, 100),
        (100, 1_024, 100),
        (512, 512, 512),
        (512, 1_024, 512),
        (1_000_000, 1_024, 512),
    ] {
        let found = reached(Layout::LEAF, random_start, &|id| id % shards);
        assert_eq!(found, count, "{shards} shards with {random_start}");
    }
    assert_eq!(reached(Layout::SONYFLAKE, 100, &|id| id % 1_024), 1, "the worker id");
    assert_eq!(reached(Layout::LEAF, 100, &|id| (id >> 22) % 1_024), 1_024, "the millisecond");
}

#[test]
fn two_starts_at_zero_or_one() {
    let starts = starts(Layout::LEAF, 2, 3, 1_000);
    assert!(starts.contains(&0) && starts.contains(&1) && starts.iter().all(|start| *start < 2));
}

#[test]
fn a_bound_is_clamped_to_an_eighth_of_the_sequence() {
    for (layout, eighth) in [
        (Layout::YITTER, 8),
        (Layout::SONYFLAKE, 32),
        (Layout::JS_SAFE, 64),
        (layout(41, 16, 3, 1_288_834_974_657), 1),
        (layout(41, 20, 2, 1_288_834_974_657), 1),
        (layout(41, 22, 0, 1_288_834_974_657), 1),
    ] {
        for random_start in [100, 4_096, u32::MAX] {
            let most = starts(layout, random_start, 11, 2_000).into_iter().max().expect("2000 ticks");
            assert!(most < eighth, "{layout}: {most} under random_start {random_start}");
            assert!(eighth < 8 || most > eighth / 2, "{layout}: only up to {most}");
        }
    }
}

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
