//! State files: what is read of two slots, and a generator opened on them.
#![no_main]

use leafid::fuzzing::{State, state};
use leafid::{Code, Layout, Snowflake};
use leafid_core::{Record, Span};
use leafid_fuzz::{Input, SLOT, check, directory, file};
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeSet;

const WORKER: u32 = 7;

fuzz_target!(|data: &[u8]| {
    let mut input = Input::new(data);
    let opens = input.flag();
    // Of this process alone: a worker id of one name is held once on a host.
    let name = format!("fuzz-{}", std::process::id());
    let bytes = file(&mut input, &|line| line.replace('@', &name));
    let read = state(&bytes);
    match &read {
        Ok(found) => believed(found, &bytes),
        Err(error) => {
            assert!(matches!(error.code(), Code::StateCorrupt | Code::StateMismatch), "{error}");
            check(error);
        }
    }
    if opens {
        opened(&name, &bytes, read.ok().map(|found| found.record));
    }
});

/// What is read is what was written: again, and with a slot that the next write tore.
fn believed(found: &State, bytes: &[u8]) {
    assert_eq!(bytes.len(), 2 * SLOT);
    let newest = (1 - found.spare) * SLOT;
    let alike = |other: &State| {
        assert_eq!((other.number, &other.name, &other.record), (found.number, &found.name, &found.record));
    };
    match &found.again {
        Ok(slot) => {
            let again = state(&[&slot[..], &slot[..]].concat()).expect("what was written");
            alike(&again);
            assert!(!again.damaged);
        }
        // What leaves out a field may be longer when it is written with it.
        Err(error) => assert!(bytes[newest + SLOT - 512] != b' ', "{error}"),
    }
    let mut torn = bytes.to_vec();
    torn[found.spare * SLOT + 100..][..1_000].fill(0);
    let after = state(&torn).expect("the newest is not the slot that is written");
    alike(&after);
    assert!(after.damaged && after.spare == found.spare);
    // The other slot says less, or nothing.
    torn.copy_from_slice(bytes);
    torn[newest..][..SLOT].fill(0);
    if let Ok(older) = state(&torn) {
        assert!(older.number <= found.number && older.damaged && !found.damaged);
    }
}

/// No id of a span that the record knows; a file that is refused stays as it is.
fn opened(name: &str, bytes: &[u8], record: Option<Record>) {
    let base = directory("state");
    let path = base.join(name).join(format!("worker-{WORKER}.state"));
    std::fs::create_dir_all(base.join(name)).expect("a directory");
    std::fs::write(&path, bytes).expect("a file");
    let layout = record.as_ref().map_or(Layout::LEAF, |record| record.layout);
    let builder =
        Snowflake::builder().worker(WORKER).name(name).state_dir(&base).layout(layout).timeout_ms(20);
    let unchanged = || std::fs::read(&path).expect("the file") == bytes;
    let flake = match builder.open() {
        Ok(flake) => flake,
        Err(error) => {
            check(&error);
            match error.code() {
                Code::StateCorrupt | Code::StateMismatch | Code::WorkerInUse => {
                    assert!(unchanged(), "{error}")
                }
                // The record is beyond the clock, or the clock beyond the layout; the worker id is not in it.
                Code::ClockBackwards
                | Code::TimeExhausted
                | Code::BeforeEpoch
                | Code::InvalidArgument
                | Code::SegmentUnavailable
                | Code::WouldBlock => {}
                // A busy machine's.
                Code::StateIo => assert!(error.message().contains("did not answer within"), "{error}"),
                _ => panic!("{error}"),
            }
            return;
        }
    };
    let record = record.expect("a file that cannot be read is not opened");
    let mut ids = BTreeSet::new();
    for n in [1, 3, 40] {
        let Ok(taken) = flake.take(n).map_err(|error| check(&error)) else { break };
        for id in taken {
            assert!(id >= 0 && ids.last().is_none_or(|&last| id > last) && ids.insert(id), "{id}");
            let parts = layout.decode(id).expect("of the layout");
            let tick = layout.tick_at(parts.timestamp_ms).expect("of the layout");
            let within = |span: &Span| (span.from..span.until).contains(&tick);
            assert_eq!(parts.worker_id, WORKER);
            assert!(tick >= record.run.until, "{tick} {record:?}");
            assert!(!record.skipped.iter().any(within), "{tick} {record:?}");
        }
    }
    flake.close().unwrap_or_else(|error| check(&error));
    let after = state(&std::fs::read(&path).expect("the file")).expect("what was written");
    let last = ids.last().map(|&id| layout.decode(id).expect("of the layout").timestamp_ms);
    assert!(last < Some(layout.tick_start_ms(after.record.run.until)), "{last:?} {after:?}");
    assert!(after.record.run.until >= record.run.until, "{record:?} {after:?}");
}
