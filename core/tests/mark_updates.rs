//! The marks of tags as a host reads and changes them: what a source gave before is durable before any id is used.

use crate::common::mark_file::{
    self, ID, MarkFile, NOW_MS, PATH, accept, accept_of, closed, keep, key, segment, start, take,
};
use leafid_core::call::{FileAdvice, IoFailure, Level, SharedFailure};
use leafid_core::format::file_steps::FileFacts;
use leafid_core::format::two_slots::{FILE_BYTES, SLOT_BYTES};
use leafid_core::format::unused::{DAY_MS, MachineStart};
use leafid_core::supply::mark_read::{MarkKey, MarkList, MarkRead};
use leafid_core::supply::mark_update::MarkUpdate;
use leafid_core::supply::memory_mark::MemoryMark;
use leafid_core::{Code, Error, IdOrder, Result, Segment};
use std::path::Path;

fn codes(updated: &[Result<Vec<Segment>>]) -> Vec<Code> {
    updated.iter().map(|result| result.as_ref().unwrap_err().code()).collect()
}

#[test]
fn what_was_given_is_refused_to_all_others_of_the_directory() {
    let mut file = MarkFile::new();
    assert_eq!(file.mark(), 0);
    assert_eq!(file.segments(accept(0, 1, 1_001)), Ok(vec![segment(1, 1_001)]));
    assert_eq!((file.mark(), file.names), (1_001, 1), "the name of a new file is durable too");
    let before = file.bytes.clone();
    let refused = [accept(1_001, 1, 1_001), accept(0, 500, 1_500)].map(|update| file.segments(update));
    assert_eq!(codes(&refused), [Code::SegmentRegressed; 2]);
    assert_eq!(file.bytes, before, "a refusal changes nothing");
    // Both have asked after 1001, and get their responses in the other order.
    file.segments(accept(1_001, 2_001, 3_001)).unwrap();
    file.segments(accept(1_001, 1_001, 2_001)).unwrap();
    assert_eq!((file.mark(), file.names), (3_001, 1));
    // Of several segments those that were given before are left out.
    let both = [segment(2_500, 3_500), segment(4_000, 5_000)];
    let (segments, refused) = file.update(accept_of(IdOrder::Ascending, 0, &both)).into_segments().unwrap();
    assert_eq!(segments, [both[1]]);
    assert_eq!(refused.unwrap().code(), Code::SegmentRegressed);
}

#[test]
fn a_torn_write_and_a_lost_slot_leave_the_mark_before() {
    let mut file = MarkFile::new();
    file.segments(accept(0, 1, 101)).unwrap();
    let mut update = accept(101, 101, 201);
    let mut torn = file.clone();
    torn.step(&mut update);
    let (slot, old) = (torn.newest_slot() * SLOT_BYTES, file.bytes.clone().unwrap());
    torn.bytes.as_mut().unwrap()[slot + 100..slot + SLOT_BYTES]
        .copy_from_slice(&old[slot + 100..][..SLOT_BYTES - 100]);
    drop(update);
    assert_eq!(torn.mark(), 101);
    let updated = torn.update(accept(101, 101, 201));
    let text = "one slot of /marks/m is damaged; the other one is used, and may not know the last segment";
    assert_eq!(updated.notes(), [(Level::Warn, text.to_owned())]);
    updated.into_segments().unwrap();
    assert_eq!(torn.mark(), 201);
    // Of the newest slot that was damaged later, nothing is known.
    torn.damage(torn.newest_slot());
    assert_eq!(torn.mark(), 101);
    torn.segments(accept(201, 201, 301)).unwrap();
    assert_eq!(torn.segments(accept(0, 50, 60)).unwrap_err().code(), Code::SegmentRegressed);
}

