//! Who may open what is made, under several umasks: in children, for a umask is the whole process's.
#![allow(clippy::unwrap_used)]

mod common;

use common::forks::{in_child, plain_fork};
use common::programs::this_program;
use common::{PATIENT_MS, Place};
use leafid::{FileTag, Segment, Segments, SegmentsBuilder};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The mode of each file and directory below this one, by its name.
fn modes(directory: &Path) -> BTreeMap<String, u32> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        found.insert(name, fs::metadata(&path).unwrap().mode() & 0o7777);
        if path.is_dir() {
            found.append(&mut modes(&path));
        }
    }
    found
}

fn segments(builder: SegmentsBuilder, place: &Place) {
    let builder = builder.name(&place.name).timeout_ms(PATIENT_MS);
    let ids = builder.state_dir(place.dir.path().join("made")).open().unwrap();
    assert_eq!(ids.tag("order").unwrap().next().unwrap(), 1);
    ids.close().unwrap();
}

/// All that leafid makes under this umask: a record, marks, a directory of counters.
fn made(umask: u32, shared: Option<bool>) -> BTreeMap<String, u32> {
    let place = Place::new();
    in_child(plain_fork, |_| {
        // SAFETY: it sets a number of this process.
        unsafe { libc::umask(umask) };
        let mut flake = place.builder().worker(7).state_dir(place.dir.path().join("made"));
        let fetch = |_: &_| Ok(Some(Segment::new(1, 11, 1).unwrap().into()));
        let mut callback = Segments::builder().fetch(fetch);
        let counters = place.dir.path().join("made/numbers/of/ids");
        let mut files = Segments::builder().servers([format!("file:{}", counters.display())]);
        files = files.create(true).tags([("order", FileTag { start: 1, step: 10 })]);
        if let Some(shared) = shared {
            flake = flake.shared_group(shared);
            callback = callback.shared_group(shared);
            files = files.shared_group(shared);
        }
        flake.open().unwrap().next().unwrap();
        segments(callback, &place);
        segments(files, &place);
    });
    let modes = modes(place.dir.path());
    // The directories made, named and numbers/of/ids; a record, two marks, a marker and a counter.
    assert_eq!(modes.len(), 5 + 5, "{modes:?}");
    modes
}

#[test]
fn what_is_made_honours_umask_and_is_closed_to_others() {
    for (umask, file, directory) in [
        (0o022, 0o640, 0o750),
        (0o002, 0o640, 0o750),
        (0, 0o640, 0o750),
        (0o077, 0o600, 0o700),
        (0o027, 0o640, 0o750),
    ] {
        for shared in [None, Some(false)] {
            for (name, mode) in made(umask, shared) {
                let expected = if name.contains('.') { file } else { directory };
                assert_eq!(mode, expected, "umask {umask:o}: {name} has mode {mode:o}");
            }
        }
    }
}

#[test]
fn what_a_group_shares_is_the_group_s_whatever_the_umask() {
    for umask in [0o022, 0o077, 0] {
        for (name, mode) in made(umask, Some(true)) {
            let expected = if name.contains('.') { 0o660 } else { 0o2770 };
            assert_eq!(mode, expected, "umask {umask:o}: {name} has mode {mode:o}");
        }
    }
}

#[test]
fn the_environment_says_it_too() {
    for (said, code) in [("1", 0), ("yes", 101)] {
        let mut run = this_program();
        run.args(["--exact", "under_the_environment", "--ignored"]).env("LEAFID_SHARED_GROUP", said);
        assert_eq!(run.output().unwrap().status.code(), Some(code), "{said}");
    }
}

/// Run by the test above only.
#[test]
#[ignore = "a part of the_environment_says_it_too"]
fn under_the_environment() {
    assert_eq!(made(0o022, None)["made"], 0o2770);
    assert_eq!(made(0o022, Some(false))["made"], 0o750, "the option comes first");
}

#[test]
fn files_of_before_are_used_as_they_are() {
    let place = Place::new();
    place.builder().worker(7).open().unwrap().next().unwrap();
    let open_to_all = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o644);
    fs::set_permissions(place.file(7), open_to_all).unwrap();
    place.builder().worker(7).shared_group(true).open().unwrap().next().unwrap();
    assert_eq!(fs::metadata(place.file(7)).unwrap().mode() & 0o777, 0o644);
}
