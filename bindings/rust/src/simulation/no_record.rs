//! Tests of starts without a record of their worker id, which another directory, container or host may have used.

use super::*;
use std::collections::HashSet;

const WAIT_MS: i64 = 3_000;

fn waiting() -> SnowflakeBuilder {
    builder().no_record_wait_ms(WAIT_MS)
}

/// The places where a record may be missing.
fn places() -> Vec<(&'static str, World, SnowflakeBuilder)> {
    let ephemeral = World::new();
    *lock(&ephemeral.0.file_system) = FileSystem { name: "tmpfs".into(), kind: FilesystemKind::Ephemeral };
    vec![
        ("a disk", World::new(), builder()),
        ("a disk, waiting for the clock", World::new(), builder().on_clock_backwards(OnClockBackwards::Wait)),
        ("a disk, borrowing", World::new(), builder().on_exhausted(leafid_core::OnExhausted::Borrow)),
        ("tmpfs", ephemeral, builder()),
        ("no record", World::new(), builder().persist(false)),
    ]
}

/// Ids at full speed, for this time by the clock.
fn burst(world: &World, open: &Open, ms: i64) -> Vec<i64> {
    let mut ids = Vec::new();
    for _ in 0..ms {
        ids.extend((0..100).map(|_| open.next().unwrap()));
        world.pass(1);
    }
    ids
}

#[test]
fn a_worker_id_that_moves_without_its_record_repeats_ids_unless_its_start_waits() {
    for (wait_ms, repeats) in [(0, true), (WAIT_MS, false)] {
        for (place, _, options) in places() {
            let here = World::new();
            let there = here.process().open(options.clone()).unwrap();
            let mut seen: HashSet<i64> = burst(&here, &there, 1_500).into_iter().collect();
            // Its next holder is on a host whose clock is 2 s behind.
            let (_, moved, _) = places().into_iter().find(|(name, ..)| *name == place).unwrap();
            moved.set_clock(here.0.now_ns.load(SeqCst) / 1_000_000 - START_MS - 2_000);
            let options = options.no_record_wait_ms(wait_ms).timeout_ms(WAIT_MS + 1_000);
            let next = moved.process().open(options).unwrap();
            let twice = burst(&moved, &next, 2_000).into_iter().filter(|id| !seen.insert(*id)).count();
            assert_eq!(twice > 0, repeats, "{place}: {twice} ids came twice");
        }
    }
}

#[test]
fn nothing_is_issued_before_the_clock_has_passed_the_wait() {
    for (place, world, options) in places() {
        let open = world.process().open(options.no_record_wait_ms(WAIT_MS).timeout_ms(100)).unwrap();
        for _ in 0..5 {
            let error = open.next().unwrap_err();
            assert_eq!(error.code(), Code::ClockBackwards, "{place}: {error}");
            for said in ["no record of worker id 7", "2023-11-14T22:13:23.001Z", "no_record_wait_ms"] {
                assert!(error.message().contains(said), "{place}: {error}");
            }
            world.pass(500);
        }
        world.pass(450);
        // The rest is short enough to wait.
        let first = open.next_ms();
        assert_eq!(first, START_MS + WAIT_MS + 1, "{place}");
        assert_eq!(world.0.now_ns.load(SeqCst) / 1_000_000, first, "{place}: issued ahead of the clock");
        assert!(open.next_ms() >= first);
    }
}

#[test]
fn a_wait_is_not_forgotten_by_a_crash_nor_by_a_close() {
    for rule in [OnClockBackwards::Continue, OnClockBackwards::Wait] {
        for closes in [true, false] {
            let world = World::new();
            for _ in 0..4 {
                let process = world.process();
                let open = process.open(waiting().on_clock_backwards(rule).timeout_ms(10)).unwrap();
                assert_eq!(open.next().unwrap_err().code(), Code::ClockBackwards);
                if closes {
                    process.close(open);
                } else {
                    world.cut_power();
                }
                world.pass(700);
            }
            let process = world.process();
            let open = process.open(waiting().on_clock_backwards(rule)).unwrap();
            assert_eq!(open.next_ms(), START_MS + WAIT_MS + 1);
            assert_eq!(world.0.now_ns.load(SeqCst) / 1_000_000, START_MS + WAIT_MS + 1);
            // With the record there is no wait any more.
            process.close(open);
            world.pass(1);
            let again = world.process().open(waiting().timeout_ms(10)).unwrap();
            assert_eq!(again.next_ms(), START_MS + WAIT_MS + 2);
        }
    }
}

#[test]
fn a_start_that_no_longer_waits_still_begins_above_what_an_earlier_one_waited_for() {
    let world = World::new();
    drop(world.process().open(waiting().timeout_ms(10)).unwrap());
    let open = world.process().open(builder()).unwrap();
    assert!(open.next_ms() > START_MS + WAIT_MS);
}

#[test]
fn a_record_of_which_nothing_was_granted_is_none_and_one_of_a_crash_needs_no_wait() {
    let world = World::new();
    world.record(Record { owner: 5, ..Record::unused(7, leafid_core::Layout::LEAF) });
    let open = world.process().open(waiting().timeout_ms(10)).unwrap();
    assert_eq!(open.next().unwrap_err().code(), Code::ClockBackwards);
    let world = World::new();
    drop(world.process().open(builder()).unwrap());
    world.process().open(waiting().timeout_ms(10)).unwrap().next().unwrap();
}

#[test]
fn a_wait_that_ends_with_the_last_tick_is_no_error_and_a_longer_one_is() {
    let layout = leafid_core::Layout::LEAF;
    let end_ms = layout.tick_start_ms(layout.last_tick()) - START_MS;
    for (left_ms, code) in [(WAIT_MS + 1, None), (WAIT_MS, Some(Code::TimeExhausted))] {
        let world = World::new();
        world.set_clock(end_ms - left_ms);
        let opened = world.process().open(waiting().timeout_ms(10));
        assert_eq!(opened.err().map(|error| error.code()), code);
    }
}

#[test]
fn a_clock_that_goes_back_in_the_wait_makes_it_longer() {
    let world = World::new();
    let open = world.process().open(waiting().timeout_ms(10)).unwrap();
    world.set_clock(-3_600_000);
    let error = open.next().unwrap_err();
    assert_eq!(error.code(), Code::ClockBackwards);
    assert!(error.message().contains("3603001 ms"), "{error}");
}

#[test]
fn a_range_prefers_an_id_whose_record_is_there() {
    let world = World::new();
    let first = world.process().open_worker(3..=3, builder()).unwrap();
    first.next().unwrap();
    drop(first);
    world.pass(10_000);
    let open = world.process().open_worker(0..=7, waiting().timeout_ms(10)).unwrap();
    assert_eq!(open.generator.worker_id(), 3);
    open.next().unwrap();
}

#[test]
fn a_range_waits_for_the_id_that_can_be_had_first() {
    let layout = leafid_core::Layout::LEAF;
    let at = |ms: i64| layout.tick_at(START_MS + ms).unwrap();
    for (ahead_ms, worker_id) in [(WAIT_MS - 1_000, 7), (WAIT_MS + 1_000, 8)] {
        let world = World::new();
        let run = Span { from: at(-1_000), until: at(ahead_ms) };
        world.record(Record { run, granted_at_ms: START_MS, ..Record::unused(7, layout) });
        let open = world.process().open_worker(7..=8, waiting()).unwrap();
        assert_eq!(open.generator.worker_id(), worker_id, "{ahead_ms} ms ahead");
    }
}