#[test]
fn the_mark_of_another_tag_or_source_and_a_damaged_file_are_refused_and_left_alone() {
    let mut file = closed();
    file.update(accept(101, 101, 201)).into_segments().unwrap();
    for other in
        [MarkKey { tag: "invoice".into(), ..key() }, MarkKey { source: "range:http://b".into(), ..key() }]
    {
        let read =
            MarkRead::new(ID, other.clone(), Some(FileAdvice::StateDir)).end(file.bytes.as_deref(), PATH);
        let error = read.into_result().unwrap_err();
        assert_eq!(error.code(), Code::StateCorrupt);
        assert!(
            error.message().starts_with("/marks/m is the mark of tag \"order\" of range:http://a, not"),
            "{error}"
        );
        let before = file.bytes.clone();
        let updates = [
            MarkUpdate::accept(
                ID,
                other.clone(),
                Some(FileAdvice::StateDir),
                IdOrder::Ranges,
                0,
                vec![segment(1_000, 1_001)],
            ),
            MarkUpdate::take_unused(ID, other.clone(), FileAdvice::StateDir, start()),
            MarkUpdate::keep_unused(ID, other, FileAdvice::StateDir, start(), vec![segment(1, 2)]),
        ]
        .map(|update| file.segments(update));
        assert_eq!(codes(&updates), [Code::StateCorrupt; 3]);
        assert_eq!(file.bytes, before);
    }
    file.damage(0);
    file.damage(1);
    let read = MarkRead::new(ID, key(), Some(FileAdvice::StateDir)).end(file.bytes.as_deref(), PATH);
    assert_eq!(read.into_result().unwrap_err().code(), Code::StateCorrupt);
    assert_eq!(file.segments(accept(0, 1_000, 1_001)).unwrap_err().code(), Code::StateCorrupt);
    assert_eq!(file.segments(take()).unwrap_err().code(), Code::StateCorrupt);
}

#[test]
fn of_ids_in_no_order_the_process_remembers_more() {
    let sparse = |start, end| accept_of(IdOrder::Sparse, 0, &[segment(start, end)]);
    let mut file = MarkFile::new();
    assert!(sparse(1, 2).needs_memory() && !accept(0, 1, 2).needs_memory() && !take().needs_memory());
    let error = file.segments(sparse(1, 2)).unwrap_err();
    assert_eq!((error.code(), file.mark()), (Code::Internal, 0), "it was not recalled");
    let mut memory = MemoryMark::new(IdOrder::Sparse);
    let mut recalled = |file: &mut MarkFile, mut update: MarkUpdate| {
        update.recall(&mut memory);
        file.update(update).into_segments()
    };
    recalled(&mut file, sparse(1, 2)).unwrap();
    // The store was cleared.
    file.bytes = None;
    assert_eq!(recalled(&mut file, sparse(1, 2)).unwrap_err().code(), Code::SegmentRegressed);
    let two = accept_of(IdOrder::Sparse, 0, &[segment(1, 2), segment(5, 6)]);
    let (segments, refused) = recalled(&mut file, two).unwrap();
    assert_eq!((segments, refused.unwrap().code()), (vec![segment(5, 6)], Code::SegmentRegressed));
    // What another process was given, only the file knows.
    let mut other = MemoryMark::new(IdOrder::Sparse);
    let mut update = sparse(5, 6);
    update.recall(&mut other);
    assert_eq!(file.segments(update).unwrap_err().code(), Code::SegmentRegressed);
}

#[test]
fn steps_that_a_store_undid_begin_again() {
    let mut file = MarkFile::new();
    file.segments(accept(0, 1, 101)).unwrap();
    let mut again = |mut update: MarkUpdate, before: &dyn Fn(&mut MarkFile)| {
        let mut undone = file.clone();
        while undone.step(&mut update) {}
        before(&mut file);
        update.begin_again();
        while file.step(&mut update) {}
        update.end().into_segments()
    };
    assert_eq!(again(accept(101, 101, 201), &|_| ()).unwrap().0, [segment(101, 201)]);
    // Another process came in between.
    let other = |file: &mut MarkFile| drop(file.segments(accept(201, 201, 301)).unwrap());
    assert_eq!(again(accept(201, 201, 301), &other).unwrap_err().code(), Code::SegmentRegressed);
    // What this process remembers was no step.
    let mut memory = MemoryMark::new(IdOrder::Sparse);
    let mut recalled = || {
        let mut update = accept_of(IdOrder::Sparse, 0, &[segment(401, 402)]);
        update.recall(&mut memory);
        update
    };
    recalled();
    assert_eq!(again(recalled(), &|_| ()).unwrap_err().code(), Code::SegmentRegressed);
}

