//! Locks of the standard library.
//!
//! They are futexes without global state, so a lock that is created after a fork works in the child. (parking_lot keeps
//! its waiters in one table of the process, and a fork can copy the locks of this table while they are held.)
//!
//! A caller's thread blocks signals while it holds such a lock, and waits without holding one. So a fork in a signal
//! handler never leaves a child with a lock that no thread there will release.

use crate::os::{self, without_signals};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

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

/// Sleeps between two polls. The first sleeps are short, because most waits take a fraction of a millisecond.
pub(crate) struct PollSleep {
    next: Duration,
}

impl PollSleep {
    pub(crate) fn new() -> PollSleep {
        PollSleep { next: Duration::from_micros(30) }
    }

    /// Sleeps, at most until the deadline. Returns false once that has passed.
    pub(crate) fn until(&mut self, deadline: Instant) -> bool {
        let left = deadline.saturating_duration_since(Instant::now());
        std::thread::sleep(self.next.min(left));
        self.next = (self.next * 3 / 2).min(Duration::from_millis(5));
        !left.is_zero()
    }
}
