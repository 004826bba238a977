//! Deeds that may meet a disk that does not answer.

use super::{current, spawn};
use crate::sync::{Pause, lock};
use std::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Release};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

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
    let thread = spawn(c"leafid-disk", move || {
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
        if !in_time || thread.has_ended() && !result.done.load(Acquire) {
            // Or it panicked, and has said so.
            return Bounded::Late;
        }
    }
    thread.join();
    lock(&result.value).take().map_or(Bounded::Late, Bounded::Done)
}
