//! The pause of leafid's threads around a fork, for runtimes that hold a lock of their own then.

use crate::os::log_queue;
use crate::tasks::{fetch_pool, renewal_timer, user_calls};
use std::time::{Duration, Instant};

/// For bindings whose runtime holds its own lock during a fork: waits until no thread of leafid runs a user callback.
///
/// It waits at most `patience`. Until [`resume`], a callback starts only if a caller asks for an id.
pub fn quiesce(patience: Duration) {
    let begun = Instant::now();
    log_queue::pause();
    fetch_pool::pause();
    renewal_timer::pause();
    fetch_pool::stop(patience);
    renewal_timer::stop(patience.saturating_sub(begun.elapsed()));
    user_calls::wait(patience.saturating_sub(begun.elapsed()));
    // `log_queue::wait` comes last, because the two calls above may log.
    log_queue::wait(patience.saturating_sub(begun.elapsed()));
}

/// Ends a [`quiesce`] in the process that called it, even if no fork followed.
pub fn resume() {
    fetch_pool::resume();
    renewal_timer::resume();
    log_queue::resume();
}
