//! How many calls a source has beside each other; calls of all sizes, which take turns, and a close while the disk
//! hangs, in a world in which nothing else goes wrong.

use crate::counters::Kind;
use crate::host::Fate;
use crate::process::{Half, MOST_CALLS};
use crate::scenario::{Scenario, TAGS};
use crate::world::World;
use leafid_core::supply::{Call, Ticket};
use std::time::Duration;

/// A process with a caller of each tag that waits for long.
fn all_wait() -> World {
    let scenario = Scenario { processes: 1, tags: &TAGS, ..Scenario::of(Kind::Callback) };
    let mut world = World::new(scenario, 1);
    for tag in TAGS {
        let half = Half { timeout: Duration::from_secs(600), ..world.ask(0, tag, 1) };
        world.go_on(0, half).expect("nothing is there");
    }
    world
}

/// Takes all calls, and ends those to the source in this way, or leaves them under way. Returns the number of these.
fn go_on(world: &mut World, ends: Option<Fate>) -> usize {
    let mut asked = 0;
    loop {
        let pulled = world.pull(0);
        world.listen(0);
        let is_fetch = |call: &Call| matches!(call, Call::Fetch(_));
        asked +=
            usize::from(pulled && world.processes[0].calls.last().is_some_and(|last| is_fetch(&last.call)));
        let may_end =
            world.processes[0].calls.iter().position(|call| !is_fetch(&call.call) || ends.is_some());
        match may_end {
            Some(at) if is_fetch(&world.processes[0].calls[at].call) => {
                world.carry_on(0, at, ends.expect("it may end"));
            }
            Some(at) => world.carry_on(0, at, Fate::Well),
            None if !pulled => return asked,
            None => {}
        }
    }
}

#[test]
fn a_callback_that_hangs_has_four_calls_and_more_only_as_they_are_slow() {
    let mut world = all_wait();
    assert_eq!(go_on(&mut world, None), 4);
    let mut calls = 4;
    for _ in 0..20 {
        world.pass(Duration::from_millis(99));
        assert_eq!(go_on(&mut world, None), 0);
        world.pass(Duration::from_millis(1));
        calls += go_on(&mut world, None);
    }
    assert_eq!(calls, MOST_CALLS);
}

#[test]
fn a_source_that_is_down_is_asked_five_times_a_second_for_all_tags_together() {
    let mut world = all_wait();
    let mut asked = Vec::new();
    let until = world.boot + Duration::from_secs(30);
    while world.boot < until {
        let count = go_on(&mut world, Some(Fate::FailsBefore));
        asked.extend(std::iter::repeat_n(world.boot, count));
        let next = world.processes[0].supply.next_time().expect("its callers wait");
        world.pass(next.saturating_sub(world.boot).max(Duration::from_millis(1)));
    }
    assert!(asked.len() > 60, "{} calls in 30 s", asked.len());
    for (at, begun) in asked.iter().enumerate() {
        let within = asked[at..].iter().take_while(|other| **other < *begun + Duration::from_secs(1)).count();
        assert!(within <= 5, "{within} calls in a second");
    }
    // It is back, and all are served.
    world.turns_kind();
}

/// The steps of one fetch: a mark is read, the source asked, the mark locked, written, and seen to be written.
const STEPS: usize = 5;
/// The step of a process that looks for ids that an earlier one kept, and finds no file.
const LOOKS: usize = 1;

fn calm(scenario: Scenario) -> World {
    World::new(Scenario { processes: 1, ..scenario }, 1)
}

fn waits(world: &mut World, count: usize) -> Ticket {
    let half = world.ask(0, "order", count);
    world.go_on(0, half).expect("nothing is there")
}

/// Carries out `count` steps of calls. Returns the callers that were served, in order.
fn steps(world: &mut World, count: usize) -> Vec<Ticket> {
    let mut served = Vec::new();
    for _ in 0..count {
        while world.pull(0) {}
        world.carry_on(0, 0, Fate::Well);
        world.listen(0);
        let waits = world.processes[0].waits.iter().filter(|(_, waits)| waits.is_woken);
        let woken: Vec<Ticket> = waits.map(|(ticket, _)| *ticket).collect();
        served.extend(woken.into_iter().filter(|ticket| world.collect(0, *ticket) == Some(true)));
    }
    served
}

#[test]
fn calls_for_one_id_are_served_beside_one_for_all_that_fit() {
    let mut world = calm(Scenario { step: 1_000, ..Scenario::of(Kind::Callback) });
    waits(&mut world, 1 << 24);
    assert_eq!(steps(&mut world, 3 * STEPS), [], "it has 3,000 of its ids");
    let small = [(); 3].map(|()| waits(&mut world, 1));
    assert_eq!(steps(&mut world, 2 * STEPS), small);
}

#[test]
fn a_call_for_many_ids_is_served_beside_endless_calls_for_one() {
    let mut world = calm(Scenario { step: 10, ..Scenario::of(Kind::Callback) });
    let many = waits(&mut world, 100);
    let mut fetches = 0;
    loop {
        while world.processes[0].waits.len() < 30 {
            waits(&mut world, 1);
        }
        fetches += 1;
        assert!(fetches < 200, "2,000 ids came, and it does not have its hundred");
        if steps(&mut world, STEPS).contains(&many) {
            return;
        }
    }
}

#[test]
fn two_calls_for_many_ids_take_turns() {
    let mut world = calm(Scenario { step: 400, ..Scenario::of(Kind::Callback) });
    waits(&mut world, 1 << 24);
    let less = waits(&mut world, 1_000);
    let mut fetches = 0;
    while !steps(&mut world, STEPS).contains(&less) {
        fetches += 1;
        assert!(fetches < 10, "4,000 ids came, and it does not have its thousand");
    }
}

#[test]
fn a_close_ends_once_though_the_disk_hangs() {
    let mut world = calm(Scenario { keeps_unused: true, step: 10, ..Scenario::of(Kind::Callback) });
    waits(&mut world, 1);
    assert_eq!(steps(&mut world, LOOKS + STEPS).len(), 1);
    world.close(0);
    assert!(world.pull(0), "what is left is stored");
    world.listen(0);
    assert_eq!(world.processes[0].closed, 0, "it waits for the disk");
    let at = world.processes[0].supply.next_time().expect("it does not wait for ever");
    assert!(at <= world.boot + Duration::from_secs(2));
    world.pass(at - world.boot);
    world.listen(0);
    assert_eq!(world.processes[0].closed, 1);
    // The disk answers after all.
    while !world.processes[0].calls.is_empty() {
        world.carry_on(0, 0, Fate::Well);
    }
    world.listen(0);
    assert_eq!((world.processes[0].closed, world.pull(0)), (1, false));
}

#[test]
fn a_process_goes_on_with_the_ids_that_an_earlier_one_kept() {
    let mut world = calm(Scenario { keeps_unused: true, step: 10, ..Scenario::of(Kind::Callback) });
    waits(&mut world, 3);
    assert_eq!(steps(&mut world, LOOKS + STEPS).len(), 1);
    world.close(0);
    while world.pull(0) {}
    while !world.processes[0].calls.is_empty() {
        world.carry_on(0, 0, Fate::Well);
    }
    world.listen(0);
    assert_eq!(world.processes[0].closed, 1);
    world.kill(0);
    world.start();
    waits(&mut world, 7);
    let asked = world.counters.clone().take("order", 1, 0);
    assert_eq!(steps(&mut world, 3).len(), 1, "all seven are taken from the file");
    assert_eq!(world.counters.take("order", 1, 0), asked, "the source was not asked");
}
