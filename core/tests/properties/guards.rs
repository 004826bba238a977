//! The guard, beside a list of all that it accepted.

use crate::cases::holds;
use leafid_core::segment::Guard;
use leafid_core::{Code, IdOrder, Segment};
use proptest::prelude::*;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
enum Operation {
    /// From the mark, so far up or down.
    Near(i64, i64, i64, i64),
    /// Anywhere.
    At(i64, i64, i64, i64),
    /// Where one that was accepted ended, or began.
    Again(usize, bool, i64),
    /// What was stored is all that is known.
    Restart,
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let (length, stride, late) = (1..60i64, prop_oneof![3 => Just(1i64), 2 => 1..5i64], 0..300i64);
    let operation = prop_oneof![
        6 => (-20..40i64, length.clone(), stride.clone(), late.clone()).prop_map(|(n, l, s, a)| Operation::Near(n, l, s, a)),
        3 => (0..3_000i64, length.clone(), stride.clone(), late.clone()).prop_map(|(n, l, s, a)| Operation::At(n, l, s, a)),
        1 => (0..i64::MAX, 1..i64::MAX, 1..i64::MAX, late).prop_map(|(n, l, s, a)| Operation::At(n, l, s, a)),
        4 => (any::<prop::sample::Index>(), any::<bool>(), length).prop_map(|(i, e, l)| Operation::Again(i.index(1 << 20), e, l)),
        1 => Just(Operation::Restart),
    ];
    prop::collection::vec(operation, 1..120)
}

fn order() -> impl Strategy<Value = IdOrder> {
    prop_oneof![Just(IdOrder::Ascending), Just(IdOrder::Ranges), Just(IdOrder::Sparse)]
}

/// The contract's words: the same residue modulo the gcd of the strides, and crossing spans.
fn cross(one: &Segment, other: &Segment) -> bool {
    let gcd = |mut a: i64, mut b: i64| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let residue = gcd(one.stride(), other.stride());
    one.start() <= other.last()
        && other.start() <= one.last()
        && one.start() % residue == other.start() % residue
}

/// Whether an id is in both; for segments that are not too long, found by looking at each.
fn shares_an_id(one: &Segment, other: &Segment) -> bool {
    let short = if one.len() < other.len() { one } else { other };
    let long = if one.len() < other.len() { other } else { one };
    (0..short.len().min(10_000))
        .filter_map(|n| short.id(n))
        .any(|id| (long.start()..=long.last()).contains(&id) && (id - long.start()) % long.stride() == 0)
}

#[test]
fn no_id_is_accepted_twice_and_nothing_is_refused_without_a_reason() {
    let most = prop_oneof![1..=8usize, Just(32), Just(1_024)];
    holds(3_000, (order(), most, operations()), |(order, most, operations)| {
        let mut guard = Guard::resume(order, 0, Vec::new(), most);
        let mut accepted: Vec<Segment> = Vec::new();
        for operation in operations {
            let (start, length, stride, late) = match operation {
                Operation::Restart => {
                    guard = Guard::resume(order, guard.mark(), guard.spans().to_vec(), most);
                    continue;
                }
                Operation::Near(offset, length, stride, late) => {
                    (guard.mark().saturating_add(offset), length, stride, late)
                }
                Operation::At(start, length, stride, late) => (start, length, stride, late),
                Operation::Again(which, end, length) => match accepted.len() {
                    0 => continue,
                    n => {
                        let before = accepted[which % n];
                        (if end { before.end() - 1 } else { before.start() }, length, before.stride(), 0)
                    }
                },
            };
            let Ok(segment) = Segment::new(start, start.saturating_add(length), stride) else { continue };
            // Asked when the mark was lower.
            let after = (guard.mark() - late).max(0);
            let before = guard.clone();
            let offered = guard.offer(segment, after);
            let below = order == IdOrder::Ascending && segment.start() < after;
            // All that still counts: what is scattered is forgotten in the end.
            let known = match order {
                IdOrder::Sparse => accepted.len().saturating_sub(most),
                _ => 0,
            };
            match offered {
                Ok(()) => {
                    let (mark, end) = (before.mark(), segment.end());
                    let last = order == IdOrder::Ascending || end > i64::MAX - (1 << 48);
                    prop_assert!(mark == 0 || !last || end - mark <= 1 << 48, "{:?} at {}", segment, mark);
                    prop_assert!(!below, "{:?} below {}", segment, after);
                    for other in &accepted[known..] {
                        prop_assert!(!shares_an_id(other, &segment), "{:?} after {:?}", segment, other);
                    }
                    accepted.push(segment);
                }
                Err(error) => {
                    prop_assert_eq!(&guard, &before, "one that is refused changes nothing");
                    if error.code() == Code::SourceInvalid {
                        let leapt = guard.mark() > 0 && segment.end() - guard.mark() > 1 << 48;
                        prop_assert!(leapt, "{:?} was refused: {}", segment, error);
                        continue;
                    }
                    prop_assert_eq!(error.code(), Code::SegmentRegressed);
                    // Unless two had to be joined, there is one that it crosses.
                    if order == IdOrder::Sparse || accepted.len() <= most {
                        let crossed = accepted.iter().any(|other| cross(other, &segment));
                        prop_assert!(below || crossed, "{:?} was refused: {}", segment, error);
                    }
                }
            }
            prop_assert!(guard.spans().len() <= most);
            let highest = accepted.iter().map(Segment::end).max().unwrap_or(0);
            prop_assert_eq!(guard.mark(), highest);
        }
        Ok(())
    });
}

#[test]
fn counters_that_go_up_are_never_refused_however_they_are_cut() {
    // Several counters apart, each of which goes up by pieces; remembered one by one.
    let cuts = prop::collection::vec((0..6usize, 1..2_000i64), 1..200);
    holds(500, cuts, |cuts| {
        let mut guard = Guard::new(IdOrder::Ranges);
        let mut next: BTreeMap<usize, i64> = BTreeMap::new();
        for (counter, length) in cuts {
            let start = *next.entry(counter).or_insert(counter as i64 * 1_000_000);
            let segment = Segment::new(start, start + length, 1).unwrap();
            prop_assert_eq!(guard.offer(segment, guard.mark()).map_err(|error| error.to_string()), Ok(()));
            next.insert(counter, start + length);
        }
        prop_assert!(guard.spans().len() <= next.len(), "each counter is one span");
        Ok(())
    });
}
