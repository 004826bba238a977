//! `WorkerRun` on long random walks through a world that does all it can to make an id come twice, or none at all.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[allow(dead_code, reason = "another program uses the rest")]
#[path = "../common/mod.rs"]
mod common;
#[allow(dead_code, reason = "another program uses the rest")]
mod world;

use crate::common::{Random, each_seed};
use leafid_core::{OnClockBackwards, Rules};
use std::cell::Cell;
use world::{Event, Ids, RunBounds, Setting, State};

/// The number of events of a walk.
const EVENTS: usize = 300;
/// Clocks that are fast or slow are not far off after so many ticks.
const TICKS: i64 = 25;
/// The last events, which a failure shows.
const SHOWN: usize = 40;

/// The number of seeds of each kind of workers: `LEAFID_WORLDS` has more.
fn worlds() -> u64 {
    std::env::var("LEAFID_WORLDS").ok().and_then(|text| text.parse().ok()).unwrap_or(100)
}

/// Most events are good ones, or nothing would ever happen.
fn drawn(state: &State, random: &mut Random) -> Event {
    let ticks = if state.keeps_time() { i64::MAX / 1_000_000_000 } else { TICKS };
    let (ids, most) = (usize::MAX, u32::MAX - 1);
    let bounds = RunBounds { ticks, ids, starts: most, faults: most, late: most, resets: most };
    if let Some(at) = state.stood_long() {
        return Event::ClockIsSet(at, 0);
    }
    let mut events = Vec::new();
    state.events(&bounds, &mut events);
    // These may be followed by a lease that is held for ever, and by an id of two hosts: models try them one by one.
    events.retain(|event| !matches!(event, Event::EndsAsAnother(..) | Event::ServerLosesSpan(_)));
    let is_good = |event: &Event| {
        use Event::{Ends, HasEffect, NextId, Open, Pass};
        matches!(event, Pass | Open(_) | NextId(_) | Ends(..) | HasEffect(..))
    };
    let (good, bad): (Vec<Event>, Vec<Event>) = events.into_iter().partition(is_good);
    let from = if good.is_empty() || (random.below(6) == 0 && !bad.is_empty()) { bad } else { good };
    match if from.is_empty() { Event::Pass } else { random.pick(&from) } {
        Event::Pass if state.tick_ms() <= 1_000 && random.below(3) > 0 => {
            // Often to the very end of a lease.
            let lease_ms = state.lease_ms(random.below(2) as usize).filter(|_| random.below(3) == 0);
            let ms = lease_ms.map_or(1, |ms| ms + random.between(-1, 1));
            let part_ms = random.between(1, state.tick_ms());
            Event::PassMs(if ms > 1 && ms < 10_000 { ms } else { part_ms })
        }
        event => event,
    }
}

/// Returns how many leases of caches were used.
fn walk(settings: &[Setting]) -> u32 {
    let (issued, cached) = (Cell::new(0), Cell::new(0));
    each_seed(worlds(), |seed| {
        let mut random = Random(seed);
        let mut state = State::new(random.pick(settings));
        let mut went = Vec::new();
        for at in 0..EVENTS {
            let event = drawn(&state, &mut random);
            // Who is stopped is often stopped for long.
            let times = if let Event::PassWithout(_) = event { random.below(15) + 1 } else { 1 };
            for _ in 0..times {
                let mut next = state.clone();
                if next.happens(event).is_some() {
                    went.push(event);
                    state = next;
                }
            }
            let shown = &went[went.len().saturating_sub(SHOWN)..];
            assert_eq!(state.wrong(), None, "{state:#?}\nafter {shown:#?}");
            assert!(
                !state.is_disk_shared(),
                "two calls on the lane of the disk:\n{state:#?}\nafter {shown:#?}"
            );
            if at % 10 == 0 || at + 1 == EVENTS {
                assert!(state.goes_on(), "no ids, or not all is given back:\n{state:#?}\nafter {shown:#?}");
            }
        }
        issued.set(issued.get() + state.issued());
        cached.set(cached.get() + state.cached());
    });
    assert!(issued.get() > 0, "nothing was issued at all");
    cached.get()
}

/// The worlds of these worker ids, on one host: with each rule for the clock, and sources that give more or not.
fn on_one_host(ids: Ids) -> Vec<Setting> {
    let setting = Setting::leased(ids);
    let waits = Rules { on_clock_backwards: OnClockBackwards::Wait, max_backwards_ms: 5, ..setting.rules };
    let quick = Setting { tick_ms: 200, ..setting };
    let all = [setting, Setting { rules: waits, ..setting }, quick];
    all.into_iter().flat_map(|each| [each.at_random(false), each.at_random(true)]).collect()
}

/// Besides on two hosts, of different speed.
fn on_any_hosts(ids: Ids) -> Vec<Setting> {
    let apart = [2, 1, 4].map(|speed| Setting::leased(ids).apart(speed).at_random(speed == 2));
    [on_one_host(ids), apart.to_vec()].concat()
}

#[test]
fn a_fixed_worker_id() {
    let all: Vec<Setting> = Setting::of_one_record().into_iter().map(|each| each.at_random(false)).collect();
    walk(&all);
}

#[test]
fn a_range_of_worker_ids() {
    walk(&on_one_host(Ids::Range(3)));
}

#[test]
fn a_worker_id_that_a_function_returns() {
    walk(&on_one_host(Ids::Function));
}

#[test]
fn leased_worker_ids() {
    walk(&[on_any_hosts(Ids::Object(1)), on_any_hosts(Ids::Object(3))].concat());
}

#[test]
fn worker_ids_of_lease_servers() {
    let cached: Vec<Setting> =
        on_any_hosts(Ids::Server(3)).into_iter().map(|each| Setting { persists: true, ..each }).collect();
    assert!(walk(&[on_any_hosts(Ids::Server(1)), cached].concat()) > 0, "no server was down for long enough");
}

#[test]
fn leased_worker_ids_without_records() {
    let all = on_any_hosts(Ids::Object(3)).into_iter().map(|each| Setting { persists: false, ..each });
    walk(&all.collect::<Vec<Setting>>());
}
