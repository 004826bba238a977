//! Tests of marks on a real disk. `simulation/cluster/` simulates their crashes.

pub(crate) mod of_source;

use super::*;
use crate::storage::shared_file;
use leafid_core::{Code, IdOrder, Segment};
use of_source::MarksOfSource;
use std::fs;

/// What an action returns when it has its turn at a file. On a slow machine others may have theirs for longer than it
/// waits.
pub(crate) fn in_turn<T>(mut action: impl FnMut() -> Result<T>) -> T {
    loop {
        match action() {
            Err(error) if error.message().contains("was locked by others") => continue,
            ended => return ended.unwrap(),
        }
    }
}

fn segment(start: i64, end: i64) -> Segment {
    Segment::new(start, end, 1).unwrap()
}

/// The marks as another process of the directory sees them.
fn marks(directory: &Path) -> MarksOfSource {
    marks_in(Env::dated(0), directory)
}

fn marks_in(env: Env, directory: &Path) -> MarksOfSource {
    MarksOfSource::new(Arc::new(env), Some(directory), "range:http://a", IdOrder::Ascending, false)
        .unwrap()
        .on_machine("this one")
}

/// The only mark file of a directory.
fn file_of(directory: &Path) -> PathBuf {
    fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).next().unwrap()
}

fn damage(path: &Path, slot: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[slot * 4096 + 30] ^= 1;
    fs::write(path, bytes).unwrap();
}

/// The slot of the last write.
fn newest_slot(path: &Path) -> usize {
    let bytes = fs::read(path).unwrap();
    let number = |slot: &[u8]| {
        let json: serde_json::Value = serde_json::from_slice(slot).unwrap();
        json["number"].as_u64().unwrap()
    };
    usize::from(number(&bytes[4096..]) > number(&bytes[..4096]))
}

#[test]
fn without_a_directory_the_process_remembers() {
    let new = || {
        MarksOfSource::new(Arc::new(Env::system()), None, "callback in memory", IdOrder::Ranges, false)
            .unwrap()
    };
    let (one, other) = (new(), new());
    one.accept("order", &[segment(1, 1_001)], 0).unwrap();
    assert_eq!(other.after("order").unwrap(), 1_001);
    let error = other.accept("order", &[segment(1_000, 2_000)], 1_001).unwrap_err();
    assert_eq!(error.code(), Code::SegmentRegressed, "{error}");
    other.accept("order", &[segment(5_000, 6_000)], 1_001).unwrap();
    one.accept("order", &[segment(3_000, 4_000)], 6_000).unwrap();
    one.keep_unused("order", &[segment(3_500, 4_000)]).unwrap();
    assert_eq!((one.take_unused("order").unwrap(), one.recent().unwrap()), (vec![], vec![]));
    #[cfg(unix)]
    {
        let begins_with_none = crate::os::child::in_child(|| {
            other.after("order").unwrap() == 0 && other.accept("order", &[segment(7, 8)], 0).is_ok()
        });
        assert!(begins_with_none());
    }
    assert_eq!(other.after("order").unwrap(), 6_000);
}

#[test]
fn a_damaged_or_foreign_file_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let marks = marks(dir.path());
    marks.accept("order", &[segment(1, 1_001)], 0).unwrap();
    let path = file_of(dir.path());
    let good = fs::read(&path).unwrap();
    let mut both = good.clone();
    both[30] ^= 1;
    both[4096 + 30] ^= 1;
    for (bytes, says) in [
        (both, "damaged in both slots"),
        (b"hello".to_vec(), "5 bytes instead of 8192"),
        (vec![], "0 bytes"),
        ([&good[..], b"x"].concat(), "more bytes instead of"),
    ] {
        fs::write(&path, &bytes).unwrap();
        for error in [
            marks.after("order").unwrap_err(),
            marks.accept("order", &[segment(2_000, 3_000)], 0).unwrap_err(),
            marks.take_unused("order").unwrap_err(),
        ] {
            assert_eq!(error.code(), Code::StateCorrupt);
            assert!(
                error.message().contains(says) && error.message().contains("nothing was changed"),
                "{error}"
            );
        }
        assert_eq!(fs::read(&path).unwrap(), bytes, "never overwritten");
    }
    // The file of another tag replaces it.
    fs::write(&path, &good).unwrap();
    marks.accept("invoice", &[segment(1, 2)], 0).unwrap();
    let invoice = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
    let invoice = invoice.into_iter().find(|other| *other != path).unwrap();
    fs::copy(&invoice, &path).unwrap();
    let error = marks.after("order").unwrap_err();
    assert!(error.code() == Code::StateCorrupt && error.message().contains("\"invoice\""), "{error}");
}

#[cfg(unix)]
#[test]
fn a_file_that_stays_locked_is_given_up() {
    let dir = tempfile::tempdir().unwrap();
    let marks = marks(dir.path());
    marks.accept("order", &[segment(0, 1)], 0).unwrap();
    let path = file_of(dir.path());
    let held = fs::File::open(&path).unwrap();
    held.lock().unwrap();
    assert_eq!(marks.after("order").unwrap(), 1, "read without the lock");
    let error = marks.accept("order", &[segment(1, 2)], 1).unwrap_err();
    assert_eq!(error.code(), Code::SegmentUnavailable);
    assert!(error.message().contains(path.to_str().unwrap()), "{error}");
    let waits = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(100));
        drop(held);
    });
    marks.accept("order", &[segment(1, 2)], 1).unwrap();
    waits.join().unwrap();
}

