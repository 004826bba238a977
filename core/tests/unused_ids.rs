//! The unused ids of a clean close: they are stored in the mark's file, bound to it, and used once.

use crate::common::mark_file::{ID, MarkFile, NOW_MS, accept, closed, keep, key, segment, take, take_in};
use leafid_core::Code;
use leafid_core::call::{FileAdvice, Level};
use leafid_core::format::unused::{DAY_MS, MachineStart};
use leafid_core::supply::mark_update::MarkUpdate;

#[test]
fn stored_ids_are_used_once() {
    let mut file = closed();
    assert_eq!(file.mark(), 101, "they were given");
    let mut update = take();
    file.step(&mut update);
    // They are gone from the file before they are used, so a process that dies here has used them up.
    assert_eq!(file.clone().segments(take()), Ok(vec![]));
    assert_eq!(update.clone().end().into_segments().unwrap_err().code(), Code::Internal);
    assert!(!file.step(&mut update));
    assert_eq!(update.end().into_segments().unwrap().0, [segment(61, 101)]);
    assert_eq!((file.segments(take()), file.mark()), (Ok(vec![]), 101));
}

#[test]
fn those_of_several_closes_are_joined_and_a_fetch_in_between_leaves_them() {
    let mut file = closed();
    file.facts.now_ms += 1_000;
    file.segments(accept(101, 101, 201)).unwrap();
    file.segments(keep(&[segment(151, 201)])).unwrap();
    assert_eq!(file.segments(take()), Ok(vec![segment(61, 101), segment(151, 201)]));
    let many: Vec<_> = (0..9).map(|n| segment(1_000 + 10 * n, 1_001 + 10 * n)).collect();
    file.segments(keep(&many)).unwrap();
    assert_eq!(file.segments(take()).unwrap(), many[..8]);
    assert_eq!(file.segments(keep(&[])), Ok(vec![]));
    assert_eq!(file.segments(take()), Ok(vec![]));
}

#[test]
fn stored_ids_are_bound_to_their_file_and_its_last_change() {
    // The file was replaced by a copy that has another inode, but the same times.
    let mut replaced = closed();
    replaced.facts.id = (1, 3);
    assert_eq!(replaced.segments(take()), Ok(vec![]));
    // A copy was written over it after the ids were taken.
    let mut used = closed();
    let copy = used.clone();
    assert_eq!(used.segments(take()), Ok(vec![segment(61, 101)]));
    used.bytes = copy.bytes;
    used.facts.changed_ms += 5_000;
    used.facts.now_ms += 5_000;
    let (mut accepted, mut kept) = (used.clone(), used.clone());
    assert_eq!(used.segments(take()), Ok(vec![]));
    // Neither a fetch nor another close makes them valid again.
    accepted.segments(accept(101, 101, 201)).unwrap();
    assert_eq!(accepted.segments(take()), Ok(vec![]));
    kept.segments(keep(&[segment(90, 101)])).unwrap();
    assert_eq!(kept.segments(take()), Ok(vec![segment(90, 101)]));
    let mut moved = closed();
    moved.facts.id = (1, 3);
    moved.segments(keep(&[segment(90, 101)])).unwrap();
    assert_eq!(moved.segments(take()), Ok(vec![segment(90, 101)]));
}

#[test]
fn stored_ids_are_bound_to_a_start_of_the_machine() {
    let of = |machine: &str, boot: &str| MachineStart { machine: machine.into(), boot: boot.into() };
    for other in [of("this one", "the next start"), of("a clone", "this start")] {
        let mut file = closed();
        let updated = file.update(take_in(other.clone()));
        let text =
            "the stored ids of \"order\" are left out: the machine was restarted since, or is another one";
        assert_eq!(updated.notes(), [(Level::Info, text.to_owned())]);
        assert_eq!(updated.into_segments().unwrap().0, []);
        assert_eq!(file.segments(take()), Ok(vec![]), "they are dropped");
        // Another close does not join them.
        let mut file = closed();
        let rest = vec![segment(90, 101)];
        let keep = MarkUpdate::keep_unused(ID, key(), FileAdvice::StateDir, other.clone(), rest.clone());
        file.segments(keep).unwrap();
        assert_eq!(file.segments(take_in(other)), Ok(rest));
    }
}

#[test]
fn stored_ids_last_a_day_by_a_clock_that_does_not_go_back() {
    for (later_ms, used) in [(-1, false), (0, true), (DAY_MS, true), (DAY_MS + 1, false)] {
        let mut file = closed();
        file.facts.now_ms += later_ms;
        assert_eq!(file.segments(take()).unwrap().len(), usize::from(used), "after {later_ms} ms");
    }
    // Of several closes the first one counts.
    let mut file = closed();
    file.facts.now_ms += 1_000;
    file.segments(keep(&[segment(50, 61)])).unwrap();
    file.facts.now_ms += DAY_MS - 999;
    assert_eq!(file.segments(take()), Ok(vec![]));
}

#[test]
fn stored_ids_are_written_until_the_clocks_of_the_write_agree() {
    for (lags, writes, used) in [
        (vec![], 1, true),
        (vec![-10], 1, true),
        (vec![3], 1, true),
        (vec![-11], 2, true),
        (vec![4, -11, 50, -5_000], 5, true),
        (vec![-20; 5], 5, false),
    ] {
        let mut file = MarkFile::new();
        file.segments(accept(0, 1, 101)).unwrap();
        (file.writes, file.lags, file.write_ms) = (0, lags.clone(), 20);
        file.segments(keep(&[segment(61, 101)])).unwrap();
        assert_eq!(file.writes, writes, "{lags:?}");
        // Each went to the older slot: a torn one leaves the write before.
        let mut numbers = file.numbers();
        numbers.sort_unstable();
        assert_eq!(numbers, [writes as u64 + 1, writes as u64 + 2], "{lags:?}");
        assert_eq!(file.segments(take()).unwrap().len(), usize::from(used), "{lags:?}");
        // A mark without unused ids is written once.
        (file.writes, file.lags) = (0, vec![-20; 5]);
        file.segments(accept(101, 101, 201)).unwrap();
        assert_eq!(file.writes, 1);
    }
}

#[test]
fn stored_ids_beside_a_damaged_slot_are_left_out() {
    let mut file = closed();
    file.segments(take()).unwrap();
    // The slot that says that they were taken.
    file.damage(file.newest_slot());
    file.facts.changed_ms = NOW_MS;
    assert_eq!(file.clone().segments(take()), Ok(vec![]));
    file.segments(accept(101, 101, 201)).unwrap();
    assert_eq!(file.segments(take()), Ok(vec![]));
}
