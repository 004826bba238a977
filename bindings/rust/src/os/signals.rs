//! Blocks signals during an action.

#[cfg(unix)]
use std::mem::MaybeUninit;

/// Windows has no signals.
#[cfg(windows)]
pub(crate) fn without_signals<T>(run: impl FnOnce() -> T) -> T {
    run()
}

/// Runs an action with all signals blocked, so that no signal handler can fork during it.
#[cfg(unix)]
pub(crate) fn without_signals<T>(run: impl FnOnce() -> T) -> T {
    let mut old = MaybeUninit::uninit();
    // SAFETY: both sets are initialised by sigfillset and pthread_sigmask before they are read.
    let blocked = unsafe {
        let mut all = MaybeUninit::uninit();
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), old.as_mut_ptr()) == 0
    };
    // SAFETY: `old` was filled by the call above.
    let _restore = blocked.then(|| Restore(unsafe { old.assume_init() }));
    run()
}

/// Restores the previous mask, also after a panic.
#[cfg(unix)]
struct Restore(libc::sigset_t);

#[cfg(unix)]
impl Drop for Restore {
    fn drop(&mut self) {
        // SAFETY: a set that the system filled.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.0, std::ptr::null_mut()) };
    }
}
