//! Tests of the source on a real disk. `simulation/cluster/` simulates its crashes.

mod by_call;
mod processes;

use super::*;
use crate::segments::high_water::tests::in_turn;
use leafid_core::Code;
use leafid_core::supply::counter_update::MARKER;
use std::fs;

pub(crate) const ORDER: FileTag = FileTag { start: 1, step: 1_000 };

/// Opens the source as another process does.
pub(crate) fn open(path: &Path, create: bool, all: &[(&str, FileTag)]) -> Result<FileSource> {
    let tags: Vec<_> = all.iter().map(|(tag, how)| ((*tag).to_owned(), *how)).collect();
    FileSource::open(Arc::new(Env::system()), path, create, &tags, false)
}

fn fetch(source: &FileSource, tag: &str, step: i64, after: i64) -> Result<(i64, i64, Option<i64>)> {
    let fetched = source.fetch(tag, step, after, false)?;
    Ok((fetched.segment.start(), fetched.segment.end(), fetched.step))
}

fn refused<T>(answer: Result<T>, code: Code, says: &[&str]) {
    let error = answer.err().unwrap();
    assert_eq!(error.code(), code, "{error}");
    assert!(says.iter().all(|part| error.message().contains(part)), "{error}");
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