#[test]
fn without_a_store_the_process_remembers() {
    let mut memory = MemoryMark::new(IdOrder::Ascending);
    let read = || MarkRead::new(ID, key(), None);
    let accept = |after, start, end| {
        MarkUpdate::accept(ID, key(), None, IdOrder::Ascending, after, vec![segment(start, end)])
    };
    assert_eq!(read().end_in_memory(None).into_result(), Ok(0));
    accept(0, 1, 1_001).end_in_memory(&mut memory).into_segments().unwrap();
    assert_eq!(read().end_in_memory(Some(&memory)).into_result(), Ok(1_001));
    let error = accept(1_001, 1_000, 2_000).end_in_memory(&mut memory).into_segments().unwrap_err();
    assert_eq!(error.code(), Code::SegmentRegressed);
    for update in [keep(&[segment(500, 501)]), take(), mark_file::accept(0, 5_000, 5_001)] {
        let error = update.end_in_memory(&mut memory).into_segments().unwrap_err();
        assert_eq!((error.code(), memory.mark()), (Code::Internal, 1_001), "it is of a file");
    }
    let failed = accept(0, 5_000, 5_001).failed(PATH, &SharedFailure::Locked).into_segments();
    let in_file = MarkFile::new().segments(accept(0, 5_000, 5_001));
    assert_eq!([failed.unwrap_err().code(), in_file.unwrap_err().code()], [Code::Internal; 2]);
    assert_eq!(read().failed(PATH, &SharedFailure::Locked).into_result().unwrap_err().code(), Code::Internal);
}

fn accept_of_key(key: &MarkKey) -> MarkUpdate {
    let segments = vec![segment(1, 2)];
    MarkUpdate::accept(ID, key.clone(), Some(FileAdvice::StateDir), IdOrder::Ascending, 0, segments)
}

#[test]
fn the_tags_of_a_day_are_listed_and_the_latest_is_the_first() {
    let of = |tag: &str, fetched_ms| {
        let key = MarkKey { tag: tag.into(), ..key() };
        let mut file = MarkFile::new();
        file.facts.now_ms = fetched_ms;
        file.update(accept_of_key(&key)).into_segments().unwrap();
        (key.file_name(), file.bytes.unwrap())
    };
    let mut list = MarkList::new(ID, key().source, FileAdvice::StateDir);
    let long = "é".repeat(64);
    let mut files = vec![
        of("b", NOW_MS - 5),
        of("a", NOW_MS - 5),
        of(&long, NOW_MS),
        of("old", NOW_MS - DAY_MS - 1),
        of("ahead", NOW_MS + DAY_MS),
        of("far ahead", NOW_MS + DAY_MS + 1),
        (key().file_name(), vec![0; FILE_BYTES]),
    ];
    // The file of another source, and one under the name of another tag.
    let other = MarkKey { source: "range:http://b".into(), tag: "c".into() };
    files.push((other.file_name(), files[0].1.clone()));
    files.push((MarkKey { tag: "d".into(), ..key() }.file_name(), files[0].1.clone()));
    let update = accept_of_key(&MarkKey { tag: "e".into(), ..other.clone() });
    let mut foreign = MarkFile::new();
    foreign.update(update).into_segments().unwrap();
    files.push((MarkKey { tag: "e".into(), ..key() }.file_name(), foreign.bytes.unwrap()));
    for (name, bytes) in &files {
        assert!(name.starts_with(&list.prefix()) || *name == other.file_name());
        list.add(name, bytes);
    }
    assert_eq!(list.end(NOW_MS).into_result().unwrap(), ["ahead", &*long, "a", "b"]);
    let mut list = MarkList::new(ID, key().source, FileAdvice::StateDir);
    for n in 0..1_001 {
        let (name, bytes) = of(&n.to_string(), NOW_MS - n);
        list.add(&name, &bytes);
    }
    let listed = list.end(NOW_MS).into_result().unwrap();
    assert_eq!((listed.len(), &*listed[999]), (1_000, "999"));
    let list = MarkList::new(ID, key().source, FileAdvice::StateDir);
    let error = list.failed("/marks", &IoFailure::other("no")).into_result().unwrap_err();
    assert!(error.message().starts_with("cannot read /marks: no; see that the directory"), "{error}");
}

