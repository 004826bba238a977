//! Signals: blocked during an action, and the end by an interrupt.

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

#[cfg(all(feature = "cli", windows))]
pub(crate) fn end_on_interrupt() {}

/// Has an interrupt end this process also where it was started with interrupts ignored, as by a script that starts it in
/// the background. A handler stays.
#[cfg(all(feature = "cli", unix))]
pub(crate) fn end_on_interrupt() {
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: `action` is read only once the system has filled it, and SIG_DFL is no function.
    unsafe {
        if libc::sigaction(libc::SIGINT, std::ptr::null(), action.as_mut_ptr()) == 0
            && action.assume_init().sa_sigaction == libc::SIG_IGN
        {
            libc::signal(libc::SIGINT, libc::SIG_DFL);
        }
    }
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
