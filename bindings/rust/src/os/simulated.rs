//! Simulated processes: one thread plays many processes in turn. An action that would start a thread runs at once, or
//! is left to the simulation.

use std::cell::{Cell, RefCell};

/// An action that would have run on its own thread.
pub(crate) type Action = Box<dyn FnOnce()>;

thread_local! {
    static PROCESS: Cell<u64> = const { Cell::new(0) };
    static LEFT: RefCell<Vec<Action>> = const { RefCell::new(Vec::new()) };
}

/// From now on this thread plays the process of this generation; 0 ends that.
pub(crate) fn play(generation: u64) {
    PROCESS.set(generation);
}

/// The generation that this thread plays.
#[inline]
pub(crate) fn played() -> Option<u64> {
    Some(PROCESS.get()).filter(|&generation| generation != 0)
}

/// Leaves an action to the simulation, which runs it at any time, or never.
pub(crate) fn leave(action: impl FnOnce() + 'static) {
    LEFT.with_borrow_mut(|left| left.push(Box::new(action)));
}

/// The actions that were left since the last call.
pub(crate) fn left() -> Vec<Action> {
    LEFT.take()
}