/// A directory with the unused ids of a clean close.
fn with_rest() -> (tempfile::TempDir, Segment) {
    let dir = tempfile::tempdir().unwrap();
    let marks = marks(dir.path());
    marks.accept("order", &[segment(1, 1_001)], 0).unwrap();
    let rest = segment(400, 1_001);
    marks.keep_unused("order", &[rest]).unwrap();
    (dir, rest)
}

#[test]
fn of_many_that_start_at_once_one_has_the_rest() {
    let (dir, rest) = with_rest();
    let taken: Vec<Segment> = std::thread::scope(|scope| {
        let take = || in_turn(|| marks(dir.path()).take_unused("order"));
        let all: Vec<_> = (0..8).map(|_| scope.spawn(take)).collect();
        all.into_iter().flat_map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(taken, [rest]);
}

#[test]
fn a_copied_directory_has_no_rest() {
    let (dir, _) = with_rest();
    let copy = tempfile::tempdir().unwrap();
    let path = file_of(dir.path());
    let copied = copy.path().join(path.file_name().unwrap());
    fs::copy(&path, &copied).unwrap();
    assert!(marks(copy.path()).take_unused("order").unwrap().is_empty());
    assert_eq!(marks(copy.path()).after("order").unwrap(), 1_001, "the mark holds there too");
    // Nor a restored one, whose file has another identity.
    let moved = tempfile::tempdir().unwrap();
    fs::rename(&path, moved.path().join(path.file_name().unwrap())).unwrap();
    fs::copy(&copied, &path).unwrap();
    assert!(marks(dir.path()).take_unused("order").unwrap().is_empty());
}

/// By the system's clock and the kernel's time of the write. If this machine took too long for each write, they differ.
#[test]
fn what_was_kept_is_used_again_if_its_file_is_as_it_was_written() {
    let dir = tempfile::tempdir().unwrap();
    let (system, ours) = (Env::system(), || marks_in(Env::system(), dir.path()));
    ours().accept("order", &[segment(1, 1_001)], 0).unwrap();
    let rest = segment(11, 1_001);
    let before_ms = system.clock.now_ms();
    ours().keep_unused("order", &[rest]).unwrap();
    let after_ms = system.clock.now_ms();
    let path = file_of(dir.path());
    let changed_ms = system.disk.open(&path, None).unwrap().unwrap().changed_ms().unwrap();
    // The kernel's time is that of its last timer interrupt, which may be late on a busy machine.
    assert!((before_ms - 60_000..=after_ms).contains(&changed_ms), "{before_ms} {changed_ms} {after_ms}");
    let kept = shared_file::peek::<Mark>(&system, &path).unwrap().unwrap().content.kept.unwrap();
    let used = if kept.is_as_written(changed_ms) { vec![rest] } else { vec![] };
    assert_eq!(ours().take_unused("order").unwrap(), used);
}

#[cfg(feature = "cli")]
#[test]
fn a_jump_is_not_recorded_and_a_mark_is_forgotten_by_hand() {
    let dir = tempfile::tempdir().unwrap();
    let (one, env) = (marks(dir.path()), Env::system());
    one.accept("order", &[segment(1, 1_001)], 0).unwrap();
    let high = segment(i64::MAX - 5, i64::MAX);
    let error = one.accept("order", &[high], 1_001).unwrap_err();
    assert_eq!(error.code(), Code::SourceInvalid, "{error}");
    assert_eq!(one.after("order").unwrap(), 1_001, "nothing of it goes to other servers");
    one.accept("order", &[segment(1_001, 2_001)], 1_001).unwrap();
    // A jump on purpose, or a wrong first response.
    let (source, ours) = ("range:http://a", file_of(dir.path()));
    assert!(forget(&env, dir.path(), "leaf", "order").unwrap_err().message().contains(source));
    let file = fs::File::open(&ours).unwrap();
    file.lock().unwrap();
    let held = forget(&env, dir.path(), source, "order").unwrap_err();
    assert_eq!(held.code(), Code::SegmentUnavailable, "{held}");
    drop(file);
    assert_eq!(forget(&env, dir.path(), source, "order").unwrap(), 2_001);
    damage(&ours, newest_slot(&ours));
    assert_eq!(one.after("order").unwrap(), 0, "neither slot remembers");
    one.accept("order", &[high], 0).unwrap();
    // A mark that is being created, and the file of a user, do not count.
    fs::copy(&ours, dir.path().join("segment-order.mark.new")).unwrap();
    fs::copy(&ours, dir.path().join("order.mark")).unwrap();
    let listed = list(&env, dir.path()).unwrap();
    assert!(list(&env, &ours).is_err() && list(&env, &dir.path().join("none")).unwrap().is_empty());
    let [(_, Ok(listed))] = &listed[..] else { panic!("one mark") };
    assert_eq!((listed.source.as_str(), listed.tag.as_str(), listed.mark), (source, "order", i64::MAX));
}
