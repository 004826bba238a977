//! The double buffer: tickets, turn-over, seal.
//!
//! A segment's ids are 100 times its number, and on: 0, 1, 100, 101, 200 … So an id of one segment by the place of another
//! is seen.

use super::run::{holds, holds_within};
use super::{ascending, distinct, join, saw, spawn};
use leafid_core::segment::{Filler, PendingSegments};
use leafid_core::{DoubleBuffer, Run, Segment};
use loom::sync::Mutex;
use std::sync::Arc;

/// Ids, and whether it was said that the next segment is to be fetched.
fn take(buffer: &DoubleBuffer) -> (Vec<i64>, bool) {
    buffer.take().map_or((Vec::new(), false), |(id, wants_fetch)| (vec![id], wants_fetch))
}

fn take_many(buffer: &DoubleBuffer, most: usize) -> (Vec<i64>, bool) {
    buffer.take_many(most).map_or((Vec::new(), false), |(run, wants_fetch)| (ids_of(run), wants_fetch))
}

/// As `take_many`, up to the id that asks for the next fetch, as the runs of threads are.
fn take_part(buffer: &DoubleBuffer, most: usize) -> (Vec<i64>, bool) {
    buffer.take_part(most, 1).map_or((Vec::new(), false), |(run, wants_fetch)| (ids_of(run), wants_fetch))
}

fn offer(buffer: &DoubleBuffer, filler: &mut Filler, segment: Segment) -> bool {
    buffer.offer(filler, segment, 10).is_ok()
}

/// With segments of this many ids, the first ones.
fn filled(lengths: &[i64]) -> (Arc<DoubleBuffer>, Filler) {
    let (buffer, mut filler) = DoubleBuffer::new();
    for (number, length) in lengths.iter().enumerate() {
        assert!(offer(&buffer, &mut filler, segment(number, *length)), "no room for the first ones");
    }
    (Arc::new(buffer), filler)
}

/// What is left, one by one.
fn rest(buffer: &DoubleBuffer) -> Vec<i64> {
    std::iter::from_fn(|| take(buffer).0.pop()).collect()
}

fn segment(number: usize, length: i64) -> Segment {
    let start = 100 * number as i64;
    Segment::new(start, start + length, 1).expect("a segment")
}

fn ids_of(run: Run) -> Vec<i64> {
    (0..run.count as i64).map(|at| run.first + at * run.stride).collect()
}

/// Each id of these segments is there once, and no other.
fn exactly(mut ids: Vec<i64>, segments: &[(usize, i64)]) {
    distinct(&ids);
    let all: Vec<i64> =
        segments.iter().flat_map(|(number, length)| ids_in(segment(*number, *length))).collect();
    ids.sort_unstable();
    assert_eq!(ids, all, "not the ids that were offered");
}

fn ids_in(segment: Segment) -> impl Iterator<Item = i64> {
    (0..segment.len()).filter_map(move |n| segment.id(n))
}

/// Claim: while two others use both slots up and fill both again (two turn-overs), a thread that holds a ticket, however
/// slow, gets an id that no other thread gets, and of its own segment.
///
/// The filler waits for the other taker: loom does not find by itself every moment at which there is room. Every execution
/// with at most two preemptions: all of them took more than the half minute that a model may.
fn slow_over_two_turn_overs() {
    let (buffer, mut filler) = filled(&[1, 1]);
    let [slow, other] = [1, 2].map(|takes| {
        let buffer = Arc::clone(&buffer);
        spawn(move || (0..takes).flat_map(|_| take(&buffer).0).collect::<Vec<_>>())
    });
    let mut ids = join(other);
    ascending(&ids);
    let mut offered = vec![(0, 1), (1, 1)];
    for number in [2, 3] {
        if offer(&buffer, &mut filler, segment(number, 1)) {
            offered.push((number, 1));
        }
    }
    saw(if offered.len() == 4 { "two turn-overs" } else { "no room" });
    ids.extend(join(slow));
    ids.extend(rest(&buffer));
    exactly(ids, &offered);
}

/// Claim: a thread gets an id if there were ids all the time, although both slots were filled again since it read its
/// ticket. At most two preemptions, as above.
fn found_over_two_turn_overs(one: fn(&DoubleBuffer) -> Vec<i64>) {
    let (buffer, mut filler) = filled(&[2, 2]);
    let mut ids = take(&buffer).0;
    let taker = {
        let buffer = Arc::clone(&buffer);
        spawn(move || one(&buffer))
    };
    for number in [2, 3] {
        ids.extend(take_many(&buffer, 2).0);
        assert!(offer(&buffer, &mut filler, segment(number, 2)), "no room");
    }
    let theirs = join(taker);
    assert_eq!(theirs.len(), 1, "there were ids all the time");
    ids.extend(theirs);
    ids.extend(rest(&buffer));
    exactly(ids, &[(0, 2), (1, 2), (2, 2), (3, 2)]);
}

/// Claim: who takes while the first segment is being offered sees it whole or not at all.
fn first_segment() {
    let (buffer, mut filler) = filled(&[]);
    let threads = [(); 2].map(|()| {
        let buffer = Arc::clone(&buffer);
        spawn(move || take(&buffer).0)
    });
    // Number 1: id 0 is what a slot that was never filled would give.
    assert!(offer(&buffer, &mut filler, segment(1, 2)), "no room");
    let mut ids = Vec::new();
    threads.into_iter().for_each(|thread| ids.extend(join(thread)));
    ids.extend(rest(&buffer));
    exactly(ids, &[(1, 2)]);
}

