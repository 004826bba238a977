//! Tests of generators whose records may not survive: no id is ever ahead of the clock; and where their ids start.

use super::*;

fn ephemeral() -> World {
    let world = World::new();
    *lock(&world.0.file_system) = FileSystem { name: "overlay".into(), kind: FilesystemKind::Ephemeral };
    world
}

/// The clock of the world, Unix milliseconds.
fn now_ms(world: &World) -> i64 {
    world.now_ns().div_euclid(1_000_000)
}

#[test]
fn a_container_killed_at_any_time_with_its_record_gone_repeats_nothing() {
    for seed in 1..=20u64 {
        let world = ephemeral();
        let mut random = seed;
        let mut draw = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        let mut seen = BTreeSet::new();
        for _ in 0..30 {
            let open = world.process().open(builder().random_start(0)).unwrap();
            for _ in 0..draw(3_000) {
                let id = open.next().unwrap();
                let at = leafid_core::Layout::LEAF.decode(id).unwrap().timestamp_ms;
                assert!(
                    at <= now_ms(&world),
                    "seed {seed}: ahead of the clock by {} ms",
                    at - now_ms(&world)
                );
                assert!(seen.insert(id), "seed {seed}: {id} twice");
                if draw(1_000) == 0 {
                    world.pass(draw(5) as i64);
                }
                if draw(2_000) == 0 {
                    // Back while it runs: it waits.
                    world.set_clock(-(draw(50) as i64));
                }
            }
            // The kill and the start of the next container take as long as the lead after a step back.
            world.pass(50);
            lock(&world.0.files).clear();
        }
        assert!(seen.len() > 1_000);
    }
}

#[test]
fn without_a_record_nothing_is_ahead_either() {
    let world = World::new();
    let mut seen = BTreeSet::new();
    for _ in 0..20 {
        let open = world.process().open(builder().persist(false).random_start(0)).unwrap();
        for _ in 0..5_000 {
            let id = open.next().unwrap();
            assert!(leafid_core::Layout::LEAF.decode(id).unwrap().timestamp_ms <= now_ms(&world));
            assert!(seen.insert(id), "{id} twice");
        }
        assert!(lock(&world.0.files).is_empty());
    }
    let world = World::new();
    let process = world.process();
    let open = process.open(builder().persist(false)).unwrap();
    open.next().unwrap();
    world.set_clock(-100);
    assert!(open.next_ms() <= now_ms(&world), "waited for");
    world.set_clock(-5_001);
    assert_eq!(open.next().unwrap_err().code(), Code::ClockBackwards);
}

#[test]
fn what_runs_ahead_by_choice_is_refused_there() {
    let world = ephemeral();
    let borrow = || builder().on_exhausted(leafid_core::OnExhausted::Borrow);
    let error = world.process().open(borrow()).err().unwrap();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(error.message().contains("overlay"), "{error}");
    *lock(&world.0.file_system) = FileSystem { name: "nfs4".into(), kind: FilesystemKind::Network };
    let error = world.process().open(builder()).err().unwrap();
    assert_eq!(error.code(), Code::StateIo);
    assert!(error.message().contains("nfs4") && error.message().contains("shared_fs"), "{error}");
    let open = world.process().open(borrow().shared_fs(true)).unwrap();
    open.next().unwrap();
}

#[test]
fn every_id_is_of_a_later_tick_than_the_one_to_start_after() {
    let layout = leafid_core::Layout::LEAF;
    for (ahead_ms, code) in
        [(-86_400_000, None), (0, None), (2_000, None), (5_100, Some(Code::ClockBackwards))]
    {
        let world = World::new();
        let largest = layout.compose(START_MS + ahead_ms, 1_023, 4_095).unwrap();
        match world.process().open(builder().start_after(largest)) {
            Ok(open) => {
                assert_eq!(code, None);
                for _ in 0..5_000 {
                    assert!(open.next().unwrap() > largest);
                }
            }
            Err(error) => {
                assert_eq!(Some(error.code()), code, "{error}");
                assert!(error.message().contains("ahead of the clock"), "{error}");
            }
        }
        assert!(code.is_some() || ahead_ms < 5_000);
    }
}

#[test]
fn a_suspended_machine_goes_on_with_the_time_it_wakes_at() {
    let world = World::new();
    let process = world.process();
    let open = process.open(builder()).unwrap();
    for _ in 0..100 {
        open.next().unwrap();
        world.pass(10);
    }
    // Both clocks count a suspend, so this is not a leap.
    world.pass(8 * 3_600_000);
    let at = open.next_ms();
    assert_eq!(at, now_ms(&world), "at once, and not behind");
}

#[test]
fn a_clock_before_the_build_is_refused() {
    let world = World::new();
    let built_ms = START_MS + 86_400_000;
    let error = world.process_built(built_ms).open(builder()).err().unwrap();
    assert_eq!(error.code(), Code::ClockBackwards);
    assert!(error.message().contains("built") && error.message().contains("correct the clock"), "{error}");
    world.process_built(START_MS).open(builder()).unwrap().next().unwrap();
}
