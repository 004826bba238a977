//! Locks of the standard library: futexes with nothing global behind them, so that one made after a fork works in the
//! child. (parking_lot's keep their waiters in one table of the process, whose own locks a fork can catch taken.)
//!
//! A caller's thread holds them with signals blocked, and waits without them: so a fork in a signal handler never
//! leaves a child in the middle of a lock that nobody there will release.

use crate::os::{self, without_signals};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Locks, on a thread of leafid's own. A panic of another holder is no reason to fail: all that is guarded is written in
/// one step.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks for a short deed, on a caller's thread, in the process of this generation; none in a forked child.
pub(crate) fn locked<T, R>(mutex: &Mutex<T>, generation: u64, deed: impl FnOnce(&mut T) -> R) -> Option<R> {
    without_signals(|| (generation == os::process::generation()).then(|| deed(&mut lock(mutex))))
}

/// What failed is tried again after this.
pub(crate) const RETRY: Duration = Duration::from_millis(200);
const LATEST_RETRY: Duration = Duration::from_secs(10);

/// When to try again what failed so many times before the last.
pub(crate) fn later(failed: u32) -> Duration {
    (RETRY * 2u32.saturating_pow(failed.min(10))).min(LATEST_RETRY)
}

/// Sleeps a little, then longer: for what is commonly done in a fraction of a millisecond.
pub(crate) struct Pause {
    next: Duration,
}

impl Pause {
    pub(crate) fn new() -> Pause {
        Pause { next: Duration::from_micros(30) }
    }

    /// Sleeps, not beyond the deadline. `false` says that it has passed.
    pub(crate) fn until(&mut self, deadline: Instant) -> bool {
        let left = deadline.saturating_duration_since(Instant::now());
        std::thread::sleep(self.next.min(left));
        self.next = (self.next * 3 / 2).min(Duration::from_millis(5));
        !left.is_zero()
    }
}
