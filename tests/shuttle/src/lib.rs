//! The segments of leafid as they ship, with threads, locks and time of shuttle's and of `world.rs`, and the models of
//! them.
#![allow(
    unused,
    unexpected_cfgs,
    unreachable_pub,
    clippy::all,
    reason = "most of it are parts of another crate"
)]

pub mod models;
pub(crate) mod os;
pub mod run;
pub(crate) mod segments;
pub(crate) mod tasks;
pub mod world;
