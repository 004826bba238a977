//! The close of handles that are still open when the process ends.
//!
//! Node runs finalizers when a thread or the program ends by itself. After `process.exit()` or an uncaught exception it
//! runs neither finalizers nor environment hooks: then only the C library's exit handlers run.

use crate::{closing, logs};
use leafid::{Result, Segments, Snowflake};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, Once, PoisonError, Weak};
use std::time::Duration;

/// How long the end waits for closes of other threads: longer than a close lasts.
const WAITS: Duration = Duration::from_secs(3);

static OPEN: Mutex<Vec<Weak<dyn Closes>>> = Mutex::new(Vec::new());

/// A handle that is closed at the end.
pub(crate) trait Closes: Send + Sync {
    fn close(&self) -> Result<()>;
}

impl Closes for Snowflake {
    fn close(&self) -> Result<()> {
        Snowflake::close(self)
    }
}

impl Closes for Segments {
    fn close(&self) -> Result<()> {
        Segments::close(self)
    }
}

/// Closes this handle when the process exits, if it still exists.
pub(crate) fn close_at_exit<T: Closes + 'static>(handle: &Arc<T>) {
    static REGISTERED: Once = Once::new();
    // SAFETY: `close_all` is a plain function that unwinds nowhere, and the addon is linked `nodelete`: it is still
    // mapped when the handler runs.
    REGISTERED.call_once(|| unsafe {
        libc::atexit(close_all);
    });
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    open.retain(|handle| handle.strong_count() > 0);
    let handle: Weak<T> = Arc::downgrade(handle);
    open.push(handle);
}

extern "C" fn close_all() {
    // JavaScript no longer runs, so it gets no more records.
    logs::end();
    // `try_lock`, because a thread that was stopped with the lock must not block the exit.
    let Ok(mut open) = OPEN.try_lock() else { return };
    for handle in open.drain(..).filter_map(|handle| handle.upgrade()) {
        // No caller is left for an error. The record is safe without this; its span is only longer.
        let _ = catch_unwind(AssertUnwindSafe(|| handle.close()));
    }
    closing::settle(WAITS);
}
