//! Tests of the source on a real disk. `simulation/ranges.rs` simulates its crashes.

mod by_call;
mod processes;

use super::*;
use leafid_core::Code;
use leafid_core::supply::counter_update::MARKER;
use std::fs;

pub(crate) const ORDER: FileTag = FileTag { start: 1, step: 1_000 };

/// Opens the source as another process does.
pub(crate) fn open(path: &Path, create: bool, all: &[(&str, FileTag)]) -> Result<FileSource> {
    let tags: Vec<_> = all.iter().map(|(tag, how)| ((*tag).to_owned(), *how)).collect();
    FileSource::open(Arc::new(Env::system()), path, create, &tags, false)
}

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

fn fetch(source: &FileSource, tag: &str, step: i64, after: i64) -> Result<(i64, i64, Option<i64>)> {
    let fetched = source.fetch(tag, step, after, false)?;
    Ok((fetched.segment.start(), fetched.segment.end(), fetched.step))
}

/// As one that wrote its step before.
fn again(source: &FileSource) -> (i64, i64, Option<i64>) {
    let fetched = source.fetch("order", 0, 0, true).unwrap();
    (fetched.segment.start(), fetched.segment.end(), fetched.step)
}

fn refused<T>(answer: Result<T>, code: Code, says: &[&str]) {
    let error = answer.err().unwrap();
    assert_eq!(error.code(), code, "{error}");
    assert!(says.iter().all(|part| error.message().contains(part)), "{error}");
}

fn counter_file(dir: &Path, tag: &str) -> PathBuf {
    dir.join(format!("tag-{tag}.counter"))
}

#[test]
fn two_sources_share_a_counter_that_goes_on_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("counters");
    let one = open(&path, true, &[("order", ORDER)]).unwrap();
    let other = open(&path, false, &[]).unwrap();
    assert_eq!(one.source_name(), other.source_name());
    assert_eq!(one.source_name(), format!("file:{}", path.canonicalize().unwrap().display()));
    assert_eq!(fetch(&one, "order", 0, 0).unwrap(), (1, 1_001, Some(1_000)));
    assert_eq!(fetch(&other, "order", 0, 1_001).unwrap(), (1_001, 2_001, Some(1_000)));
    assert_eq!(fetch(&other, "order", 5, 0).unwrap(), (2_001, 2_006, Some(1_000)));
    drop((one, other));
    // Creating the directory and the tag again changes nothing.
    let again = open(&path, true, &[("order", FileTag { start: 1, step: 1_000 })]).unwrap();
    assert_eq!(fetch(&again, "order", 0, 0).unwrap(), (2_006, 3_006, Some(1_000)));
    assert_eq!(fetch(&again, "order", i64::MAX, 0).unwrap(), (3_006, 3_006 + (1 << 24), Some(1_000)));
}

#[test]
fn a_directory_without_its_marker_is_no_fresh_start() {
    let dir = tempfile::tempdir().unwrap();
    refused(
        open(dir.path(), false, &[("order", ORDER)]),
        Code::UnknownTag,
        &["leafid file create", "mounted"],
    );
    refused(open(&dir.path().join("missing"), false, &[]), Code::UnknownTag, &["missing"]);
    assert!(!dir.path().join("missing").exists());
    let source = open(dir.path(), true, &[("order", ORDER)]).unwrap();
    fetch(&source, "order", 0, 0).unwrap();
    let marker = fs::read(dir.path().join(MARKER)).unwrap();
    fs::remove_file(dir.path().join(MARKER)).unwrap();
    refused(fetch(&source, "order", 0, 0), Code::UnknownTag, &["mounted"]);
    refused(open(dir.path(), false, &[]), Code::UnknownTag, &["mounted"]);
    refused(open(dir.path(), true, &[]), Code::StateCorrupt, &["missing where there are counters"]);
    fs::write(dir.path().join(MARKER), marker).unwrap();
    assert_eq!(fetch(&source, "order", 0, 0).unwrap().0, 1_001);
    // Another directory replaces it.
    let another = tempfile::tempdir().unwrap();
    open(another.path(), true, &[]).unwrap();
    fs::copy(another.path().join(MARKER), dir.path().join(MARKER)).unwrap();
    refused(fetch(&source, "order", 0, 0), Code::StateMismatch, &["another directory"]);
    let confused = open(dir.path(), false, &[]).unwrap();
    refused(fetch(&confused, "order", 0, 0), Code::StateCorrupt, &["nothing was changed"]);
}

