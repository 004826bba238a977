//! `Supply` in worlds that are against it. A world holds processes, a disk, counters, servers and clocks as plain values,
//! so that a copy of it goes on by itself.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[allow(dead_code, reason = "the other tests use the rest")]
#[path = "../common/mod.rs"]
mod common;

mod adversary;
mod counters;
mod disk;
mod host;
mod judge;
mod liveness;
mod process;
mod scenario;
mod servers;
mod world;
