//! Closes on other threads than the JavaScript thread, because a lease server may not respond to a release.

use leafid::Snowflake;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// The number of running closes.
static UNDER_WAY: Mutex<usize> = Mutex::new(0);
static ENDED: Condvar = Condvar::new();

/// Closes this handle at once. If it was the last one of the generator, the rest runs on its own thread.
pub(crate) fn close_soon(flake: &Snowflake) -> leafid::Result<()> {
    if flake.stats().is_ok_and(|stats| stats.handles > 1) {
        return flake.close();
    }
    // While this handle exists, the one that is closed here is not the last.
    let last = flake.clone();
    let closed = flake.close();
    count(|under_way| *under_way += 1);
    let close = move || {
        // A drop logs errors, because no caller is left.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(last)));
        count(|under_way| *under_way -= 1);
        ENDED.notify_all();
    };
    if std::thread::Builder::new().name("leafid-close".into()).spawn(close).is_err() {
        // The closure was dropped, and its handle with it, so it is closed here.
        count(|under_way| *under_way -= 1);
    }
    closed
}

/// Waits until all are closed, at most `patience`.
pub(crate) fn settle(patience: Duration) {
    let under_way = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = ENDED.wait_timeout_while(under_way, patience, |under_way| *under_way > 0);
}

fn count(change: impl FnOnce(&mut usize)) {
    change(&mut UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner));
}
