//! The simulation: runs the host over a clock and a disk whose failures the tests control.

#[cfg(feature = "http")]
mod cluster;

use crate::os::clock::{Clock, ClockReader};
use crate::os::env::FILE_BYTES;
use crate::os::env::{Disk, Env, FileAccess, FileId, HostLock, LockedFile, NewFile, Random};
use crate::os::mutex::lock;
use crate::snowflake::generator::Generator;
use crate::snowflake::registry::Registry;
use crate::snowflake::wait::Wait;
use crate::worker::settings::SnowflakeSettings;
use crate::{Snowflake, SnowflakeBuilder};
use leafid_core::ClockFilter;
use leafid_core::options::deployment::{FileSystem, FilesystemKind};
use leafid_core::{Code, Error, OnClockBackwards, Record, Result, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

mod calls;
mod claims;
mod clocks;
#[cfg(feature = "http")]
mod lease_cache;
mod lease_loss;
mod never_ahead;
mod no_record;
mod opened;
mod ranges;
mod world;
use world::{Open, Process, START_MS, World};

fn builder() -> SnowflakeBuilder {
    Snowflake::builder()
}

#[test]
fn a_disk_that_fails_stops_ids_at_the_durable_end_and_heals() {
    let world = World::new();
    let process = world.process();
    let open = process.open(builder()).unwrap();
    let first = open.next_ms();
    world.fail(Some(io::ErrorKind::StorageFull));
    world.pass(300);
    let durable_until = open.generator.core.layout().tick_start_ms(open.generator.core.until());
    assert!(open.next_ms() < durable_until);
    world.pass(durable_until - first);
    for _ in 0..5 {
        let error: Error = open.next().unwrap_err();
        assert_eq!(error.code(), Code::StateIo);
        assert!(
            error.message().contains("worker-7.state") && error.message().contains("free some space"),
            "{error}"
        );
    }
    world.fail(None);
    assert!(open.next_ms() >= durable_until);
    // After a crash, ids continue above, with a torn slot or without.
    let last = open.next_ms();
    drop(open);
    assert!(world.process().open(builder()).unwrap().next_ms() > last);
}

#[test]
fn a_call_ends_also_if_code_of_leafid_panics() {
    let world = World::new();
    let process = world.process();
    world.0.panicking.store(true, SeqCst);
    let error = process.open(builder()).err().unwrap();
    assert!(error.message().contains("panicked"), "{error}");
    world.0.panicking.store(false, SeqCst);
    let open = process.open(builder().timeout_ms(200)).unwrap();
    open.next().unwrap();
    world.0.panicking.store(true, SeqCst);
    world.pass(10_000);
    let error = open.next().unwrap_err();
    assert!(error.message().contains("panicked"), "{error}");
    world.0.panicking.store(false, SeqCst);
    open.next().unwrap();
}

#[test]
fn a_disk_that_hangs_is_an_error_within_the_timeout() {
    let world = World::new();
    let process = world.process();
    let open = process.open(builder().timeout_ms(50)).unwrap();
    open.next().unwrap();
    world.0.hanging.store(true, SeqCst);
    world.pass(10_000);
    let error = open.next().unwrap_err();
    assert_eq!(error.code(), Code::StateIo);
    assert!(error.message().contains("timeout_ms"), "{error}");
    world.0.hanging.store(false, SeqCst);
    for _ in 0..100 {
        if open.next().is_ok() {
            return;
        }
    }
    panic!("it did not recover");
}

#[test]
fn skipped_spans_are_stepped_over_when_the_clock_comes_there() {
    let world = World::new();
    let layout = leafid_core::Layout::LEAF;
    let skipped = world.skip(700, 1_900);
    let process = world.process();
    let open = process.open(builder()).unwrap();
    let mut seen = BTreeSet::new();
    for _ in 0..3_000 {
        seen.insert(layout.tick_at(open.next_ms()).unwrap());
        world.pass(1);
    }
    assert!(seen.iter().all(|tick| !(skipped.from..skipped.until).contains(tick)));
    assert!(seen.contains(&(skipped.from - 1)) && seen.contains(&skipped.until), "both sides are used");
}

#[test]
fn no_id_lies_outside_what_the_disk_holds_whatever_the_clock_does() {
    let layout = leafid_core::Layout::LEAF;
    for seed in 1..=20u64 {
        let world = World::new();
        let mut random = seed;
        let mut draw = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        let mut last = 0;
        for _ in 0..30 {
            let process = world.process();
            let Ok(open) = process.open(builder()) else {
                world.pass(1_000);
                continue;
            };
            for _ in 0..draw(200) {
                if let Ok(id) = open.next() {
                    assert!(id > last, "seed {seed}: {id} after {last}");
                    last = id;
                    let durable = lock(&world.0.files).values().next().cloned().unwrap();
                    let until =
                        leafid_core::format::state::read_file("x", &durable).unwrap().newest.record.run.until;
                    assert!(
                        layout.decode(id).unwrap().timestamp_ms < layout.tick_start_ms(until),
                        "seed {seed}"
                    );
                }
                world.pass(draw(40) as i64);
                if draw(50) == 0 {
                    world.set_clock(draw(4_000) as i64 - 2_000);
                }
            }
            if draw(2) == 0 {
                open.generator.driver.close().unwrap();
            }
        }
        assert!(last > 0);
    }
}

#[test]
fn a_crash_with_the_newest_slot_damaged_goes_on_above_what_was_issued() {
    for lead_ms in [0, 1_500, 4_000] {
        let world = World::new();
        let process = world.process();
        let open = process.open(builder()).unwrap();
        for _ in 0..3_000 {
            open.next().unwrap();
            world.pass(1);
        }
        world.set_clock(-lead_ms);
        // Until an id was issued that the surviving slot does not cover.
        let (last, survivor) = loop {
            let last = open.next_ms();
            world.pass(1);
            let mut files = lock(&world.0.files);
            let file = files.values_mut().next().unwrap();
            let newest = leafid_core::format::state::read_file("x", file).unwrap();
            let survivor =
                leafid_core::format::state::read_slot(file, newest.spare).unwrap().record.run.until;
            if last >= open.generator.core.layout().tick_start_ms(survivor) {
                let at = (1 - newest.spare) * leafid_core::format::two_slots::SLOT_BYTES + 20;
                file[at] ^= 1;
                break (last, survivor);
            }
        };
        drop(open);
        let restarted = world.process();
        let first = restarted.open(builder()).unwrap().next_ms();
        assert!(first > last, "lead {lead_ms}: {first} after {last}, the slot said {survivor}");
    }
}

#[test]
fn runs_in_the_future_are_skipped_by_a_reset_and_never_issued_again() {
    let world = World::new();
    let layout = leafid_core::Layout::LEAF;
    let twelve_years = 12 * 365 * 86_400_000;
    let mut seen = BTreeSet::new();
    let mut issue = |open: &Open, ids: usize| {
        for _ in 0..ids {
            let id = open.next().unwrap();
            assert!(seen.insert(id), "{id} twice");
            world.pass(1);
        }
    };
    world.set_clock(twelve_years);
    let future_ms = world.now_ns().div_euclid(1_000_000);
    for life in 0..3 {
        let process = world.process();
        let open = process.open(builder()).unwrap();
        issue(&open, 2_000);
        if life != 1 {
            open.generator.driver.close().unwrap();
        }
        world.pass(100_000);
    }
    let past_ms = world.now_ns().div_euclid(1_000_000);
    world.set_clock(START_MS - past_ms);
    let process = world.process();
    assert_eq!(process.open(builder()).err().unwrap().code(), Code::ClockBackwards);
    drop(process);
    let process = world.process();
    let reset = process.reset().unwrap();
    assert_eq!(reset.after.skipped.len(), 3, "a run each: {:?}", reset.after.skipped);
    let process = world.process();
    let open = process.open(builder()).unwrap();
    assert!((0..1_000).contains(&(open.next_ms() - START_MS)), "ids come at the clock");
    issue(&open, 2_000);
    drop(open);
    // A crash: the record stays as it is.
    world.set_clock(future_ms - 3_000 - world.now_ns().div_euclid(1_000_000));
    let process = world.process();
    let open = process.open(builder()).unwrap();
    let mut skipped = reset.after.skipped.clone();
    while world.now_ns().div_euclid(1_000_000) < past_ms + 5_000 {
        match open.next() {
            Ok(id) => {
                assert!(seen.insert(id), "{id} twice");
                let tick = layout.tick_at(layout.decode(id).unwrap().timestamp_ms).unwrap();
                assert!(!skipped.iter().any(|span| (span.from..span.until).contains(&tick)));
                // Skipped spans that were passed, with ids on both sides.
                skipped.retain(|span| span.until > tick);
            }
            Err(error) => assert_eq!(error.code(), Code::ClockBackwards, "{error}"),
        }
        world.pass(7);
    }
    assert!(skipped.is_empty(), "{skipped:?}");
}

#[test]
fn a_range_leaves_an_id_whose_time_is_skipped_to_the_last() {
    let world = World::new();
    world.skip(-1_000, 3_600_000);
    let process = world.process();
    let open = process.open_worker(7..=8, builder()).unwrap();
    assert_eq!(open.generator.worker_id(), 8);
    assert!((0..1_000).contains(&(open.next_ms() - START_MS)), "ids come at once");
}

#[test]
fn a_held_record_is_not_reset() {
    let world = World::new();
    let process = world.process();
    let error = process.reset().unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    assert!(lock(&world.0.files).is_empty(), "nothing is made");
    let open = process.open(builder()).unwrap();
    let before = lock(&world.0.files).clone();
    let error = process.reset().unwrap_err();
    assert_eq!(error.code(), Code::WorkerInUse);
    assert!(error.message().contains("pid") && error.message().contains("end that process"), "{error}");
    assert_eq!(*lock(&world.0.files), before);
    open.next().unwrap();
}

#[test]
fn a_record_that_another_program_wrote_is_refused_and_left_as_it_is() {
    let world = World::new();
    let layout = leafid_core::Layout::LEAF;
    let at = |ms: i64| layout.tick_at(START_MS + ms).unwrap();
    let years = Span { from: at(-1_000), until: at(30 * 365 * 86_400_000) };
    let good = Record { granted_at_ms: START_MS, ..Record::unused(7, layout) };
    let path = crate::storage::state_file::path_of(Path::new("/simulated/default"), 7);
    for (record, code, said) in [
        (Record { run: years, ..good.clone() }, Code::ClockBackwards, "946080000000 ms behind"),
        (Record { skipped: vec![years, years], ..good.clone() }, Code::StateCorrupt, "not in order"),
    ] {
        world.record(record);
        let before = lock(&world.0.files).get(&path).cloned();
        let error = world.process().open(builder()).err().unwrap();
        assert_eq!(error.code(), code, "{error}");
        for said in [said, "worker id 7", "leafid state reset 7 --confirm 7"] {
            assert!(error.message().contains(said), "{error} does not say {said}");
        }
        let open = world.process().open_worker(7..=8, builder()).unwrap();
        assert_eq!(open.generator.worker_id(), 8, "a range goes on to the next");
        assert_eq!(lock(&world.0.files).get(&path).cloned(), before);
    }
    world.record(Record { run: years, ..good });
    world.process().reset().unwrap();
    // Whatever the record said, it skips as much as the widest rules can have granted.
    world.pass(3_604_000);
    let open = world.process().open(builder()).unwrap();
    assert!((0..1_000).contains(&(open.next_ms() - START_MS - 3_604_000)));
}

#[test]
fn a_full_range_is_waited_for_within_the_timeout_and_a_fixed_id_is_not() {
    let world = World::new();
    let (one, other) = (world.process(), world.process());
    let wide = |process: &Process, ms: i64| process.open_worker(7..=8, builder().timeout_ms(ms));
    let _held = (wide(&one, 2_000).unwrap(), one.open_worker(7..=8, builder().random_start(5)).unwrap());
    let waited = |open: &dyn Fn() -> Result<Open>| {
        let begun = world.boot_time();
        let error = open().err().unwrap();
        assert_eq!(error.code(), Code::WorkerInUse, "{error}");
        (world.boot_time() - begun, error)
    };
    let (time, error) = waited(&|| wide(&other, 2_000));
    assert!(time >= Duration::from_secs(2), "{time:?}");
    assert!(error.message().contains("2 held") && error.message().contains("within 2000 ms"), "{error}");
    let (time, _) = waited(&|| wide(&other, 1));
    assert!((Duration::from_millis(100)..Duration::from_millis(200)).contains(&time), "{time:?}");
    let (time, _) = waited(&|| other.open(builder()));
    assert!(time < Duration::from_millis(100), "{time:?}");
    for waits in [builder().lazy(true), builder().max_wait_ms(2)] {
        let (time, _) = waited(&|| other.open_worker(7..=8, waits.clone()));
        assert!(time >= Duration::from_secs(2), "{time:?}");
    }
    // During the work of a thread that may not wait.
    let (time, error) = waited(&|| other.open_worker(7..=8, builder().lazy(true).max_wait_ms(2)));
    assert!(time < Duration::from_millis(200), "{time:?}");
    assert!(error.message().contains("await Snowflake.open"), "{error}");
}
