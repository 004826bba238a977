//! A value of this process: what a handle holds, and whose it is after a fork.

use super::run::{breaks, holds};
use super::{join, saw, spawn};
use crate::{mutants, process};
use std::sync::Arc;

/// The cell of one source.
trait PerProcess: Send + Sync + Sized + 'static {
    fn new() -> Self;
    fn get(&self) -> Option<i64>;
    fn install(&self, value: i64, generation: u64) -> Result<(), i64>;
}

macro_rules! cells {
    ($($of:path),*) => { $(const _: () = {
        use $of as source;
        impl PerProcess for source::PerProcess<i64> {
            fn new() -> Self {
                source::PerProcess::new()
            }
            fn get(&self) -> Option<i64> {
                self.get().copied()
            }
            fn install(&self, value: i64, generation: u64) -> Result<(), i64> {
                self.install(value, generation)
            }
        }
    };)* };
}

cells!(crate::host::per_process, mutants::one_bit_process);

/// Claim: three threads of a forked child, which find a grandparent's and make a generator each, all use the same
/// one, which one of them made; what the others made is given back to them, and the ancestors' is used by nobody.
fn three_threads_of_a_child<P: PerProcess>() {
    process::becomes(1);
    let cell = Arc::new(P::new());
    assert_eq!(cell.install(1, 1), Ok(()));
    process::becomes(3);
    let opens = |mine: i64| {
        let cell = Arc::clone(&cell);
        move || loop {
            if let Some(value) = cell.get() {
                return value;
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
    let model = three_threads_of_a_child::<crate::host::per_process::PerProcess<i64>>;
    holds(&["another thread was first"], model);
}

#[test]
fn must_fail_a_process_of_one_bit() {
    let model = three_threads_of_a_child::<mutants::one_bit_process::PerProcess<i64>>;
    breaks("an ancestor's generator is used", model);
}
