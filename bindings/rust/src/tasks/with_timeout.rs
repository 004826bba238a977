//! Runs work with a timeout, because a disk, a name server or a user callback may not return.

use crate::os::futex;
use crate::os::mutex::lock;
use crate::os::process::{ForkHooks, ForkOrder, at_fork};
use crate::os::{self, ThreadKind, check_may_work, spawn};
use leafid_core::call::MOST_STUCK_CALLS;
use leafid_core::options::Named;
use leafid_core::{Code, Error, Result};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::AcqRel, Ordering::Acquire, Ordering::Release};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How work with a timeout ended.
pub(crate) enum Timed<T> {
    Done(T),
    /// The timeout passed, and the result of the continuing work will be dropped. Or the work panicked, which was
    /// reported.
    Out,
    /// As `Out`, because `interrupted` returned true.
    Interrupted,
    /// Not started: too many calls are stuck already.
    TooMany,
    /// Not started: the system gives no thread. leafid's own work then runs on the caller's thread, a user callback
    /// never.
    NoThread,
    /// Not started: this is a forked child, and the work belongs to its parent. Or this thread may not work: see
    /// [`check_may_work`].
    Forked,
}

impl<T> Timed<T> {
    /// The result, if there is one.
    pub(crate) fn done(self) -> Option<T> {
        match self {
            Timed::Done(result) => Some(result),
            _ => None,
        }
    }
}

/// Holds the state of the work, and its result.
struct ResultSlot<T> {
    state: AtomicU32,
    value: Mutex<Option<T>>,
}

const RUNNING: u32 = 0;
const DONE: u32 = 1;
/// Still running, and its caller has returned.
const ABANDONED: u32 = 2;

/// Counts abandoned calls, by the kind of their threads.
static STUCK: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

/// User callbacks are counted separately: hanging ones must not block leafid's access to the disk.
fn stuck(kind: ThreadKind) -> &'static AtomicUsize {
    &STUCK[usize::from(kind == ThreadKind::UserCode)]
}

/// How often a long wait calls `interrupted`.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Resets the counts in a forked child, which has none of its parent's threads.
static FORK_HOOKS: ForkHooks =
    ForkHooks { in_child: || STUCK.iter().for_each(|stuck| stuck.store(0, Release)), ..ForkHooks::NONE };

/// Runs `work` on its own thread. The thread has ended when this returns, except after a timeout.
pub(crate) fn run<T: Send + 'static>(
    timeout: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Timed<T> {
    run_unless(timeout, ThreadKind::Internal, &mut || false, work)
}

/// As [`run`], for work with the disk. Errors: `state_io` after the timeout: see [`no_answer`].
pub(crate) fn run_on_disk<T: Send + 'static>(
    timeout: Duration,
    what: &str,
    advice: &str,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    run(timeout, work).done().unwrap_or_else(|| Err(no_answer(what, timeout, advice)))
}

/// The error of work with the disk that did not end in time.
pub(crate) fn no_answer(what: &str, waited: Duration, advice: &str) -> Error {
    let message = format!("{what} did not answer within {} ms; {advice}", waited.as_millis());
    Error::new(Code::StateIo, message)
}

/// Advice for what was bounded by the user's longest wait.
pub(crate) fn see_or_wait_longer(what: &str) -> String {
    format!("see {what}, or raise {}", Named("timeout_ms"))
}

/// As [`run`]. It also gives up if `interrupted`, which it calls from time to time, returns true.
pub(crate) fn run_unless<T: Send + 'static>(
    timeout: Duration,
    kind: ThreadKind,
    interrupted: &mut dyn FnMut() -> bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Timed<T> {
    #[cfg(test)]
    if crate::os::simulated::played().is_some() {
        return Timed::Done(work());
    }
    at_fork(ForkOrder::Timeouts, &FORK_HOOKS);
    let generation = os::process::generation();
    let deadline = Instant::now() + timeout;
    let stuck = stuck(kind);
    if stuck.load(Acquire) >= MOST_STUCK_CALLS {
        return Timed::TooMany;
    }
    let slot = Arc::new(ResultSlot { state: AtomicU32::new(RUNNING), value: Mutex::new(None) });
    let work = Arc::new(Mutex::new(Some(work)));
    let (its_work, its_slot) = (Arc::clone(&work), Arc::clone(&slot));
    let name = if kind == ThreadKind::Internal { c"leafid-disk" } else { c"leafid-call" };
    let thread = spawn(name, kind, move || {
        let _end = EndGuard(&its_slot.state, stuck);
        let work = lock(&its_work).take();
        let value = work.map(|work| work());
        *lock(&its_slot.value) = value;
    });
    let Ok(thread) = thread else {
        if check_may_work().is_err() {
            return Timed::Forked;
        }
        if kind == ThreadKind::UserCode {
            // The caller may be in a transaction, or in a signal handler.
            return Timed::NoThread;
        }
        // Without a thread there is no timeout.
        let work = lock(&work).take();
        return work.map_or(Timed::Out, |work| Timed::Done(work()));
    };
    let mut asked = Instant::now();
    while slot.state.load(Acquire) == RUNNING {
        let in_time = wait(&slot.state, deadline);
        if generation != os::process::generation() {
            // The handle belongs to the parent's thread, which must not be joined or detached here.
            std::mem::forget(thread);
            return Timed::Forked;
        }
        let mut gives_up = false;
        if asked.elapsed() >= CHECK_INTERVAL {
            asked = Instant::now();
            gives_up = interrupted();
        }
        if !in_time || gives_up {
            stuck.fetch_add(1, AcqRel);
            if slot.state.compare_exchange(RUNNING, ABANDONED, AcqRel, Acquire).is_ok() {
                return if gives_up { Timed::Interrupted } else { Timed::Out };
            }
            stuck.fetch_sub(1, AcqRel);
        }
    }
    thread.join();
    lock(&slot.value).take().map_or(Timed::Out, Timed::Done)
}

/// Waits until the work has ended, at most for [`CHECK_INTERVAL`]. Returns whether time is left. A fork in a signal
/// handler also ends the wait, in the child too.
fn wait(state: &AtomicU32, deadline: Instant) -> bool {
    let left = deadline.saturating_duration_since(Instant::now());
    futex::wait(state, RUNNING, left.min(CHECK_INTERVAL));
    !left.is_zero()
}

/// Marks the work as done when it is dropped, also after a panic, and removes it from the abandoned calls.
struct EndGuard<'a>(&'a AtomicU32, &'static AtomicUsize);

impl Drop for EndGuard<'_> {
    fn drop(&mut self) {
        if self.0.swap(DONE, AcqRel) == ABANDONED {
            self.1.fetch_sub(1, AcqRel);
        }
        futex::wake(self.0, 1);
    }
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_free_of_the_calls_that_hang_in_its_parent() {
        let ran = crate::programs::this_program()
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

    /// Only the test above runs it, because the counts belong to the whole process.
    #[test]
    #[ignore = "a helper process of another test"]
    fn hangs_and_forks() {
        if std::env::var_os("LEAFID_TEST_NAME").is_none() {
            return;
        }
        for _ in 0..MOST_STUCK_CALLS {
            let hangs = || std::thread::sleep(crate::hang::HANG);
            assert!(run(Duration::from_millis(1), hangs).done().is_none());
        }
        assert!(run(crate::hang::HANG, || 1).done().is_none(), "no further one is begun");
        let ended_well = crate::os::child::in_child(|| run(crate::hang::HANG, || 1).done() == Some(1));
        assert!(ended_well());
    }
}
