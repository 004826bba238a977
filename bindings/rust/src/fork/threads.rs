//! Threads of leafid's own, which take no signals: a handler of the host program never runs on them.

use std::io;
use std::mem::MaybeUninit;
use std::thread::{Builder, JoinHandle};

/// Starts a thread with every signal blocked.
pub(crate) fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    let mut old = MaybeUninit::uninit();
    // SAFETY: both sets are initialised by sigfillset and pthread_sigmask before they are read.
    let blocked = unsafe {
        let mut all = MaybeUninit::uninit();
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), old.as_mut_ptr()) == 0
    };
    let thread = Builder::new().name(name.into()).stack_size(256 * 1024).spawn(run);
    if blocked {
        // SAFETY: `old` was filled by the call above.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, old.as_ptr(), std::ptr::null_mut()) };
    }
    thread
}