#[test]
fn each_failure_of_a_shared_file_says_what_to_do() {
    let of = |failure: SharedFailure| failure.error("/d/f", FileAdvice::StateDir).to_string();
    for (failure, text) in [
        (
            SharedFailure::Locked,
            "segment_unavailable: /d/f was locked by others for 2000 ms; try again, and see what holds it that long",
        ),
        (
            SharedFailure::Replaced,
            "state_io: cannot write /d/f: it was deleted, moved or replaced meanwhile; see that the directory is there \
             and the disk works, or set state_dir elsewhere",
        ),
        (
            SharedFailure::Chrooted,
            "state_io: /d/f was opened before this process changed its root (chroot), and is not where that path leads \
             now; open after the chroot, with a state_dir inside of it",
        ),
    ] {
        assert_eq!(of(failure), text);
    }
    let refused = MarkRead::new(ID, key(), Some(FileAdvice::StateDir)).failed(PATH, &SharedFailure::Locked);
    assert_eq!(refused.into_result().unwrap_err().code(), Code::SegmentUnavailable);
    let error = Error::new(Code::Closed, "x");
    assert_eq!(take().refused(error.clone()).into_segments(), Err(error));
}

/// The files of 0.1.0: tests/vectors/earlier_files/README.md.
#[test]
fn marks_of_an_earlier_version_are_read_and_go_on() {
    for (folder, order, mark, refused, given) in [
        ("earlier-ordered", IdOrder::Ascending, 601, (351, 401), (601, 701)),
        ("earlier-unordered", IdOrder::Ranges, 1_100, (1_050, 1_060), (300, 400)),
    ] {
        let key = MarkKey { source: "callback".into(), tag: "order".into() };
        let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/vectors/earlier_files/state"));
        let bytes = std::fs::read(path.join(folder).join(key.file_name())).unwrap();
        let read = MarkRead::new(ID, key.clone(), Some(FileAdvice::StateDir)).end(Some(&bytes), PATH);
        assert_eq!(read.into_result(), Ok(mark));
        let mut file = MarkFile { bytes: Some(bytes), ..MarkFile::new() };
        let update = |(start, end)| {
            let segments = vec![segment(start, end)];
            MarkUpdate::accept(ID, key.clone(), Some(FileAdvice::StateDir), order, 0, segments)
        };
        assert_eq!(file.segments(update(refused)).unwrap_err().code(), Code::SegmentRegressed);
        let start = MachineStart {
            machine: "3d1219c7c4c5404aaa1f6d2a48adfda4".into(),
            boot: "d1957dde-a95f-41ad-b561-cf1a1a3f6df5".into(),
        };
        let facts =
            FileFacts { id: (65_024, 10_494_100), changed_ms: 1_795_441_930_330, now_ms: 1_795_441_931_000 };
        let take = MarkUpdate::take_unused(ID, key.clone(), FileAdvice::StateDir, start);
        let unused = MarkFile { facts, ..file.clone() }.segments(take).unwrap();
        assert_eq!(unused, if folder == "earlier-ordered" { vec![segment(351, 401)] } else { vec![] });
        file.segments(update(given)).unwrap();
    }
}
