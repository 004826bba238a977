//! Calls of the user's code that nobody waits for, each on a thread of its own.

use crate::os::mutex::{PollSleep, lock_signal_safe};
use crate::os::{self, PerProcess, Thread};
use crate::tasks::with_timeout::MOST_STUCK_CALLS;
use leafid_core::{Code, Error, Result};
use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Release};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// This process's calls. A forked child begins with none: the threads are its parent's.
static CALLS: PerProcess<Calls> = PerProcess::new();

thread_local! {
    /// Whether this is a thread of such a call.
    static CALLS_HERE: Cell<bool> = const { Cell::new(false) };
}

/// Whether the user's code that runs here was called by leafid.
pub(crate) fn is_this_thread() -> bool {
    CALLS_HERE.get()
}

struct Calls {
    generation: u64,
    threads: Mutex<Vec<Call>>,
}

struct Call {
    thread: Thread,
    ended: Arc<AtomicBool>,
}

/// Runs the user's code on a thread of leafid's. Errors: the system gives none, or so many calls hang already.
pub(crate) fn on_a_thread(run: impl FnOnce() + Send + 'static) -> Result<()> {
    #[cfg(test)]
    if os::simulated::played().is_some() {
        os::simulated::leave(run);
        return Ok(());
    }
    let calls =
        CALLS.get_or_install(|| Calls { generation: os::process::generation(), threads: Mutex::default() });
    if calls.reap() >= MOST_STUCK_CALLS {
        return Err(too_many_stuck());
    }
    let ended = Arc::new(AtomicBool::new(false));
    let end = Ended(Arc::clone(&ended));
    let begun = os::spawn(c"leafid-call", os::ThreadKind::UserCode, move || {
        let _end = end;
        CALLS_HERE.set(true);
        run();
    });
    let thread = begun.map_err(|error| no_thread(&error))?;
    lock_signal_safe(&calls.threads, calls.generation, |threads| threads.push(Call { thread, ended }));
    Ok(())
}

/// Too many calls hang.
pub(crate) fn too_many_stuck() -> Error {
    let message = format!(
        "{MOST_STUCK_CALLS} calls of code that leafid was given hang in this process; see what they wait for, and start it anew"
    );
    Error::new(Code::WorkerLost, message)
}

/// The user's code is never called by who asks: its transaction, or its signal handler, is not ours.
pub(crate) fn no_thread(error: &dyn fmt::Display) -> Error {
    let message = format!(
        "the system gives no thread to call the source of worker ids on ({error}); see its limits. A child of _Fork or a \
         raw clone can use no such source"
    );
    Error::new(Code::StateIo, message)
}

impl Calls {
    /// Joins those that have ended; answers how many have not.
    fn reap(&self) -> usize {
        let taken = lock_signal_safe(&self.threads, self.generation, |threads| {
            let gone: Vec<Call> = threads.extract_if(.., |call| call.ended.load(Acquire)).collect();
            (gone, threads.len())
        });
        let Some((gone, left)) = taken else { return 0 };
        gone.into_iter().for_each(|call| call.thread.join());
        left
    }
}

/// Says that the user's code has ended, also by a panic.
struct Ended(Arc<AtomicBool>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.store(true, Release);
    }
}

/// Waits, at most so long, until no such thread is left.
pub(crate) fn settle(patience: Duration) {
    let Some(calls) = CALLS.get() else { return };
    let deadline = Instant::now() + patience;
    let mut pause = PollSleep::new();
    while calls.reap() > 0 && pause.until(deadline) {}
}
