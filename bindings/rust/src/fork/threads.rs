//! Threads of leafid's own, which take no signals: a handler of the host program never runs on them, so no fork of a
//! handler's ever copies one of them in the middle of a write.

use super::current;
use crate::sync::lock;
use std::io;
use std::mem::MaybeUninit;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// Starts a thread with every signal blocked.
pub(crate) fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    without_signals(|| Builder::new().name(name.into()).stack_size(256 * 1024).spawn(run))
}

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

/// How a bounded deed ended.
pub(crate) enum Bounded<T> {
    Done(T),
    /// Not in time; it goes on by itself, and its result is dropped.
    Late,
    /// This is a forked child: the deed is its parent's.
    Forked,
}

/// How often a waiter looks whether it is a forked child, for which nobody works.
pub(crate) const LOOK: Duration = Duration::from_millis(20);

/// Runs on a thread of its own that is gone when this returns, unless it is late: a disk may not answer for long.
pub(crate) fn bounded<T: Send + 'static>(
    patience: Duration,
    run: impl FnOnce() -> T + Send + 'static,
) -> Bounded<T> {
    let generation = current();
    let deadline = Instant::now() + patience;
    let (sender, receiver) = channel();
    let deed = Arc::new(Mutex::new(Some(run)));
    let theirs = Arc::clone(&deed);
    let thread = spawn("leafid-disk", move || {
        let run = lock(&theirs).take();
        if let Some(run) = run {
            let _ = sender.send(run());
        }
    });
    let Ok(thread) = thread else {
        // No thread to be had: then without a bound.
        let run = lock(&deed).take();
        return run.map_or(Bounded::Late, |run| Bounded::Done(run()));
    };
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match receiver.recv_timeout(left.min(LOOK)) {
            _ if generation != current() => {
                // A handle of the parent's thread, which must not be joined or detached here.
                std::mem::forget((thread, receiver));
                return Bounded::Forked;
            }
            Ok(done) => {
                let _ = thread.join();
                return Bounded::Done(done);
            }
            Err(RecvTimeoutError::Timeout) if !left.is_zero() => {}
            // Disconnected: it panicked, and has said so.
            Err(_) => return Bounded::Late,
        }
    }
}
