//! The snowflake's state and its span.
//!
//! Ids are of one sequence bit and no worker bits: an id is its position, 20 and 21 are those of tick 10, and `now_ms` is
//! a tick.

use super::run::{breaks, holds};
use super::{ascending, distinct, join, spawn};
use crate::{Action, Layout, LayoutFields, OnExhausted, Rules, Run, Span, mutants};
use std::sync::Arc;

/// The generator of one source.
trait Flake: Send + Sync + Sized + 'static {
    fn new(layout: Layout, rules: Rules, from: u64) -> Self;
    fn next(&self, now_ms: i64) -> Result<i64, Action>;
    fn reserve(&self, now_ms: i64, most: usize) -> Result<Run, Action>;
    fn grant(&self, from: u64, until: u64);
    fn seal(&self) -> Option<u64>;
    fn first_unused(&self) -> Option<u64>;

    fn granted(from: u64, until: u64) -> Arc<Self> {
        Self::with_rules(from, until, OnExhausted::Wait)
    }

    fn with_rules(from: u64, until: u64, on_exhausted: OnExhausted) -> Arc<Self> {
        let fields = LayoutFields {
            epoch_ms: 0,
            tick_ms: 1,
            timestamp_bits: 20,
            worker_bits: 0,
            sequence_bits: 1,
            ..LayoutFields::default()
        };
        let rules = Rules { random_start: 0, on_exhausted, ..Rules::default() };
        let flake = Self::new(Layout::new(fields).expect("a layout"), rules, from);
        flake.grant(from, until);
        Arc::new(flake)
    }

    /// The ids of as many calls as there are readings of the clock; what is refused gives none.
    fn all(&self, readings: &[i64]) -> Vec<i64> {
        readings.iter().filter_map(|now_ms| self.next(*now_ms).ok()).collect()
    }
}

macro_rules! flakes {
    ($($of:path),*) => { $(const _: () = {
        use $of as source;
        impl Flake for source::Snowflake {
            fn new(layout: Layout, rules: Rules, from: u64) -> Self {
                source::Snowflake::new(layout, rules, 0, from, 0)
            }
            fn next(&self, now_ms: i64) -> Result<i64, Action> {
                self.next(now_ms)
            }
            fn reserve(&self, now_ms: i64, most: usize) -> Result<Run, Action> {
                self.reserve(now_ms, most)
            }
            fn grant(&self, from: u64, until: u64) {
                self.grant(Span { from, until })
            }
            fn seal(&self) -> Option<u64> {
                self.seal()
            }
            fn first_unused(&self) -> Option<u64> {
                self.first_unused()
            }
        }
    };)* };
}

flakes!(
    crate::snowflake::generator,
    mutants::one_bit_state,
    mutants::mark_in_two_steps,
    mutants::bound_before_the_gap,
    mutants::grant_undoes_the_seal,
    mutants::clock_goes_back,
    mutants::pace_not_compared,
    mutants::outside_the_span
);

fn ids_of(run: Run) -> impl Iterator<Item = i64> {
    (0..run.count as i64).map(move |at| run.first + at * run.stride)
}

