//! User callbacks that no caller waits for. Each runs on its own thread.

use crate::os::mutex::{PollSleep, lock_signal_safe};
use crate::os::process::{ForkHooks, ForkOrder, at_fork};
use crate::os::{self, PerProcess, Thread};
use crate::tasks::with_timeout::MOST_STUCK_CALLS;
use leafid_core::{Code, Error, Result};
use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Release};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The result of a user callback. A [`leafid_core::Error`] in the box keeps its code; any other error becomes
/// `worker_lost`.
pub type Answer<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// The calls of this process. A forked child starts with none, because it has no thread of its parent.
static CALLS: PerProcess<Calls> = PerProcess::new();

thread_local! {
    /// Whether this is the thread of such a call.
    static IS_CALL_THREAD: Cell<bool> = const { Cell::new(false) };
}

/// Whether this is a thread on which leafid runs a user callback.
pub(crate) fn is_this_thread() -> bool {
    IS_CALL_THREAD.get()
}

struct Calls {
    generation: u64,
    threads: Mutex<Vec<RunningCall>>,
}

struct RunningCall {
    thread: Thread,
    ended: Arc<AtomicBool>,
}

/// Runs a user callback on a new thread. Errors: the system gives no thread, or too many calls are stuck.
pub(crate) fn start(run: impl FnOnce() + Send + 'static) -> Result<()> {
    #[cfg(test)]
    if os::simulated::played().is_some() {
        os::simulated::leave(run);
        return Ok(());
    }
    let calls =
        CALLS.get_or_install(|| Calls { generation: os::process::generation(), threads: Mutex::default() });
    at_fork(ForkOrder::UserCalls, &FORK_HOOKS);
    if calls.reap() >= MOST_STUCK_CALLS {
        return Err(too_many_stuck());
    }
    let ended = Arc::new(AtomicBool::new(false));
    let end = CallEnd(Arc::clone(&ended));
    let begun = os::spawn(c"leafid-call", os::ThreadKind::UserCode, move || {
        let _end = end;
        IS_CALL_THREAD.set(true);
        run();
    });
    let thread = begun.map_err(|error| no_thread_error(&error))?;
    lock_signal_safe(&calls.threads, calls.generation, |threads| threads.push(RunningCall { thread, ended }));
    Ok(())
}

/// The error while too many calls are stuck.
pub(crate) fn too_many_stuck() -> Error {
    let message = format!(
        "{MOST_STUCK_CALLS} user callbacks hang in this process; see what they wait for, and restart it"
    );
    Error::new(Code::WorkerLost, message)
}

/// The error without a thread. A user callback never runs on the caller's thread, which may be in a transaction or in a
/// signal handler.
pub(crate) fn no_thread_error(error: &dyn fmt::Display) -> Error {
    let message = format!(
        "the system cannot start a thread to call the source of worker ids ({error}); see its limits. A child of _Fork or a \
         raw clone can use no such source"
    );
    Error::new(Code::StateIo, message)
}

impl Calls {
    /// Joins the threads that have ended; returns how many have not.
    fn reap(&self) -> usize {
        let taken = lock_signal_safe(&self.threads, self.generation, |threads| {
            let gone: Vec<RunningCall> = threads.extract_if(.., |call| call.ended.load(Acquire)).collect();
            (gone, threads.len())
        });
        let Some((gone, left)) = taken else { return 0 };
        gone.into_iter().for_each(|call| call.thread.join());
        left
    }
}

/// Marks the call as ended when it is dropped, also after a panic.
struct CallEnd(Arc<AtomicBool>);

impl Drop for CallEnd {
    fn drop(&mut self) {
        self.0.store(true, Release);
    }
}

/// Waits for the calls before a fork, because a child has only the forking thread.
static FORK_HOOKS: ForkHooks = ForkHooks { before: wait, ..ForkHooks::NONE };

/// Waits until no such thread is left, at most for `patience`.
pub(crate) fn wait(patience: Duration) {
    let Some(calls) = CALLS.get() else { return };
    let deadline = Instant::now() + patience;
    let mut sleep = PollSleep::new();
    while calls.reap() > 0 && sleep.until(deadline) {}
}
