//! Signals held off.

use std::mem::MaybeUninit;

/// Runs with every signal blocked, and so in no child of a signal handler's fork.
pub(crate) fn without_signals<T>(run: impl FnOnce() -> T) -> T {
    let mut old = MaybeUninit::uninit();
    // SAFETY: both sets are initialised by sigfillset and pthread_sigmask before they are read.
    let blocked = unsafe {
        let mut all = MaybeUninit::uninit();
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), old.as_mut_ptr()) == 0
    };
    let done = run();
    if blocked {
        // SAFETY: `old` was filled by the call above.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, old.as_ptr(), std::ptr::null_mut()) };
    }
    done
}
