//! Which process this is, for the copies of the host's sources.

use std::cell::Cell;

thread_local! {
    // loom's threads are all of one thread of the system, and a fork has none beside it.
    static GENERATION: Cell<u64> = const { Cell::new(1) };
}

/// This process's generation.
pub fn generation() -> u64 {
    GENERATION.get()
}

/// From here on this is the process of that generation.
pub fn becomes(generation: u64) {
    GENERATION.set(generation);
}
