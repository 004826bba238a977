//! Files of an earlier version are read as that version read them. tests/vectors/earlier_files/README.md says what they
//! are, and how they were made. core/tests/earlier_files.rs reads the bytes of some of them.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used)]

mod common;

use common::PATIENT_MS;
use common::programs::command;
use leafid::{Code, Error, Layout, Segment, Segments, SegmentsBuilder, Snowflake, SnowflakeBuilder};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::TempDir;

/// The names in the files are the same in each test, so the worker ids are too.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(std::fs::copy(entry.path(), to).unwrap()),
        }
    }
}

fn earlier() -> TempDir {
    earlier_in(common::in_memory())
}

fn earlier_in(directory: TempDir) -> TempDir {
    let vectors = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/earlier_files");
    copy(Path::new(vectors), directory.path());
    directory
}

fn snowflake(directory: &TempDir, name: &str) -> SnowflakeBuilder {
    Snowflake::builder().name(name).state_dir(directory.path().join("state")).timeout_ms(PATIENT_MS)
}

fn segments(directory: &TempDir, name: &str) -> SegmentsBuilder {
    Segments::builder().name(name).state_dir(directory.path().join("state")).timeout_ms(PATIENT_MS)
}

/// Where the source gives this range.
fn given(builder: SegmentsBuilder, start: i64, end: i64) -> Segments {
    builder.fetch(move |_| Ok(Some(Segment::new(start, end, 1)?.into()))).adaptive(false).open().unwrap()
}

/// What is made of this range until the call gives up.
fn refused(builder: SegmentsBuilder, start: i64, end: i64) -> Error {
    let order = given(builder, start, end).tag("order").unwrap();
    common::refusal(|| order.next_within(3_000).unwrap_err())
}

#[test]
fn they_are_shown_as_they_were() {
    // They have no holder.
    let (_alone, directory) = (alone(), earlier());
    let state = directory.path().join("state").display().to_string();
    let counters = directory.path().join("counters").display().to_string();
    let show = |arguments: &[&str]| {
        let output = command(env!("CARGO_BIN_EXE_leafid")).args(arguments).arg("--json").output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let of = |what, name| show(&[what, "show", "--state-dir", &state, "--name", name]);
    let shown = [
        of("state", "earlier"),
        of("state", "earlier-yitter"),
        of("state", "earlier-leased"),
        of("state", "earlier-damaged"),
        of("marks", "earlier-ordered"),
        of("marks", "earlier-unordered"),
        show(&["file", "show", &counters]),
    ];
    assert_eq!(shown.concat(), std::fs::read_to_string(directory.path().join("shown.jsonl")).unwrap());
}

#[test]
fn generators_go_on_above_their_records() {
    let (_alone, directory) = (alone(), earlier());
    for (worker, until_ms) in [(3, 1_795_441_930_033), (4, 1_795_441_930_588)] {
        let flake = snowflake(&directory, "earlier").worker(worker).open().unwrap();
        let parts = Layout::LEAF.decode(flake.next().unwrap()).unwrap();
        assert_eq!(parts.worker_id, worker);
        assert!(parts.timestamp_ms >= until_ms, "{parts:?}");
    }
    let error = snowflake(&directory, "earlier-yitter").worker(5).open().unwrap_err();
    assert_eq!(error.code(), Code::StateMismatch, "{error}");
}

/// Its owner was killed. The damaged slot held a span that ended at this time, and the last id was issued in it. In
/// memory a generator never runs ahead of the clock: there it waits.
#[test]
fn a_generator_goes_on_above_what_a_damaged_slot_held() {
    let _alone = alone();
    for directory in [earlier(), earlier_in(tempfile::tempdir().unwrap())] {
        let flake = snowflake(&directory, "earlier-damaged").worker(6).open().unwrap();
        let id = flake.next().unwrap();
        assert!(id > 2_125_286_649_410_642_018);
        let parts = Layout::LEAF.decode(id).unwrap();
        assert!(parts.timestamp_ms >= 1_795_542_799_209, "{parts:?}");
    }
}

/// The lease is of another start of a machine, and this is a copy of its file. Nothing listens at its server's port.
#[test]
fn a_cached_lease_that_is_not_held_any_more_is_refused_as_such() {
    let (_alone, directory) = (alone(), earlier());
    let builder = snowflake(&directory, "earlier-leased").worker("http://127.0.0.1:9").timeout_ms(PATIENT_MS);
    let error = builder.open().unwrap_err();
    assert_eq!(error.code(), Code::WorkerLost, "{error}");
    assert!(error.message().contains("and no cached lease is still valid here"), "{error}");
}

#[test]
fn ranges_that_were_given_are_refused_and_counters_go_on() {
    let (_alone, directory) = (alone(), earlier());
    let ordered = || segments(&directory, "earlier-ordered");
    assert_eq!(refused(ordered(), 501, 601).code(), Code::SegmentRegressed);
    assert_eq!(given(ordered(), 601, 701).tag("order").unwrap().next().unwrap(), 601);
    let unordered = || segments(&directory, "earlier-unordered").ordered_source(false);
    for (start, end) in [(55, 58), (199, 300), (1_000, 1_001)] {
        let error = refused(unordered(), start, end);
        assert_eq!(error.code(), Code::SegmentRegressed, "{start} to {end}: {error}");
    }
    let counters = format!("file:{}", directory.path().join("counters").display());
    let files = segments(&directory, "earlier").servers([counters]).open().unwrap();
    assert_eq!(files.tag("order").unwrap().next().unwrap(), 451);
    assert_eq!(files.tag("invoice").unwrap().next().unwrap(), 5_010);
}
