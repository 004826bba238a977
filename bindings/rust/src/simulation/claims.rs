//! Tests of claims: how long they wait, and where they start.

use super::*;
use leafid_core::Layout;

#[test]
fn a_start_that_waits_for_the_clock_waits_no_longer_than_its_thread_may() {
    for (left_ms, most_ms, code) in [(50, 100, None), (100, 60, Some(Code::WouldBlock))] {
        let world = World::new();
        let waiting = || builder().on_clock_backwards(OnClockBackwards::Wait);
        let crashed = world.process().open(waiting()).unwrap();
        let end_ms = crashed.generator.driver.stats().unwrap().reserved_until_ms;
        world.pass(end_ms - START_MS - left_ms);
        let opened = world.process().open(waiting().max_wait_ms(most_ms));
        assert_eq!(opened.err().map(|error| error.code()), code);
        if code.is_none() {
            assert_eq!(world.now_ns(), end_ms * 1_000_000, "and no longer than it must");
        }
    }
}

#[test]
fn a_range_takes_the_first_id_whose_time_has_come() {
    let world = World::new();
    let process = world.process();
    process.close(process.open_worker(3..=3, builder()).unwrap());
    world.pass(10_000);
    assert_eq!(world.process().open_worker(3..=4, builder()).unwrap().generator.worker_id(), 3);
}

#[test]
fn a_range_of_which_nothing_is_held_says_what_is_amiss() {
    let world = World::new();
    let corrupt = |id| {
        let path = crate::storage::state_file::path_of(Path::new("/simulated/default"), id);
        lock(&world.0.files).insert(path, vec![1; FILE_BYTES]);
    };
    let (one, other) = (world.process(), world.process());
    let _held = one.open_worker(8..=8, builder()).unwrap();
    corrupt(7);
    let error = other.open_worker(7..=8, builder()).err().unwrap();
    assert_eq!(error.code(), Code::WorkerInUse, "{error}");
    assert!(error.message().contains("besides: "), "{error}");
    corrupt(6);
    assert_eq!(other.open_worker(6..=7, builder()).err().unwrap().code(), Code::StateCorrupt);
}

#[test]
fn random_starts_of_two_generators_differ() {
    let world = World::new();
    let process = world.process();
    let start = |id| {
        let open = process.open_worker(id..=id, builder().random_start(1_000)).unwrap();
        Layout::LEAF.decode(open.next().unwrap()).unwrap().sequence
    };
    assert_ne!(start(7), start(8));
}

/// Its clock is compared, and its start waits, as its own options say.
#[test]
fn an_opening_after_one_that_failed_is_of_its_own_settings() {
    let world = World::new();
    let process = world.process();
    world.0.hanging.store(true, SeqCst);
    assert_eq!(process.interrupted(builder()).code(), Code::WouldBlock);
    world.0.hanging.store(false, SeqCst);
    let open = process.open(builder()).unwrap();
    assert!(Arc::ptr_eq(&open.generator.driver.settings, &open.settings));
}
