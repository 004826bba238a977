//! `reserve` takes the ids that `next` would have made one by one.

use crate::common::{NOW_MS, PLAIN, granted, layout};
use leafid_core::{Action, Layout, Rules, Snowflake, TickRuns};

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
