//! Deeds that may meet a disk that does not answer.

use crate::os::mutex::lock;
use crate::os::{self, ThreadKind, check_may_work, spawn};
use rustix::thread::futex;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::AcqRel, Ordering::Acquire, Ordering::Release};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How a bounded deed ended.
pub(crate) enum Bounded<T> {
    Done(T),
    /// Not in time; it goes on by itself, and its result is dropped. Or it panicked, and has said so.
    Late,
    /// As `Late`, because the caller was told to give up.
    Interrupted,
    /// Not begun: so many others hang already.
    Full,
    /// Not begun: the system gives no thread. Leafid's own deeds are done by the caller then; the user's code never is.
    NoThread,
    /// Not begun: this is a forked child, and the deed is its parent's; or it is nothing for this thread, see [`check_may_work`].
    Forked,
}

impl<T> Bounded<T> {
    /// The result, if there is one.
    pub(crate) fn done(self) -> Option<T> {
        match self {
            Bounded::Done(result) => Some(result),
            _ => None,
        }
    }
}

/// Where a deed's result is left.
struct Left<T> {
    state: AtomicU32,
    value: Mutex<Option<T>>,
}

const RUNNING: u32 = 0;
const DONE: u32 = 1;
const LATE: u32 = 2;

/// Deeds that nobody waits for any more, on threads that a disk holds up.
static STUCK: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

/// The user's code that hangs must not keep leafid from the disk.
fn stuck(kind: ThreadKind) -> &'static AtomicUsize {
    &STUCK[usize::from(kind == ThreadKind::UserCode)]
}

/// How often a long wait asks whether to give up.
const ASK: Duration = Duration::from_millis(50);
/// So many of them, and no further one is begun.
pub(crate) const MOST_STUCK: usize = 16;

/// In a forked child: the threads were its parent's, and none of them is here.
pub(crate) fn none_is_stuck() {
    STUCK.iter().for_each(|stuck| stuck.store(0, Release));
}

/// Runs on a thread of its own that is gone when this returns, unless it is late: a disk may not answer for long.
pub(crate) fn bounded<T: Send + 'static>(
    patience: Duration,
    run: impl FnOnce() -> T + Send + 'static,
) -> Bounded<T> {
    bounded_unless(patience, ThreadKind::Internal, &mut || false, run)
}

/// As [`bounded`]; given up also when `interrupted`, asked now and then, answers true.
pub(crate) fn bounded_unless<T: Send + 'static>(
    patience: Duration,
    kind: ThreadKind,
    interrupted: &mut dyn FnMut() -> bool,
    run: impl FnOnce() -> T + Send + 'static,
) -> Bounded<T> {
    #[cfg(test)]
    if crate::os::simulated::played().is_some() {
        return Bounded::Done(run());
    }
    let generation = os::process::generation();
    let deadline = Instant::now() + patience;
    let stuck = stuck(kind);
    if stuck.load(Acquire) >= MOST_STUCK {
        return Bounded::Full;
    }
    let left = Arc::new(Left { state: AtomicU32::new(RUNNING), value: Mutex::new(None) });
    let deed = Arc::new(Mutex::new(Some(run)));
    let (theirs, leave) = (Arc::clone(&deed), Arc::clone(&left));
    let name = if kind == ThreadKind::Internal { c"leafid-disk" } else { c"leafid-call" };
    let thread = spawn(name, kind, move || {
        let _unstuck = Unstuck(&leave.state, stuck);
        let run = lock(&theirs).take();
        let value = run.map(|run| run());
        *lock(&leave.value) = value;
    });
    let Ok(thread) = thread else {
        if check_may_work().is_err() {
            return Bounded::Forked;
        }
        if kind == ThreadKind::UserCode {
            // Who asks may be in the middle of a transaction, or of a signal handler.
            return Bounded::NoThread;
        }
        // No thread to be had: then without a bound.
        let run = lock(&deed).take();
        return run.map_or(Bounded::Late, |run| Bounded::Done(run()));
    };
    let mut asked = Instant::now();
    while left.state.load(Acquire) == RUNNING {
        let in_time = wait(&left.state, deadline);
        if generation != os::process::generation() {
            // The handle is of the parent's thread, which must not be joined or detached here.
            std::mem::forget(thread);
            return Bounded::Forked;
        }
        let mut gives_up = false;
        if asked.elapsed() >= ASK {
            asked = Instant::now();
            gives_up = interrupted();
        }
        if !in_time || gives_up {
            stuck.fetch_add(1, AcqRel);
            if left.state.compare_exchange(RUNNING, LATE, AcqRel, Acquire).is_ok() {
                return if gives_up { Bounded::Interrupted } else { Bounded::Late };
            }
            stuck.fetch_sub(1, AcqRel);
        }
    }
    thread.join();
    lock(&left.value).take().map_or(Bounded::Late, Bounded::Done)
}

/// Waits until the deed has ended, and no longer than [`ASK`]; whether there was time left. A fork in the handler of a signal
/// ends it too, in the child as well.
fn wait(state: &AtomicU32, deadline: Instant) -> bool {
    let left = deadline.saturating_duration_since(Instant::now());
    let timeout = futex::Timespec { tv_sec: 0, tv_nsec: left.min(ASK).subsec_nanos().into() };
    let _ = futex::wait(state, futex::Flags::PRIVATE, RUNNING, Some(&timeout));
    !left.is_zero()
}

/// Says, also after a panic, that the deed has ended; nobody may wait for it any more.
struct Unstuck<'a>(&'a AtomicU32, &'static AtomicUsize);

impl Drop for Unstuck<'_> {
    fn drop(&mut self) {
        if self.0.swap(DONE, AcqRel) == LATE {
            self.1.fetch_sub(1, AcqRel);
        }
        let _ = futex::wake(self.0, futex::Flags::PRIVATE, 1);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_free_of_the_deeds_that_hang_in_its_parent() {
        let ran = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                &format!("{}::hangs_and_forks", module_path!().trim_start_matches("leafid::")),
                "--ignored",
            ])
            .env("LEAFID_TEST_NAME", "hangs")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.status.success() && said.contains("1 passed"), "{said}");
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
