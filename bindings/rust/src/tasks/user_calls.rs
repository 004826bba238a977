//! User callbacks. Each runs on its own thread.

use crate::os::mutex::{PollSleep, lock_signal_safe};
use crate::os::process::{ForkHooks, ForkOrder, at_fork};
use crate::os::{self, PerProcess, Thread};
use leafid_core::Error;
use leafid_core::call::{IoFailure, IoKind, MOST_STUCK_CALLS};
use leafid_core::run::SourceFailure;
use std::cell::Cell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Release};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The result of a user callback. A [`leafid_core::Error`] in the box keeps its code; any other error becomes
/// `worker_lost`.
pub type Answer<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// The end of a call of user code. leafid goes on after a panic, also one of the text of an error.
pub(crate) fn guarded<T>(call: impl FnOnce() -> Answer<T>) -> std::result::Result<T, SourceFailure> {
    let told = |error: Box<dyn std::error::Error + Send + Sync>| match error.downcast::<Error>() {
        Ok(error) => SourceFailure::Coded(*error),
        Err(error) => SourceFailure::Text(error.to_string()),
    };
    catch_unwind(AssertUnwindSafe(|| call().map_err(told))).unwrap_or(Err(SourceFailure::Panicked))
}

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
    stuck_from: Instant,
}

/// Runs a user callback on a new thread. `is_awaited`: the caller does nothing else meanwhile. After `patience` it counts
/// as stuck. Errors: the system gives no thread, or too many calls are stuck.
pub(crate) fn start(
    is_awaited: bool,
    patience: Duration,
    run: impl FnOnce() + Send + 'static,
) -> Result<(), IoFailure> {
    #[cfg(test)]
    if os::simulated::played().is_some() {
        match is_awaited {
            true => run(),
            false => os::simulated::leave(run),
        }
        return Ok(());
    }
    let _ = is_awaited;
    let calls =
        CALLS.get_or_install(|| Calls { generation: os::process::generation(), threads: Mutex::default() });
    at_fork(ForkOrder::UserCalls, &FORK_HOOKS);
    if calls.reap().1 >= MOST_STUCK_CALLS {
        return Err(IoFailure { kind: IoKind::TooManyStuck, ..IoFailure::other("") });
    }
    let ended = Arc::new(AtomicBool::new(false));
    let end = CallEnd(Arc::clone(&ended));
    let begun = os::spawn(c"leafid-call", os::ThreadKind::UserCode, move || {
        let _end = end;
        IS_CALL_THREAD.set(true);
        run();
    });
    let no_thread =
        |error: io::Error| IoFailure { kind: IoKind::NoThread, ..IoFailure::other(error.to_string()) };
    let call =
        RunningCall { thread: begun.map_err(no_thread)?, ended, stuck_from: Instant::now() + patience };
    lock_signal_safe(&calls.threads, calls.generation, |threads| threads.push(call));
    Ok(())
}

impl Calls {
    /// Joins the threads that have ended. Returns how many have not, and how many of these are stuck.
    fn reap(&self) -> (usize, usize) {
        let taken = lock_signal_safe(&self.threads, self.generation, |threads| {
            let gone: Vec<RunningCall> = threads.extract_if(.., |call| call.ended.load(Acquire)).collect();
            let now = Instant::now();
            (gone, threads.len(), threads.iter().filter(|call| now >= call.stuck_from).count())
        });
        let Some((gone, left, stuck)) = taken else { return (0, 0) };
        gone.into_iter().for_each(|call| call.thread.join());
        (left, stuck)
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
    while calls.reap().0 > 0 && sleep.until(deadline) {}
}
