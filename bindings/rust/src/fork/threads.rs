//! Threads of leafid's own, which take no signals: a handler of the host program never runs on them, so no fork of a
//! handler's ever copies one of them in the middle of a write.

use super::current;
use crate::sync::{Pause, lock};
use std::io;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Release};
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

/// Where a deed's result is left.
struct Left<T> {
    done: AtomicBool,
    value: Mutex<Option<T>>,
}

/// Runs on a thread of its own that is gone when this returns, unless it is late: a disk may not answer for long.
pub(crate) fn bounded<T: Send + 'static>(
    patience: Duration,
    run: impl FnOnce() -> T + Send + 'static,
) -> Bounded<T> {
    let generation = current();
    let deadline = Instant::now() + patience;
    let result = Arc::new(Left { done: AtomicBool::new(false), value: Mutex::new(None) });
    let deed = Arc::new(Mutex::new(Some(run)));
    let (theirs, left) = (Arc::clone(&deed), Arc::clone(&result));
    let thread = spawn("leafid-disk", move || {
        let run = lock(&theirs).take();
        *lock(&left.value) = run.map(|run| run());
        left.done.store(true, Release);
    });
    let Ok(thread) = thread else {
        // No thread to be had: then without a bound.
        let run = lock(&deed).take();
        return run.map_or(Bounded::Late, |run| Bounded::Done(run()));
    };
    let mut pause = Pause::new();
    while !result.done.load(Acquire) {
        let in_time = pause.until(deadline);
        if generation != current() {
            // The handle is of the parent's thread, which must not be joined or detached here.
            std::mem::forget(thread);
            return Bounded::Forked;
        }
        if !in_time || thread.is_finished() && !result.done.load(Acquire) {
            // Or it panicked, and has said so.
            return Bounded::Late;
        }
    }
    let _ = without_signals(|| thread.join());
    lock(&result.value).take().map_or(Bounded::Late, Bounded::Done)
}
