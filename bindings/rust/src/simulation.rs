//! The host over a clock and a disk that misbehave on command.

use crate::env::{AnyClock, Clock, DirectoryId, Disk, Env, LockedFile, Presence, Random};
use crate::host::Host;
use crate::live::Live;
use crate::settings::Settings;
use crate::slot::FILE_BYTES;
use crate::sync::lock;
use crate::timeline::Timeline;
use crate::wait::Wait;
use crate::{Snowflake, SnowflakeBuilder};
use leafid_core::{Code, Error, OnClockBackwards, Record, Result, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

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
    world.fail(Some(io::ErrorKind::StorageFull));
    world.pass(300);
    let durable_until = open.live.core.layout().tick_start_ms(open.live.core.until());
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
    // A crash now goes on above, torn slot or not.
    let last = open.next_ms();
    drop(open);
    assert!(world.process().open(builder()).unwrap().next_ms() > last);
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
    panic!("it did not heal");
}

#[test]
fn a_clock_an_hour_back_is_refused_with_both_times() {
    let world = World::new();
    world.process().open(builder()).unwrap().next().unwrap();
    world.set_clock(-3_600_000);
    let error = world.process().open(builder()).err().unwrap();
    assert_eq!(error.code(), Code::ClockBackwards);
    for part in ["1700000000000 ms", "1699996400000 ms", "3600000 ms behind", "correct the clock"] {
        assert!(error.message().contains(part), "{error}");
    }
    world.set_clock(3_600_000);
    world.process().open(builder()).unwrap().next().unwrap();
}

#[test]
fn a_step_survived_at_run_time_does_not_forbid_the_restart() {
    let world = World::new();
    let process = world.process();
    let open = process.open(builder()).unwrap();
    for _ in 0..5_000 {
        open.next().unwrap();
        world.pass(1);
    }
    world.set_clock(-4_000);
    let mut last = open.next_ms();
    for _ in 0..50 {
        let next = open.next_ms();
        assert!(next >= last);
        last = next;
        world.pass(1);
    }
    let restarted = world.process();
    assert!(restarted.open(builder()).unwrap().next_ms() > last);
}

#[test]
fn wait_starts_once_the_record_has_passed() {
    let world = World::new();
    let wait = || builder().on_clock_backwards(OnClockBackwards::Wait);
    let process = world.process();
    let open = process.open(wait()).unwrap();
    for _ in 0..10_000 {
        open.next().unwrap();
        world.pass(1);
    }
    let last = open.next_ms();
    let until = open.live.core.layout().tick_start_ms(open.live.core.until());
    let before = world.now_ns().div_euclid(1_000_000);
    let restarted = world.process();
    let first = restarted.open(wait()).unwrap().next_ms();
    assert!(first >= until && first > last);
    assert!(
        (until - 1..=until + 200).contains(&first) && until - before <= 3_000,
        "{first} {until} {before}"
    );
}

#[test]
fn burnt_spans_are_stepped_over_when_the_clock_comes_there() {
    let world = World::new();
    let layout = leafid_core::Layout::LEAF;
    let at = |ms: i64| layout.tick_at(START_MS + ms).unwrap();
    let burnt = Span { from: at(700), until: at(1_900) };
    let record = Record { burnt: vec![burnt], ..Record::unused(7, layout) };
    let stored = crate::slot::Stored {
        number: 0,
        name: "default".into(),
        record,
        writer: crate::state_file::this_process(0),
    };
    let path = crate::state_file::path_of(Path::new("/simulated/default"), 7);
    lock(&world.0.files).insert(path, crate::slot::unused_file(stored).unwrap().to_vec());
    let process = world.process();
    let open = process.open(builder()).unwrap();
    let mut seen = BTreeSet::new();
    for _ in 0..3_000 {
        seen.insert(layout.tick_at(open.next_ms()).unwrap());
        world.pass(1);
    }
    assert!(seen.iter().all(|tick| !(burnt.from..burnt.until).contains(tick)));
    assert!(seen.contains(&(burnt.from - 1)) && seen.contains(&burnt.until), "both sides are used");
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
                        crate::slot::read_file(Path::new("x"), &durable).unwrap().newest.record.run.until;
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
                open.live.shut(Duration::from_secs(1)).unwrap();
            }
        }
        assert!(last > 0);
    }
}

#[test]
fn a_leap_of_the_clock_poisons_no_record() {
    let world = World::new();
    let process = world.process();
    let open = process.open(builder()).unwrap();
    let ten_years = 10 * 365 * 86_400_000;
    let first = open.next_ms();
    for _ in 0..100 {
        world.pass(10);
        open.next_ms();
    }
    world.set_clock(ten_years);
    for _ in 0..100 {
        world.pass(100);
        assert!((0..20_000).contains(&(open.next_ms() - first)), "the leap is not followed");
    }
    world.set_clock(-ten_years);
    world.pass(1_000);
    let last = open.next_ms();
    let restarted = world.process();
    let open = restarted.open(builder()).unwrap();
    assert!((1..10_000).contains(&(open.next_ms() - last)), "a restart works");
    // One that stays is followed after a minute.
    world.set_clock(ten_years);
    for _ in 0..59 {
        world.pass(1_000);
        assert!(open.next_ms() - last < 100_000);
    }
    world.pass(2_000);
    open.next_ms();
    world.pass(2_000);
    assert!(open.next_ms() - last >= ten_years);
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
        // Until something was issued that the surviving slot does not cover.
        let (last, survivor) = loop {
            let last = open.next_ms();
            world.pass(1);
            let mut files = lock(&world.0.files);
            let file = files.values_mut().next().unwrap();
            let newest = crate::slot::read_file(Path::new("x"), file).unwrap();
            let survivor = crate::slot::read_slot(file, newest.spare).unwrap().record.run.until;
            if last >= open.live.core.layout().tick_start_ms(survivor) {
                let at = (1 - newest.spare) * crate::slot::SLOT_BYTES + 20;
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