#[test]
fn a_counter_that_was_lost_is_not_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    let all = [("order", ORDER), ("invoice", ORDER), ("late", ORDER)];
    let source = open(dir.path(), true, &all).unwrap();
    for tag in ["order", "invoice"] {
        fetch(&source, tag, 0, 0).unwrap();
    }
    // Other files beside it are not counters, whatever their names.
    fs::rename(counter_file(dir.path(), "order"), dir.path().join("tag-order.counter.old")).unwrap();
    fs::write(dir.path().join("old-order.counter"), "").unwrap();
    for source in [&source, &open(dir.path(), true, &all).unwrap()] {
        let says = ["tag-order.counter", "1 of the 2", "leafid file create"];
        refused(fetch(source, "order", 0, 0), Code::StateCorrupt, &says);
        refused(fetch(source, "late", 0, 0), Code::StateCorrupt, &["late"]);
        fetch(source, "invoice", 0, 0).unwrap();
    }
    let by_hand = open(dir.path(), false, &[]).unwrap();
    by_hand.make_by_hand("order", FileTag { start: 5_000, step: 10 }, None).unwrap();
    // The step of the option is written with the first fetch.
    assert_eq!(
        fetch(&open(dir.path(), false, &all).unwrap(), "order", 0, 0).unwrap(),
        (5_000, 6_000, Some(1_000))
    );
    fetch(&source, "late", 0, 0).unwrap();
}

#[test]
fn a_tag_that_was_not_named_is_unknown() {
    let dir = tempfile::tempdir().unwrap();
    let source = open(dir.path(), true, &[("order", ORDER)]).unwrap();
    refused(fetch(&source, "other", 0, 0), Code::UnknownTag, &["\"other\"", "it has none", "--tag other"]);
    fetch(&source, "order", 0, 0).unwrap();
    refused(fetch(&source, "other", 0, 0), Code::UnknownTag, &["it has \"order\""]);
}

#[test]
fn a_step_that_was_changed_is_followed_and_the_counter_stays() {
    let dir = tempfile::tempdir().unwrap();
    let old = open(dir.path(), true, &[("order", ORDER)]).unwrap();
    fetch(&old, "order", 0, 0).unwrap();
    let new = open(dir.path(), false, &[("order", FileTag { start: 1, step: 5_000 })]).unwrap();
    assert_eq!(fetch(&new, "order", 0, 0).unwrap(), (1_001, 6_001, Some(5_000)));
    assert_eq!(again(&old), (6_001, 11_001, Some(5_000)));
    assert_eq!(again(&new).2, Some(5_000));
}

#[test]
fn a_restored_counter_is_raised_to_the_mark() {
    let dir = tempfile::tempdir().unwrap();
    let source = open(dir.path(), true, &[("order", ORDER)]).unwrap();
    fetch(&source, "order", 0, 0).unwrap();
    let backup = fs::read(counter_file(dir.path(), "order")).unwrap();
    for _ in 0..5 {
        fetch(&source, "order", 0, 0).unwrap();
    }
    fs::write(counter_file(dir.path(), "order"), backup).unwrap();
    assert_eq!(fetch(&source, "order", 0, 6_001).unwrap(), (6_001, 7_001, Some(1_000)));
    assert_eq!(fetch(&source, "order", 0, 0).unwrap().0, 7_001);
}

