//! Locks of the standard library.
//!
//! They are futexes without global state, so a lock that is created after a fork works in the child. `docs/DESIGN.md`
//! says which locks do not.
//!
//! A caller's thread blocks signals while it holds such a lock, and waits without holding one. So a fork in a signal
//! handler never leaves a child with a lock that no thread there will release.

use crate::os::sync::{Instant, Mutex, MutexGuard, PoisonError, thread};
use crate::os::{self, without_signals};
use leafid_core::PollPause;

/// Locks, on one of leafid's threads. A panic of an earlier holder is not an error: each guarded value changes in one
/// step.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a short action under the lock, with signals blocked, on any thread. Returns `None` in another process than that
/// of `generation`, that is, in a forked child.
pub(crate) fn lock_signal_safe<T, R>(
    mutex: &Mutex<T>,
    generation: u64,
    action: impl FnOnce(&mut T) -> R,
) -> Option<R> {
    without_signals(|| (generation == os::process::generation()).then(|| action(&mut lock(mutex))))
}

/// Sleeps between two polls.
pub(crate) struct PollSleep {
    pauses: PollPause,
}

impl PollSleep {
    pub(crate) fn new() -> PollSleep {
        PollSleep { pauses: PollPause::of_thread() }
    }

    /// Sleeps, at most until the deadline. Returns false once that has passed.
    pub(crate) fn until(&mut self, deadline: Instant) -> bool {
        let left = deadline.saturating_duration_since(Instant::now());
        thread::sleep(self.pauses.next_pause().min(left));
        !left.is_zero()
    }
}
