//! Deeds that may meet a disk that does not answer.

use super::{current, spawn};
use crate::sync::{Pause, lock};
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering::AcqRel, Ordering::Acquire, Ordering::Release};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How a bounded deed ended.
pub(crate) enum Bounded<T> {
    Done(T),
    /// Not in time; it goes on by itself, and its result is dropped. Or it panicked, and has said so.
    Late,
    /// This is a forked child: the deed is its parent's.
    Forked,
}

impl<T> Bounded<T> {
    /// The result, if there is one.
    pub(crate) fn done(self) -> Option<T> {
        match self {
            Bounded::Done(result) => Some(result),
            Bounded::Late | Bounded::Forked => None,
        }
    }
}

/// Where a deed's result is left.
struct Left<T> {
    state: AtomicU8,
    value: Mutex<Option<T>>,
}

const RUNNING: u8 = 0;
const DONE: u8 = 1;
const LATE: u8 = 2;

/// Deeds that nobody waits for any more, on threads that a disk holds up.
static STUCK: AtomicUsize = AtomicUsize::new(0);
/// So many of them, and no further one is begun.
const MOST_STUCK: usize = 16;

/// In a forked child: the threads were its parent's, and none of them is here.
pub(super) fn none_is_stuck() {
    STUCK.store(0, Release);
}

/// Runs on a thread of its own that is gone when this returns, unless it is late: a disk may not answer for long.
pub(crate) fn bounded<T: Send + 'static>(
    patience: Duration,
    run: impl FnOnce() -> T + Send + 'static,
) -> Bounded<T> {
    let generation = current();
    let deadline = Instant::now() + patience;
    if STUCK.load(Acquire) >= MOST_STUCK {
        return Bounded::Late;
    }
    let left = Arc::new(Left { state: AtomicU8::new(RUNNING), value: Mutex::new(None) });
    let deed = Arc::new(Mutex::new(Some(run)));
    let (theirs, leave) = (Arc::clone(&deed), Arc::clone(&left));
    let thread = spawn(c"leafid-disk", move || {
        let _unstuck = Unstuck(&leave.state);
        let run = lock(&theirs).take();
        let value = run.map(|run| run());
        *lock(&leave.value) = value;
    });
    let Ok(thread) = thread else {
        // No thread to be had: then without a bound.
        let run = lock(&deed).take();
        return run.map_or(Bounded::Late, |run| Bounded::Done(run()));
    };
    let mut pause = Pause::new();
    while left.state.load(Acquire) == RUNNING {
        let in_time = pause.until(deadline);
        if generation != current() {
            // The handle is of the parent's thread, which must not be joined or detached here.
            std::mem::forget(thread);
            return Bounded::Forked;
        }
        if !in_time {
            STUCK.fetch_add(1, AcqRel);
            if left.state.compare_exchange(RUNNING, LATE, AcqRel, Acquire).is_ok() {
                return Bounded::Late;
            }
            STUCK.fetch_sub(1, AcqRel);
        }
    }
    thread.join();
    lock(&left.value).take().map_or(Bounded::Late, Bounded::Done)
}

/// Says, also after a panic, that the deed has ended; nobody may wait for it any more.
struct Unstuck<'a>(&'a AtomicU8);

impl Drop for Unstuck<'_> {
    fn drop(&mut self) {
        if self.0.swap(DONE, AcqRel) == LATE {
            STUCK.fetch_sub(1, AcqRel);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_free_of_the_deeds_that_hang_in_its_parent() {
        let ran = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "fork::bounded::tests::hangs_and_forks", "--ignored"])
            .env("LEAFID_TEST_NAME", "hangs")
            .output()
            .unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
    }

    /// Run by the test above only: what it counts is the whole process's.
    #[test]
    #[ignore = "a helper process of another test"]
    fn hangs_and_forks() {
        if std::env::var_os("LEAFID_TEST_NAME").is_none() {
            return;
        }
        for _ in 0..MOST_STUCK {
            let hangs = || std::thread::sleep(Duration::from_secs(5));
            assert!(bounded(Duration::from_millis(1), hangs).done().is_none());
        }
        assert!(bounded(Duration::from_secs(5), || 1).done().is_none(), "no further one is begun");
        // SAFETY: the child runs this test's own code and ends at once.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let done = bounded(Duration::from_secs(5), || 1).done();
            // SAFETY: ends the child.
            unsafe { libc::_exit(i32::from(done != Some(1))) };
        }
        let mut status = -1;
        // SAFETY: waits for the child made above.
        unsafe { libc::waitpid(child, &mut status, 0) };
        assert_eq!(status, 0);
    }
}
