//! Worlds in which everything goes wrong, at random: seeds are played, and each world turns kind at many of its states.

use crate::common::{Random, each_seed};
use crate::counters::Kind;
use crate::scenario::Scenario;
use crate::world::World;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// The number of things that happen in a world.
const TURNS: u64 = 1_500;
/// After so many the world turns kind, in a copy of it.
const KIND_EACH: u64 = 250;

/// Plays worlds of a scenario, and asserts that they had all of `needed`.
fn plays(scenario: &Scenario, seeds: u64, needed: &[&str]) {
    let (seen, ids) = (RefCell::new(BTreeMap::new()), RefCell::new(0));
    each_seed(seeds, |seed| {
        let drawn = scenario.clone().drawn(&mut Random(seed));
        let mut world = World::new(drawn, seed);
        for turn in 1..=TURNS {
            world.turn();
            if turn % KIND_EACH == 0 {
                world.clone().turns_kind();
            }
        }
        world.turns_kind();
        *ids.borrow_mut() += world.judge.ids;
        for (what, times) in world.seen {
            *seen.borrow_mut().entry(what).or_insert(0) += times;
        }
    });
    println!("{:?}: {} ids; {:?}", scenario.kind, ids.borrow(), seen.borrow());
    if std::env::var_os("LEAFID_SEED").is_none() {
        for what in needed {
            assert!(seen.borrow().contains_key(what), "{what} never happened");
        }
    }
}

const ALWAYS: &[&str] = &[
    "served",
    "segment_unavailable",
    "segment_regressed",
    "state_io",
    "closed",
    "killed",
    "power cut",
    "cancelled",
    "put back",
    "restored",
    "ended twice",
    "ended again",
    "a forgotten write",
];

#[test]
fn a_callback_whose_ids_ascend() {
    plays(&Scenario::of(Kind::Callback), 40, ALWAYS);
}

#[test]
fn a_callback_whose_ids_come_in_no_order() {
    plays(&Scenario::of(Kind::Ranges), 40, ALWAYS);
}

#[test]
fn servers_of_ranges() {
    plays(&Scenario::of(Kind::Range), 40, ALWAYS);
}

#[test]
fn servers_of_tinyid() {
    plays(&Scenario::of(Kind::Tinyid), 40, ALWAYS);
}

#[test]
fn nodes_of_a_leaf() {
    plays(&Scenario::of(Kind::Leaf), 40, ALWAYS);
}

#[test]
fn a_supply_that_holds_its_marks() {
    let scenario = Scenario { holds_marks: true, processes: 1, ..Scenario::of(Kind::Ranges) };
    plays(
        &scenario,
        40,
        &["served", "a range", "forgotten", "closed", "given back", "cancelled", "put back", "ended again"],
    );
}
