//! The formats of files: the bytes of 0.1.0. tests/vectors/earlier_files/README.md says how they were made.
//! bindings/rust/tests/earlier_files.rs opens the same files.

use leafid_core::format::cached_lease::{LeaseFile, LeaseSeeker};
use leafid_core::format::counter::{Counter, Marker};
use leafid_core::format::mark::Mark;
use leafid_core::format::shared::Content;
use leafid_core::format::two_slots::SLOT_BYTES;
use leafid_core::format::{shared, state};
use leafid_core::{Lease, Rules};
use std::path::Path;
use std::time::Duration;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/vectors/earlier_files");

fn bytes(file: &str) -> Vec<u8> {
    std::fs::read(Path::new(FOLDER).join("state").join(file)).unwrap()
}

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

#[test]
fn a_cached_lease_is_read_and_bound_to_its_run_its_file_and_its_start_of_the_machine() {
    let found = shared::read::<LeaseFile>("file", &bytes("earlier-leased/worker-0.lease")).unwrap();
    let (content, number, spare) = found;
    assert_eq!((content.damaged, number, spare), (false, 2, 1));
    let lease = Lease {
        worker_id: 0,
        from_ms: 1_795_542_794_794,
        until_ms: 1_795_542_824_794,
        lease_ms: Some(30_000),
        token: Some("07b5878b51fc92bb635178c8db0848e1".into()),
        ..Lease::default()
    };
    let seeker = LeaseSeeker {
        name: "earlier-leased",
        servers: &["http://127.0.0.1:9".to_owned()],
        boot: "7d1ab227-67b5-4d70-b0c4-2b4bec58a2f4",
        boot_time_ms: 24_714_980 - 1,
        now_ms: lease.until_ms - 1,
    };
    let held = seeker.still_held(&content, 0).unwrap();
    assert_eq!(held.lease(0), Some((lease, Duration::from_millis(24_714_980 - 30_000))));
    for other in [
        LeaseSeeker { name: "another", ..seeker },
        LeaseSeeker { boot: "another start", ..seeker },
        LeaseSeeker { boot_time_ms: seeker.boot_time_ms + 1, ..seeker },
        LeaseSeeker { now_ms: seeker.now_ms + 1, ..seeker },
    ] {
        assert_eq!(other.still_held(&content, 0), None, "{other:?}");
    }
    let owner =
        state::read_file("file", &bytes("earlier-leased/worker-0.state")).unwrap().newest.record.owner;
    let file = (65_024, 10_118_341);
    assert!(held.is_bound(file, owner, 1_795_542_794_818));
    assert!(
        !held.is_bound((65_024, 10_118_341 + 1), owner, 1_795_542_794_818)
            && !held.is_bound(file, owner + 1, 1_795_542_794_818)
    );
}

#[test]
fn a_record_with_one_damaged_slot_continues_from_the_other_above_what_the_damaged_one_held() {
    let found = state::read_file("file", &bytes("earlier-damaged/worker-6.state")).unwrap();
    let record = &found.newest.record;
    assert_eq!((found.damaged, found.newest.number, found.spare, record.worker_id), (true, 6, 1, 6));
    let until_ms = record.layout.tick_start_ms(record.run.until);
    assert_eq!(until_ms, 1_795_542_798_075);
    // The damaged slot held a span up to here, and the clock was here.
    let (lost_ms, now_ms) = (1_795_542_799_209, 1_795_542_797_812);
    let raised = record.clone().after_lost_slot(&Rules::default(), now_ms);
    assert!(raised.layout.tick_start_ms(raised.run.until) >= lost_ms, "{:?}", raised.run);
}
