//! The simulation: runs the host over a clock and a disk whose failures the tests control.

#[cfg(feature = "http")]
mod cluster;

use crate::os::env::Env;
use crate::os::mutex::lock;
use crate::snowflake::generator::Generator;
use crate::snowflake::registry::Registry;
use crate::snowflake::wait::Wait;
use crate::worker::settings::SnowflakeSettings;
use crate::{Snowflake, SnowflakeBuilder};
use leafid_core::options::deployment::{FileSystem, FilesystemKind};
use leafid_core::{Code, Error, Record, Result, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};
use std::time::Duration;

mod calls;
#[cfg_attr(not(feature = "http"), allow(dead_code, reason = "the cluster uses the rest"))]
mod disk;
#[cfg(feature = "http")]
mod lease_cache;
#[cfg_attr(not(feature = "http"), allow(dead_code, reason = "the cluster uses the rest"))]
mod machine;
mod opened;
mod ranges;
mod world;
use world::{START_MS, World};

fn builder() -> SnowflakeBuilder {
    Snowflake::builder()
}

#[test]
fn a_disk_that_fails_stops_ids_at_the_durable_end_and_heals() {
    let world = World::new();
    let process = world.process();
    let open = process.open(builder()).unwrap();
    let first = open.next_ms();
    world.machine.failing.store(true, SeqCst);
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
    world.machine.failing.store(false, SeqCst);
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
    world.machine.panicking.store(true, SeqCst);
    let error = process.open(builder()).err().unwrap();
    assert!(error.message().contains("panicked"), "{error}");
    world.machine.panicking.store(false, SeqCst);
    // Of the world's time, which passes while the thread of a write waits for a busy processor.
    let open = process.open(builder().timeout_ms(600_000)).unwrap();
    open.next().unwrap();
    world.machine.panicking.store(true, SeqCst);
    world.pass(10_000);
    let error = open.next().unwrap_err();
    assert!(error.message().contains("panicked"), "{error}");
    world.machine.panicking.store(false, SeqCst);
    open.next().unwrap();
}

#[test]
fn a_disk_that_hangs_is_an_error_within_the_timeout() {
    let world = World::new();
    let process = world.process();
    let open = process.open(builder().timeout_ms(50)).unwrap();
    open.next().unwrap();
    world.machine.hanging.store(true, SeqCst);
    world.pass(10_000);
    let error = open.next().unwrap_err();
    assert_eq!(error.code(), Code::StateIo);
    assert!(error.message().contains("timeout_ms"), "{error}");
    world.machine.hanging.store(false, SeqCst);
    for _ in 0..100 {
        if open.next().is_ok() {
            return;
        }
    }
    panic!("it did not recover");
}

#[test]
fn a_held_record_is_not_reset() {
    let world = World::new();
    let process = world.process();
    let error = process.reset().unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    assert!(world.files().is_empty(), "nothing is made");
    let open = process.open(builder()).unwrap();
    let before = world.files();
    for _ in 0..2 {
        let error = process.reset().unwrap_err();
        assert_eq!(error.code(), Code::WorkerInUse);
        assert!(error.message().contains("pid") && error.message().contains("end that process"), "{error}");
        assert_eq!(world.files(), before);
        // Another namespace of the network sees the lock of the record alone.
        lock(&world.machine.host_locks).clear();
    }
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
        let before = world.files().remove(&path);
        let error = world.process().open(builder()).err().unwrap();
        assert_eq!(error.code(), code, "{error}");
        for said in [said, "worker id 7", "leafid state reset 7 --confirm 7"] {
            assert!(error.message().contains(said), "{error} does not say {said}");
        }
        let open = world.process().open_worker(7..=8, builder()).unwrap();
        assert_eq!(open.generator.worker_id(), 8, "a range goes on to the next");
        assert_eq!(world.files().remove(&path), before);
    }
    world.record(Record { run: years, ..good });
    world.process().reset().unwrap();
    // Whatever the record said, it skips as much as the widest rules can have granted.
    world.pass(3_604_000);
    let open = world.process().open(builder()).unwrap();
    assert!((0..1_000).contains(&(open.next_ms() - START_MS - 3_604_000)));
}

#[test]
fn random_starts_of_two_generators_differ() {
    let world = World::new();
    let process = world.process();
    let start = |id| {
        let open = process.open_worker(id..=id, builder().random_start(1_000)).unwrap();
        leafid_core::Layout::LEAF.decode(open.next().unwrap()).unwrap().sequence
    };
    assert_ne!(start(7), start(8));
}

/// Its clock is compared, and its start waits, as its own options say.
#[test]
fn an_opening_after_one_that_failed_is_of_its_own_settings() {
    let world = World::new();
    let process = world.process();
    world.machine.hanging.store(true, SeqCst);
    assert_eq!(process.interrupted(builder()).code(), Code::WouldBlock);
    world.machine.hanging.store(false, SeqCst);
    let open = process.open(builder()).unwrap();
    assert!(Arc::ptr_eq(&open.generator.driver.settings, &open.settings));
}

#[test]
fn a_container_killed_at_any_time_with_its_record_gone_repeats_nothing() {
    for seed in 1..=20u64 {
        let world = World::new();
        *lock(&world.machine.file_system) =
            FileSystem { name: "overlay".into(), kind: FilesystemKind::Ephemeral };
        // Of some not even a record is kept.
        let persists = seed % 2 == 0;
        let mut random = seed;
        let mut draw = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        let mut seen = BTreeSet::new();
        for _ in 0..30 {
            let open = world.process().open(builder().random_start(0).persist(persists)).unwrap();
            for _ in 0..draw(3_000) {
                let id = open.next().unwrap();
                let at = leafid_core::Layout::LEAF.decode(id).unwrap().timestamp_ms;
                let ahead = at - world.machine.now_ms();
                assert!(ahead <= 0, "seed {seed}: ahead of the clock by {ahead} ms");
                assert!(seen.insert(id), "seed {seed}: {id} twice");
                if draw(1_000) == 0 {
                    world.pass(draw(5) as i64);
                }
                if draw(2_000) == 0 {
                    // Back while it runs: it waits.
                    world.machine.step_clock(-(draw(50) as i64));
                }
            }
            // The kill and the start of the next container take as long as the lead after a step back.
            world.pass(50);
            assert_eq!(world.files().is_empty(), !persists);
            world.machine.forget_all();
        }
        assert!(seen.len() > 1_000);
    }
}
