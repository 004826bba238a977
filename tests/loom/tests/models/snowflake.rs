//! The snowflake's state and its span.
//!
//! Ids are of one sequence bit and no worker bits: an id is its position, 20 and 21 are those of tick 10, and `now_ms` is
//! a tick.

use super::run::holds;
use super::{ascending, distinct, join, spawn};
use leafid_core::{Action, Layout, LayoutFields, OnExhausted, Rules, Run, Snowflake, Span};
use std::sync::Arc;

fn granted(from: u64, until: u64) -> Arc<Snowflake> {
    with_rules(from, until, OnExhausted::Wait)
}

fn with_rules(from: u64, until: u64, on_exhausted: OnExhausted) -> Arc<Snowflake> {
    let fields = LayoutFields {
        epoch_ms: 0,
        tick_ms: 1,
        timestamp_bits: 20,
        worker_bits: 0,
        sequence_bits: 1,
        ..LayoutFields::default()
    };
    let rules = Rules { random_start: 0, on_exhausted, ..Rules::default() };
    let flake = Snowflake::new(Layout::new(fields).expect("a layout"), rules, 0, from, 0);
    flake.grant(Span { from, until });
    Arc::new(flake)
}

/// The ids of as many calls as there are readings of the clock; what is refused gives none.
fn all(flake: &Snowflake, readings: &[i64]) -> Vec<i64> {
    readings.iter().filter_map(|now_ms| flake.next(*now_ms).ok()).collect()
}

fn ids_of(run: Run) -> impl Iterator<Item = i64> {
    (0..run.count as i64).map(move |at| run.first + at * run.stride)
}

/// Claim: of a span of one tick, three threads that step at once, within it and beyond its end, get each id exactly once
/// and no other; who is refused changes nothing.
fn three_over_the_end_of_a_span() {
    let flake = granted(10, 11);
    let threads = [[10, 11], [11, 10]].map(|readings| {
        let flake = Arc::clone(&flake);
        spawn(move || all(&flake, &readings))
    });
    let mut ids = all(&flake, &[10]);
    for thread in threads {
        let theirs = join(thread);
        ascending(&theirs);
        ids.extend(theirs);
    }
    distinct(&ids);
    ids.sort_unstable();
    assert_eq!(ids, [20, 21], "not the ids of the span");
    assert_eq!(flake.next(11), Err(Action::NeedSpan));
    assert_eq!(flake.first_unused(), Some(11));
}

/// Claim: while one thread extends the span, two that step see it extended or not; ids come once, each thread's in order,
/// none beyond what was granted.
fn extended_meanwhile() {
    let flake = granted(10, 11);
    let threads = [11, 10].map(|now_ms| {
        let flake = Arc::clone(&flake);
        spawn(move || all(&flake, &[now_ms]))
    });
    flake.grant(Span { from: 11, until: 12 });
    let mut ids = all(&flake, &[11]);
    for thread in threads {
        ids.extend(join(thread));
    }
    distinct(&ids);
    assert!(ids.iter().all(|id| (20..24).contains(id)), "outside the spans: {ids:?}");
    assert!(ids.contains(&22), "the extended span was not used: {ids:?}");
}

/// Claim: where the next span begins above the end of the last, no call gets an id of the gap, at whatever moment
/// it is granted. (A sealed one is granted in `sealed_stays_sealed`.)
fn no_id_of_a_gap() {
    let flake = granted(10, 11);
    let threads = [12, 13].map(|now_ms| {
        let flake = Arc::clone(&flake);
        spawn(move || all(&flake, &[now_ms]))
    });
    flake.grant(Span { from: 13, until: 14 });
    let mut ids = all(&flake, &[12]);
    for thread in threads {
        ids.extend(join(thread));
    }
    distinct(&ids);
    assert!(ids.iter().all(|id| [20, 21, 26, 27].contains(id)), "outside the spans: {ids:?}");
}

/// Claim: threads that read the clock, slept, and then step, at readings of three ages, get ids that are distinct and
/// increase in each thread; the lead is at most one tick for each tick that was read.
fn old_readings() {
    let flake = granted(8, 20);
    let threads = [vec![10], vec![12, 12]].map(|readings| {
        let flake = Arc::clone(&flake);
        spawn(move || all(&flake, &readings))
    });
    let mut ids = all(&flake, &[11]);
    for thread in threads {
        let theirs = join(thread);
        ascending(&theirs);
        ids.extend(theirs);
    }
    distinct(&ids);
    assert!(ids.iter().all(|id| (20..32).contains(id)), "driven away from the clock: {ids:?}");
}

