//! Forked children of tests.

use crate::hang::HANG;

/// Runs in a forked child; answers how to wait for its end, and to hear whether it succeeded.
pub(crate) fn in_child(action: impl FnOnce() -> bool) -> impl FnOnce() -> bool {
    // SAFETY: the child runs this test's own code and ends at once.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: ends the child, also if it hangs.
        unsafe { libc::alarm(HANG.as_secs() as u32) };
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(action)).unwrap_or(false);
        // SAFETY: ends the child without its parent's exit handlers.
        unsafe { libc::_exit(i32::from(!done)) };
    }
    move || {
        let mut status = -1;
        // SAFETY: waits for the child made above.
        unsafe { libc::waitpid(child, &mut status, 0) };
        status == 0
    }
}
