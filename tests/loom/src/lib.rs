//! The lock-free sources of leafid, compiled with loom's atomics, and the models of them.
#![allow(unexpected_cfgs, unused, unreachable_pub, reason = "most of it are copies of parts of other crates")]

include!(concat!(env!("OUT_DIR"), "/core.rs"));

/// Sources of the host.
mod host {
    include!(concat!(env!("OUT_DIR"), "/host.rs"));
}

/// Each breaks a rule; see `changes.rs`.
mod mutants {
    include!(concat!(env!("OUT_DIR"), "/mutants.rs"));
}

#[cfg(test)]
mod models;
mod process;

use loom::sync::atomic::{AtomicU64, Ordering, Ordering::Relaxed};

/// For mutants: as `compare_exchange`, but compares only the lowest bit.
fn one_bit(
    cell: &AtomicU64,
    found: u64,
    next: u64,
    success: Ordering,
    failure: Ordering,
) -> core::result::Result<u64, u64> {
    let same = |now: u64| now & 1 == found & 1;
    cell.fetch_update(success, failure, |now| same(now).then(|| now.wrapping_add(next - found)))
}

/// For mutants: as `swap`, but others come between.
fn in_two_steps(cell: &AtomicU64, value: u64) -> u64 {
    let found = cell.load(Relaxed);
    cell.store(value, Relaxed);
    found
}
