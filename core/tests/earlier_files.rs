//! The formats of files: the bytes of 0.1.0. tests/vectors/earlier_files/README.md says how they were made.
//! bindings/rust/tests/earlier_files.rs opens the same files.

use leafid_core::format::cached_lease::LeaseFile;
use leafid_core::format::counter::{Counter, Marker};
use leafid_core::format::mark::Mark;
use leafid_core::format::shared::Content;
use leafid_core::format::two_slots::SLOT_BYTES;
use leafid_core::format::{shared, state};
use std::path::Path;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/vectors/earlier_files");

type Slot = (usize, [u8; SLOT_BYTES]);

/// The newest slot of a file as it is written today.
fn newest<C: Content>(bytes: &[u8]) -> Vec<Slot> {
    let (found, number, spare) = shared::read::<C>("file", bytes).unwrap();
    vec![(1 - spare, shared::seal(number, &found.content).unwrap())]
}

/// What writes other bytes has another format: 0.1.0 would not refuse what it misreads.
#[test]
fn each_file_is_written_in_the_same_bytes_today() {
    let mut slots = 0;
    for folder in std::fs::read_dir(Path::new(FOLDER).join("state"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .chain([Path::new(FOLDER).join("counters")])
    {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let bytes = std::fs::read(&path).unwrap();
            let today = match path.extension().unwrap().to_str().unwrap() {
                "lease" => newest::<LeaseFile>(&bytes),
                "mark" => newest::<Mark>(&bytes),
                "counter" => newest::<Counter>(&bytes),
                "marker" => newest::<Marker>(&bytes),
                _ => (0..2)
                    .filter_map(|at| Some((at, state::read_slot(&bytes, at)?.to_bytes().unwrap())))
                    .collect(),
            };
            for (at, slot) in &today {
                assert_eq!(bytes[at * SLOT_BYTES..][..SLOT_BYTES], slot[..], "slot {at} of {path:?}");
            }
            slots += today.len();
        }
    }
    // Both of five records less the damaged one, and one of a lease, two marks, two counters and a marker.
    assert_eq!(slots, 9 + 6);
}
