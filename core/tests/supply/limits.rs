//! What a source is asked for while it hangs, or is down: by a host of many tags, all with callers.

use crate::counters::Kind;
use crate::host::Fate;
use crate::process::{Half, MOST_CALLS};
use crate::scenario::{Scenario, TAGS};
use crate::world::World;
use leafid_core::supply::Call;
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
