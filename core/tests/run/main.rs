//! `WorkerRun` in worlds that do all they can to make an id come twice, or none at all.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[allow(dead_code, reason = "another program uses the rest")]
#[path = "../common/mod.rs"]
mod common;

mod caches;
mod calls;
#[allow(dead_code, reason = "another program uses the rest")]
mod disk;
mod hosts;
mod judge;
#[allow(dead_code, reason = "another program uses the rest")]
mod lease_server;
mod mischief;
mod plan;
mod seen;
#[allow(dead_code, reason = "another program uses the rest")]
mod sources;
#[allow(dead_code, reason = "another program uses the rest")]
mod told;
mod users;
mod world;

use crate::common::each_seed;
use std::cell::Cell;
use world::{Workers, World};

/// The number of seeds of each kind of workers: `LEAFID_WORLDS` has more.
fn worlds() -> u64 {
    std::env::var("LEAFID_WORLDS").ok().and_then(|text| text.parse().ok()).unwrap_or(32)
}

/// Returns how many leases of caches were used.
fn live(workers: Workers) -> u64 {
    let cached = Cell::new(0);
    each_seed(worlds(), |seed| {
        let mut world = World::new(seed, workers);
        let chapters = 1 + world.random.below(4);
        for _ in 0..chapters {
            world.turn_unkind();
            let ms = 200 + world.random.below(30_000);
            world.pass(ms);
            world.turn_kind();
        }
        world.end();
        assert!(!world.judge.issued.is_empty(), "nothing was issued at all");
        cached.set(cached.get() + world.judge.cached);
    });
    cached.get()
}

#[test]
fn a_fixed_worker_id() {
    live(Workers::Fixed);
}

#[test]
fn a_range_of_worker_ids() {
    live(Workers::Range);
}

#[test]
fn a_worker_id_that_a_function_returns() {
    live(Workers::Callback);
}

#[test]
fn leased_worker_ids() {
    live(Workers::Leases);
}

#[test]
fn worker_ids_of_lease_servers() {
    assert!(live(Workers::Servers) > 0, "no server was down for long enough");
}

#[test]
fn leased_worker_ids_without_records() {
    live(Workers::Unrecorded);
}
