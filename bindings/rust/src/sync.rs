//! Locks of the standard library: futexes with nothing global behind them, so that one made after a fork works in the
//! child. (parking_lot's keep their waiters in one table of the process, whose own locks a fork can catch taken.)

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks; a panic of another holder is no reason to fail, as all that is guarded is written in one step.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
