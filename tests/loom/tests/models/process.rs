//! A value of this process: what a handle holds, and whose it is after a fork.

use super::run::holds;
use super::{join, saw, spawn};
use per_process::PerProcess;
use std::sync::Arc;

#[path = "../../../../bindings/rust/src/os/per_process.rs"]
#[allow(dead_code, reason = "the model needs less of it")]
mod per_process;

/// Which process this is: here it changes by no fork.
mod process {
    use std::cell::Cell;

    thread_local! {
        // loom's threads are all of one thread of the system, and a fork has none beside it.
        static GENERATION: Cell<u64> = const { Cell::new(1) };
    }

    pub(crate) fn generation() -> u64 {
        GENERATION.get()
    }

    /// From here on this is the process of that generation.
    pub(super) fn becomes(generation: u64) {
        GENERATION.set(generation);
    }
}

mod sync {
    pub(crate) use loom::sync::atomic;
}

/// Claim: three threads of a forked child, which find a grandparent's and make a generator each, all use the same
/// one, which one of them made; what the others made is given back to them, and the ancestors' stays unused.
fn three_threads_of_a_child() {
    process::becomes(1);
    let cell = Arc::new(PerProcess::new());
    assert_eq!(cell.install(1, 1), Ok(()));
    process::becomes(3);
    let opens = |mine: i64| {
        let cell = Arc::clone(&cell);
        move || loop {
            if let Some(value) = cell.get() {
                return *value;
            }
            if cell.install(mine, 3).is_err() {
                saw("another thread was first");
            }
        }
    };
    let threads = [spawn(opens(20)), spawn(opens(30))];
    let mine = opens(10)();
    let all = [vec![mine], threads.into_iter().map(join).collect()].concat();
    assert!(!all.contains(&1), "an ancestor's generator is used: {all:?}");
    assert!(all.iter().all(|value| *value == mine), "several generators: {all:?}");
}

#[test]
fn a_child_has_one_generator_of_its_own() {
    holds(&["another thread was first"], three_threads_of_a_child);
}
