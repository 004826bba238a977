//! Closes on other threads than the JavaScript thread, because a lease server may not respond to a release.

use crate::threads::Threads;
use leafid::Snowflake;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Others than those of openings, which may wait for a close.
static THREADS: Threads = Threads::new("leafid-close");
/// The number of closes that have not ended.
static UNDER_WAY: Mutex<usize> = Mutex::new(0);
static ENDED: Condvar = Condvar::new();

/// Closes this handle at once. If it was the last one of the generator, the rest runs on another thread.
pub(crate) fn close_soon(flake: &Snowflake) -> leafid::Result<()> {
    if flake.stats().is_ok_and(|stats| stats.handles > 1) {
        return flake.close();
    }
    // While this handle exists, the one that is closed here is not the last.
    let last = flake.clone();
    let closed = flake.close();
    count(|under_way| *under_way += 1);
    let under_way = UnderWay;
    // Without a thread the closure is dropped, and its handle with it, so it is closed here.
    let _ = THREADS.run(move || {
        let _under_way = under_way;
        // A drop logs errors, because no caller is left.
        drop(last);
    });
    closed
}

/// Ends with a close, also after a panic.
struct UnderWay;

impl Drop for UnderWay {
    fn drop(&mut self) {
        count(|under_way| *under_way -= 1);
        ENDED.notify_all();
    }
}

/// Waits until all are closed, at most `patience`.
pub(crate) fn settle(patience: Duration) {
    let under_way = UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = ENDED.wait_timeout_while(under_way, patience, |under_way| *under_way > 0);
}

fn count(change: impl FnOnce(&mut usize)) {
    change(&mut UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner));
}
