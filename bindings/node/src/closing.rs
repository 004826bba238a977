//! Closing off the JavaScript thread: a lease server is told, and may not answer.

use leafid::Snowflake;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How many are being closed.
static UNDER_WAY: Mutex<usize> = Mutex::new(0);
static ENDED: Condvar = Condvar::new();

/// Closes this handle at once; if it was the generator's last, what that brings with it is done on a thread of its own.
pub(crate) fn close_soon(flake: &Snowflake) -> leafid::Result<()> {
    if flake.stats().is_ok_and(|stats| stats.handles > 1) {
        return flake.close();
    }
    // As long as this one is there, the one that is closed here is not the last.
    let last = flake.clone();
    let closed = flake.close();
    count(|under_way| *under_way += 1);
    let close = move || {
        // A drop logs what fails: nobody is left to be told.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(last)));
        count(|under_way| *under_way -= 1);
        ENDED.notify_all();
    };
    if std::thread::Builder::new().name("leafid-close".into()).spawn(close).is_err() {
        // What it was to run was dropped with it, and so closed here.
        count(|under_way| *under_way -= 1);
    }
    closed
}

/// Waits, at most so long, until all are closed.
pub(crate) fn settle(patience: Duration) {
    let under_way = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = ENDED.wait_timeout_while(under_way, patience, |under_way| *under_way > 0);
}

fn count(change: impl FnOnce(&mut usize)) {
    change(&mut UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner));
}
