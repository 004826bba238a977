//! The one background thread: it renews spans while generators are in use, and is gone when none is.

use crate::os::mutex::{PollSleep, lock, lock_signal_safe};
use crate::os::{self, Thread, without_signals};
use crate::snowflake::generator::Generator;
use crate::snowflake::registry::existing_registry;
use crate::tasks::user_calls;
use std::io;
use std::sync::{Arc, Condvar, Mutex, Weak};
use std::time::{Duration, Instant};

/// How long a fork waits for the thread to end before it goes on regardless.
const FORK_WAITS: Duration = Duration::from_millis(100);

/// The thread and what it is to do.
pub(crate) struct Renewer {
    state: Arc<Shared>,
    /// The process that it works for.
    generation: u64,
}

#[derive(Default)]
struct Shared {
    work: Mutex<Work>,
    wake: Condvar,
}

#[derive(Default)]
struct Work {
    jobs: Vec<Job>,
    thread: Option<Thread>,
    running: bool,
    stop: bool,
    /// No thread is begun for what nobody waits for.
    held: bool,
}

struct Job {
    due: Instant,
    /// Nobody waits for it: the others go first.
    early: bool,
    /// It holds a lease, which ends if nobody renews it.
    leased: bool,
    generator: Weak<Generator>,
}

impl Renewer {
    pub(crate) fn new() -> Renewer {
        Renewer { state: Arc::default(), generation: os::process::generation() }
    }

    /// Has this generator looked at now, and again when half of its span is used. `early`: nobody waits for it.
    pub(crate) fn ask(&self, generator: &Arc<Generator>, early: bool) {
        let started = lock_signal_safe(&self.state.work, self.generation, |work| {
            work.forget(generator);
            work.jobs.push(Job {
                due: Instant::now(),
                early,
                leased: generator.leased,
                generator: Arc::downgrade(generator),
            });
            if work.running {
                return Ok(());
            }
            self.begin(work)
        });
        if let Some(Err(error)) = started {
            // No thread to be had: the caller does the deed itself, each time it is asked.
            log::warn!("leafid: no background thread ({error}); spans are renewed by the callers");
            if os::check_may_work().is_ok() {
                without_signals(|| generator.renew(!early));
            }
        }
        self.state.wake.notify_one();
    }

    fn begin(&self, work: &mut Work) -> io::Result<()> {
        let state = Arc::clone(&self.state);
        work.thread = Some(os::spawn(c"leafid", os::ThreadKind::Internal, move || state.run())?);
        (work.running, work.stop) = (true, false);
        Ok(())
    }

    /// Starts the thread again after a fork, for leases alone: what else there is to do waits until it is asked for.
    fn go_on(&self) {
        let begun = lock_signal_safe(&self.state.work, self.generation, |work| {
            if !work.running && !work.held && work.jobs.iter().any(|job| job.leased) {
                self.begin(work)
            } else {
                Ok(())
            }
        });
        if let Some(Err(error)) = begun {
            log::warn!("leafid: no background thread ({error}); leases are renewed by the next calls");
        }
    }

    /// Ends the thread, waiting at most so long. The jobs stay: the next `ask` starts it again.
    pub(crate) fn stop(&self, patience: Duration) {
        let deadline = Instant::now() + patience;
        let mut pause = PollSleep::new();
        loop {
            let ended = lock_signal_safe(&self.state.work, self.generation, |work| {
                work.stop = work.running;
                (!work.running).then(|| work.thread.take())
            });
            match ended {
                // It has left its loop: this waits for the kernel to see it gone.
                Some(Some(Some(thread))) => return thread.join(),
                Some(Some(None)) | None => return,
                Some(None) => self.state.wake.notify_one(),
            }
            if !pause.until(deadline) {
                lock_signal_safe(&self.state.work, self.generation, |work| work.stop = false);
                return;
            }
        }
    }

    /// Forgets a generator, and ends the thread with the last one.
    pub(crate) fn forget(&self, generator: &Generator, patience: Duration) {
        let last = lock_signal_safe(&self.state.work, self.generation, |work| {
            work.forget(generator);
            work.jobs.is_empty()
        });
        if last == Some(true) {
            self.stop(patience);
        }
    }
}

impl Work {
    fn forget(&mut self, generator: &Generator) {
        self.jobs.retain(|job| !std::ptr::eq(job.generator.as_ptr(), generator));
    }
}

impl Shared {
    fn run(&self) {
        let _panics = Panics(self);
        let mut work = lock(&self.work);
        while let Some(next) = (0..work.jobs.len()).min_by_key(|&i| (work.jobs[i].early, work.jobs[i].due)) {
            // Only what somebody waits for is done before it ends.
            if work.stop && work.jobs[next].early {
                break;
            }
            let wait = work.jobs[next].due.saturating_duration_since(Instant::now());
            if !wait.is_zero() {
                work = self.wake.wait_timeout(work, wait).map_or_else(|e| e.into_inner().0, |(work, _)| work);
                continue;
            }
            let Job { generator, early, leased, .. } = work.jobs.swap_remove(next);
            drop(work);
            let again = generator.upgrade().and_then(|generator| generator.renew(!early));
            work = lock(&self.work);
            let asked_meanwhile = work.jobs.iter().any(|job| job.generator.ptr_eq(&generator));
            if let Some(again) = again
                && !asked_meanwhile
            {
                work.jobs.push(Job { due: Instant::now() + again, early: true, leased, generator });
            }
        }
        // Under the lock that saw nothing to do: who asks from now on starts another thread.
        work.running = false;
    }
}

/// A thread that ends by a defect is replaced by the next that is asked for.
struct Panics<'a>(&'a Shared);

impl Drop for Panics<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            lock(&self.0.work).running = false;
        }
    }
}

/// Ends the thread before a fork: a child has only the forking thread, and a threaded parent makes runtimes warn.
pub(crate) fn before_fork() {
    rest(FORK_WAITS);
}

/// The fork is over, and this is the parent.
pub(crate) fn after_fork() {
    if let Some(registry) = existing_registry() {
        registry.renewer.go_on();
    }
}

/// Begins no thread for what nobody waits for, until [`release`].
pub(crate) fn hold() {
    if let Some(registry) = existing_registry() {
        lock_signal_safe(&registry.renewer.state.work, registry.renewer.generation, |work| work.held = true);
    }
}

/// Ends a [`hold`].
pub(crate) fn release() {
    if let Some(registry) = existing_registry() {
        lock_signal_safe(&registry.renewer.state.work, registry.renewer.generation, |work| work.held = false);
        registry.renewer.go_on();
    }
}

/// Ends the thread, and waits for the calls that it made of the user's code: each at most so long.
pub(crate) fn rest(patience: Duration) {
    if let Some(registry) = existing_registry() {
        registry.renewer.stop(patience);
    }
    user_calls::settle(patience);
}
