//! What is still open when the process ends.
//!
//! Node runs finalizers when a thread or the program comes to its natural end, but neither those nor environment hooks
//! after `process.exit()` or an uncaught exception: there only the C library's exit handlers run.

use leafid::Snowflake;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, Once, PoisonError, Weak};

static OPEN: Mutex<Vec<Weak<Snowflake>>> = Mutex::new(Vec::new());

/// Has this handle closed when the process exits, should it still be there.
pub(crate) fn close_at_exit(flake: &Arc<Snowflake>) {
    static REGISTERED: Once = Once::new();
    // SAFETY: `close_all` is a plain function that unwinds nowhere, and the addon is linked `nodelete`: it is still
    // mapped when the handler runs.
    REGISTERED.call_once(|| unsafe {
        libc::atexit(close_all);
    });
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    open.retain(|flake| flake.strong_count() > 0);
    open.push(Arc::downgrade(flake));
}

extern "C" fn close_all() {
    // `try_lock`: a thread that was stopped inside must not hold up the exit.
    let Ok(mut open) = OPEN.try_lock() else { return };
    for flake in open.drain(..).filter_map(|flake| flake.upgrade()) {
        // Nobody is left to be told of an error, and the record is safe without this: its span is merely longer.
        let _ = catch_unwind(AssertUnwindSafe(|| flake.close()));
    }
}