/// Claim: while the logical clock is ahead and its tick used up, three threads that all have the same reading step one
/// tick on together, not one each: the lead does not grow.
fn one_tick_on_for_one_of_the_clock() {
    let flake = granted(12, 20);
    assert_eq!(flake.reserve(12, 2).map(|run| run.count), Ok(2));
    let threads = [(); 2].map(|()| {
        let flake = Arc::clone(&flake);
        spawn(move || flake.reserve(10, 2))
    });
    let mine = flake.reserve(10, 2);
    let [one, other] = threads.map(join);
    let all = [mine, one, other];
    let ids: Vec<i64> = all.into_iter().flatten().flat_map(ids_of).collect();
    assert_eq!(ids, [26, 27], "the lead grew");
}

/// Claim: a close in the midst of two threads' steps answers the exact end: the tick above the last id, and no id is
/// issued above it, then or later. The end is answered once.
fn close_against_next() {
    let flake = granted(10, 13);
    let one = {
        let flake = Arc::clone(&flake);
        spawn(move || all(&flake, &[10, 11]))
    };
    let other = {
        let flake = Arc::clone(&flake);
        spawn(move || {
            let mut ids: Vec<i64> = flake.reserve(10, 2).into_iter().flat_map(ids_of).collect();
            ids.extend(all(&flake, &[12]));
            ids
        })
    };
    let end = flake.seal();
    assert_eq!(flake.next(12), Err(Action::Sealed), "an id after the close");
    let mut ids = join(one);
    ids.extend(join(other));
    distinct(&ids);
    let exact = ids.iter().max().map_or(10, |last| *last as u64 / 2 + 1);
    assert_eq!(end, Some(exact), "the end is not exact: {ids:?}");
    assert_eq!((flake.seal(), flake.next(12)), (None, Err(Action::Sealed)), "it is closed");
}

/// Claim: a span that comes while the generator is closed, beyond a gap, opens it for no call, and the end stays exact.
fn sealed_stays_sealed() {
    let flake = granted(10, 11);
    let granting = {
        let flake = Arc::clone(&flake);
        spawn(move || flake.grant(Span { from: 13, until: 14 }))
    };
    let next = {
        let flake = Arc::clone(&flake);
        spawn(move || all(&flake, &[10, 13]))
    };
    let end = flake.seal().expect("the first seal");
    assert_eq!(flake.next(13), Err(Action::Sealed), "an id after the close");
    let ids = join(next);
    join(granting);
    assert!(ids.iter().all(|id| (*id as u64) < end * 2), "an id above the end {end}: {ids:?}");
    assert_eq!(flake.next(13), Err(Action::Sealed), "an id after the close");
}

/// Claim: three threads that borrow ticks, by one and by many, share no id, and each one's increase.
fn borrowed_ticks() {
    let flake = with_rules(10, 14, OnExhausted::Borrow);
    let threads = [3, 1].map(|most| {
        let flake = Arc::clone(&flake);
        spawn(move || flake.reserve(10, most).into_iter().flat_map(ids_of).collect::<Vec<_>>())
    });
    let mut ids = all(&flake, &[10, 10]);
    ascending(&ids);
    for thread in threads {
        let theirs = join(thread);
        ascending(&theirs);
        ids.extend(theirs);
    }
    distinct(&ids);
    assert!(ids.iter().all(|id| (20..28).contains(id)), "outside the span: {ids:?}");
}

#[test]
fn three_threads_share_the_last_ids_of_a_span() {
    holds(&[], three_over_the_end_of_a_span);
}

#[test]
fn a_span_is_extended_meanwhile() {
    holds(&[], extended_meanwhile);
}

#[test]
fn no_step_lands_in_a_gap_between_spans() {
    holds(&[], no_id_of_a_gap);
}

#[test]
fn an_old_reading_of_the_clock_moves_nothing_back() {
    holds(&[], old_readings);
}

#[test]
fn the_lead_does_not_grow() {
    holds(&[], one_tick_on_for_one_of_the_clock);
}

#[test]
fn a_close_is_exact() {
    holds(&[], close_against_next);
}

#[test]
fn a_late_span_opens_nothing() {
    holds(&[], sealed_stays_sealed);
}

#[test]
fn borrowed_ticks_are_shared() {
    holds(&[], borrowed_ticks);
}