#[test]
fn a_counter_at_the_end_of_all_ids_is_used_up() {
    let dir = tempfile::tempdir().unwrap();
    let last = FileTag { start: i64::MAX - 1_500, step: 1_000 };
    let source = open(dir.path(), true, &[("order", last)]).unwrap();
    assert_eq!(fetch(&source, "order", 0, 0).unwrap().1, i64::MAX - 500);
    assert_eq!(fetch(&source, "order", 0, 0).unwrap(), (i64::MAX - 500, i64::MAX, Some(1_000)));
    for _ in 0..2 {
        refused(fetch(&source, "order", 0, 0), Code::SegmentUnavailable, &["used up"]);
    }
}

#[test]
fn where_the_latest_fetch_cannot_be_read_all_that_it_can_have_given_is_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let source = open(dir.path(), true, &[("order", ORDER)]).unwrap();
    let path = counter_file(dir.path(), "order");
    let largest = fetch(&source, "order", 1 << 24, 0).unwrap().1;
    let mut bytes = fs::read(&path).unwrap();
    // The slot of the second fetch is the one that contains its end.
    let newest =
        usize::from(std::str::from_utf8(&bytes[4096..]).unwrap().contains(&format!("\"{largest}\"")));
    bytes[newest * 4096 + 30] ^= 1;
    fs::write(&path, &bytes).unwrap();
    assert!(fetch(&source, "order", 0, 0).unwrap().0 >= largest);
    bytes[(1 - newest) * 4096 + 30] ^= 1;
    fs::write(&path, &bytes).unwrap();
    refused(fetch(&source, "order", 0, 0), Code::StateCorrupt, &["damaged in both slots"]);
    assert_eq!(fs::read(&path).unwrap(), bytes, "never overwritten");
}

#[test]
fn threads_and_openings_at_once_have_ranges_of_their_own() {
    let dir = tempfile::tempdir().unwrap();
    let mut ranges: Vec<(i64, i64)> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..6)
            .map(|_| {
                scope.spawn(|| {
                    let source = in_turn(|| open(&dir.path().join("new"), true, &[("order", ORDER)]));
                    (0..20).map(|_| in_turn(|| fetch(&source, "order", 7, 0))).collect::<Vec<_>>()
                })
            })
            .collect();
        all.into_iter().flat_map(|one| one.join().unwrap()).map(|(start, end, _)| (start, end)).collect()
    });
    ranges.sort_unstable();
    let expected: Vec<(i64, i64)> = (0..120).map(|n| (1 + n * 7, 8 + n * 7)).collect();
    assert_eq!(ranges, expected);
}

#[test]
fn a_relative_path_is_a_place_like_any_other() {
    let dir = tempfile::tempdir_in(".").unwrap();
    let name = dir.path().file_name().unwrap();
    let path = Path::new(name).join("counters");
    open(&path, true, &[("order", ORDER)]).unwrap();
    assert_eq!(
        open(&path, false, &[]).unwrap().source_name(),
        format!("file:{}", path.canonicalize().unwrap().display())
    );
}

#[test]
fn a_counter_that_was_raised_stays_raised_when_a_slot_is_damaged() {
    const HIGH: i64 = 100_000_000_000;
    for by_hand in [true, false] {
        for slot in [0, 1] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("counters");
            let source = open(&path, true, &[("order", ORDER)]).unwrap();
            fetch(&source, "order", 0, 0).unwrap();
            match by_hand {
                true => {
                    source.make_by_hand("order", FileTag { start: HIGH, step: 10 }, None).unwrap();
                }
                false => drop(fetch(&source, "order", 0, HIGH).unwrap()),
            }
            let file = counter_file(&path, "order");
            let mut bytes = std::fs::read(&file).unwrap();
            bytes[slot * 4096 + 30] ^= 1;
            std::fs::write(&file, bytes).unwrap();
            assert!(fetch(&source, "order", 0, 0).unwrap().0 >= HIGH, "{by_hand} {slot}");
        }
    }
}