/// Claim: runs of several ids, taken while the slot before theirs is filled again, are of one segment, and each id is in one
/// of them; that the next fetch is due is said once for each segment. At most two preemptions, as above.
fn many_against_turn_over() {
    let (buffer, mut filler) = filled(&[2, 2]);
    let (mut ids, wants) = take_many(&buffer, 2);
    let mut said = usize::from(wants);
    let threads = [take_many, take_part].map(|takes| {
        let buffer = Arc::clone(&buffer);
        spawn(move || takes(&buffer, 3))
    });
    assert!(offer(&buffer, &mut filler, segment(2, 2)), "no room");
    for (theirs, wants) in threads.map(join) {
        ascending(&theirs);
        ids.extend(theirs);
        said += usize::from(wants);
    }
    while let (mut more, wants) = take(&buffer)
        && let Some(id) = more.pop()
    {
        ids.push(id);
        said += usize::from(wants);
    }
    assert_eq!(said, 3, "how often a fetch was asked for");
    exactly(ids, &[(0, 2), (1, 2), (2, 2)]);
}

/// Claim: a segment is refused while ids of both slots may still be taken, and then none of them is lost.
fn no_room() {
    let (buffer, mut filler) = filled(&[2, 2]);
    let threads = [(); 2].map(|()| {
        let buffer = Arc::clone(&buffer);
        spawn(move || take(&buffer).0)
    });
    let mut offered = vec![(0, 2), (1, 2)];
    if offer(&buffer, &mut filler, segment(2, 2)) {
        offered.push((2, 2));
    }
    let mut ids = threads.map(join).concat();
    ids.extend(rest(&buffer));
    exactly(ids, &offered);
}

/// Claim: a close in the midst of takes, of one and of several, answers exactly the ids left, and none of these
/// is taken, then or later; also when the slot of a segment that was used up is filled again just before. At most two
/// preemptions, as above.
fn close_against_take() {
    let (buffer, mut filler) = filled(&[1, 2]);
    let mut ids = take(&buffer).0;
    let one = {
        let buffer = Arc::clone(&buffer);
        spawn(move || take(&buffer).0)
    };
    let other = {
        let buffer = Arc::clone(&buffer);
        spawn(move || take_many(&buffer, 2).0)
    };
    assert!(offer(&buffer, &mut filler, segment(2, 1)), "no room");
    let rest = buffer.seal(&filler);
    saw(if rest.is_empty() { "nothing was left" } else { "something was left" });
    ids.extend(rest.into_iter().flat_map(ids_in));
    assert!(take(&buffer).0.is_empty(), "an id after the close");
    ids.extend(join(one));
    ids.extend(join(other));
    exactly(ids, &[(0, 1), (1, 2), (2, 1)]);
    assert!(take(&buffer).0.is_empty() && buffer.seal(&filler).is_empty(), "it is closed");
}

/// Claim: what a thread took and puts back, by the host's queue and under its lock, is issued once, by whoever takes it
/// then, and what it kept is issued by no other. At most three preemptions, as above.
fn put_back() {
    let (buffer, filler) = filled(&[2]);
    let state = Arc::new(Mutex::new((filler, PendingSegments::new())));
    let taker = {
        let buffer = Arc::clone(&buffer);
        spawn(move || take(&buffer).0)
    };
    let putter = {
        let (buffer, state) = (Arc::clone(&buffer), Arc::clone(&state));
        spawn(move || {
            let mut ids = take_many(&buffer, 2).0;
            let Some(last) = ids.pop() else { return ids };
            let mut state = state.lock().expect("no panic");
            let (filler, pending) = &mut *state;
            pending.push_front(Segment::new(last, last + 1, 1).expect("a segment"));
            while let Some(segment) = pending.first(u64::MAX)
                && offer(&buffer, filler, segment)
            {
                pending.drop_first(segment.len());
                saw("put back");
            }
            ids
        })
    };
    let mut ids = take(&buffer).0;
    ids.extend(join(taker));
    ids.extend(join(putter));
    ids.extend(rest(&buffer));
    exactly(ids, &[(0, 2)]);
}

#[test]
fn a_slow_thread_over_two_turn_overs() {
    holds_within(Some(2), &["two turn-overs"], slow_over_two_turn_overs);
}

#[test]
fn an_id_is_found_over_two_turn_overs() {
    holds_within(Some(2), &[], || found_over_two_turn_overs(|buffer| take(buffer).0));
    holds_within(Some(2), &[], || found_over_two_turn_overs(|buffer| take_many(buffer, 1).0));
}

#[test]
fn the_first_segment_is_seen_whole() {
    holds(&[], first_segment);
}

#[test]
fn runs_are_of_one_segment_while_it_turns_over() {
    holds_within(Some(2), &[], many_against_turn_over);
}

#[test]
fn a_segment_waits_for_room() {
    holds(&[], no_room);
}

#[test]
fn a_close_leaves_exactly_the_rest() {
    holds_within(Some(2), &["nothing was left", "something was left"], close_against_take);
}

#[test]
fn what_is_put_back_is_issued_once() {
    holds_within(Some(3), &["put back"], put_back);
}