/// Claim: of a span of one tick, three threads that step at once, within it and beyond its end, get each id exactly once
/// and no other; who is refused changes nothing.
fn three_over_the_end_of_a_span<F: Flake>() {
    let flake = F::granted(10, 11);
    let threads = [[10, 11], [11, 10]].map(|readings| {
        let flake = Arc::clone(&flake);
        spawn(move || flake.all(&readings))
    });
    let mut ids = flake.all(&[10]);
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
fn extended_meanwhile<F: Flake>() {
    let flake = F::granted(10, 11);
    let threads = [11, 10].map(|now_ms| {
        let flake = Arc::clone(&flake);
        spawn(move || flake.all(&[now_ms]))
    });
    flake.grant(11, 12);
    let mut ids = flake.all(&[11]);
    for thread in threads {
        ids.extend(join(thread));
    }
    distinct(&ids);
    assert!(ids.iter().all(|id| (20..24).contains(id)), "outside the spans: {ids:?}");
    assert!(ids.contains(&22), "the extended span was not used: {ids:?}");
}

/// Claim: where the next span begins above the end of the last, nobody gets an id of the gap between, at whatever moment
/// it is granted. (A sealed one is granted in `sealed_stays_sealed`.)
fn no_id_of_a_gap<F: Flake>() {
    let flake = F::granted(10, 11);
    let threads = [12, 13].map(|now_ms| {
        let flake = Arc::clone(&flake);
        spawn(move || flake.all(&[now_ms]))
    });
    flake.grant(13, 14);
    let mut ids = flake.all(&[12]);
    for thread in threads {
        ids.extend(join(thread));
    }
    distinct(&ids);
    assert!(ids.iter().all(|id| [20, 21, 26, 27].contains(id)), "outside the spans: {ids:?}");
}

/// Claim: threads that read the clock, slept, and then step, at readings of three ages, get ids that are distinct and
/// increase in each thread; the lead is at most one tick for each tick that was read.
fn old_readings<F: Flake>() {
    let flake = F::granted(8, 20);
    let threads = [vec![10], vec![12, 12]].map(|readings| {
        let flake = Arc::clone(&flake);
        spawn(move || flake.all(&readings))
    });
    let mut ids = flake.all(&[11]);
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
fn one_tick_on_for_one_of_the_clock<F: Flake>() {
    let flake = F::granted(12, 20);
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
fn close_against_next<F: Flake>() {
    let flake = F::granted(10, 13);
    let one = {
        let flake = Arc::clone(&flake);
        spawn(move || flake.all(&[10, 11]))
    };
    let other = {
        let flake = Arc::clone(&flake);
        spawn(move || {
            let mut ids: Vec<i64> = flake.reserve(10, 2).into_iter().flat_map(ids_of).collect();
            ids.extend(flake.all(&[12]));
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

/// Claim: a span that comes while the generator is closed, beyond a gap, opens it for nobody, and the end stays exact.
fn sealed_stays_sealed<F: Flake>() {
    let flake = F::granted(10, 11);
    let granting = {
        let flake = Arc::clone(&flake);
        spawn(move || flake.grant(13, 14))
    };
    let next = {
        let flake = Arc::clone(&flake);
        spawn(move || flake.all(&[10, 13]))
    };
    let end = flake.seal().expect("the first seal");
    assert_eq!(flake.next(13), Err(Action::Sealed), "an id after the close");
    let ids = join(next);
    join(granting);
    assert!(ids.iter().all(|id| (*id as u64) < end * 2), "an id above the end {end}: {ids:?}");
    assert_eq!(flake.next(13), Err(Action::Sealed), "an id after the close");
}

/// Claim: three threads that borrow ticks, by one and by many, share no id, and each one's increase.
fn borrowed_ticks<F: Flake>() {
    let flake = F::with_rules(10, 14, OnExhausted::Borrow);
    let threads = [3, 1].map(|most| {
        let flake = Arc::clone(&flake);
        spawn(move || flake.reserve(10, most).into_iter().flat_map(ids_of).collect::<Vec<_>>())
    });
    let mut ids = flake.all(&[10, 10]);
    ascending(&ids);
    for thread in threads {
        let theirs = join(thread);
        ascending(&theirs);
        ids.extend(theirs);
    }
    distinct(&ids);
    assert!(ids.iter().all(|id| (20..28).contains(id)), "outside the span: {ids:?}");
}

type Sound = crate::snowflake::generator::Snowflake;

#[test]
fn three_threads_share_the_last_ids_of_a_span() {
    holds(&[], three_over_the_end_of_a_span::<Sound>);
}

#[test]
fn a_span_is_extended_meanwhile() {
    holds(&[], extended_meanwhile::<Sound>);
}

#[test]
fn no_step_lands_in_a_gap_between_spans() {
    holds(&[], no_id_of_a_gap::<Sound>);
}

#[test]
fn an_old_reading_of_the_clock_moves_nothing_back() {
    holds(&[], old_readings::<Sound>);
}

#[test]
fn the_lead_does_not_grow() {
    holds(&[], one_tick_on_for_one_of_the_clock::<Sound>);
}

#[test]
fn a_close_is_exact() {
    holds(&[], close_against_next::<Sound>);
}

#[test]
fn a_late_span_opens_nothing() {
    holds(&[], sealed_stays_sealed::<Sound>);
}

#[test]
fn borrowed_ticks_are_shared() {
    holds(&[], borrowed_ticks::<Sound>);
}

#[test]
fn must_fail_a_state_of_one_bit() {
    type OneBit = mutants::one_bit_state::Snowflake;
    breaks("an id came twice", three_over_the_end_of_a_span::<OneBit>);
    breaks("an id came twice", extended_meanwhile::<OneBit>);
    breaks("driven away", old_readings::<OneBit>);
}

#[test]
fn must_fail_close_against_next_with_a_state_of_one_bit() {
    type OneBit = mutants::one_bit_state::Snowflake;
    breaks("the end is not exact", close_against_next::<OneBit>);
    breaks("an id after the close", sealed_stays_sealed::<OneBit>);
}

#[test]
fn must_fail_a_mark_that_is_read_and_then_sealed() {
    breaks("an id after the close", close_against_next::<mutants::mark_in_two_steps::Snowflake>);
}

#[test]
fn must_fail_a_bound_that_is_raised_before_the_gap_is_left_out() {
    breaks("outside the spans", no_id_of_a_gap::<mutants::bound_before_the_gap::Snowflake>);
}

#[test]
fn must_fail_a_grant_that_undoes_the_seal() {
    breaks("an id after the close", sealed_stays_sealed::<mutants::grant_undoes_the_seal::Snowflake>);
}

#[test]
fn must_fail_a_clock_that_moves_back() {
    breaks("ids do not increase", old_readings::<mutants::clock_goes_back::Snowflake>);
}

#[test]
fn must_fail_a_pace_that_is_not_compared() {
    breaks("the lead grew", one_tick_on_for_one_of_the_clock::<mutants::pace_not_compared::Snowflake>);
}

#[test]
fn must_fail_a_step_beyond_the_span() {
    breaks("not the ids of the span", three_over_the_end_of_a_span::<mutants::outside_the_span::Snowflake>);
}
