//! The one background thread: it renews spans while generators are in use, and is gone when none is.

use crate::host::this_host;
use crate::live::Live;
use crate::sync::lock;
use std::sync::{Arc, Condvar, Mutex, TryLockError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a fork waits for the thread to end before it goes on regardless.
const FORK_WAITS: Duration = Duration::from_millis(100);

/// The thread and what it is to do.
#[derive(Default)]
pub(crate) struct Renewer {
    state: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    work: Mutex<Work>,
    wake: Condvar,
    /// The thread is about to end.
    ended: Condvar,
}

#[derive(Default)]
struct Work {
    jobs: Vec<Job>,
    thread: Option<JoinHandle<()>>,
    running: bool,
    stop: bool,
}

struct Job {
    due: Instant,
    /// Nobody waits for it: the others go first.
    early: bool,
    live: Weak<Live>,
}

impl Renewer {
    /// Has this generator looked at now, and again when half of its span is used. `early`: nobody waits for it.
    pub(crate) fn ask(&self, live: &Arc<Live>, early: bool) {
        if !live.is_ours() {
            return;
        }
        let mut work = lock(&self.state.work);
        work.jobs.retain(|job| !std::ptr::eq(job.live.as_ptr(), Arc::as_ptr(live)));
        work.jobs.push(Job { due: Instant::now(), early, live: Arc::downgrade(live) });
        if !work.running {
            let state = Arc::clone(&self.state);
            match crate::fork::spawn("leafid", move || state.run()) {
                Ok(thread) => {
                    work.thread = Some(thread);
                    work.running = true;
                    work.stop = false;
                }
                Err(error) => {
                    // No thread to be had: the caller does the deed itself, each time it is asked.
                    log::warn!("leafid: no background thread ({error}); spans are renewed by the callers");
                    work.jobs.clear();
                    drop(work);
                    live.renew();
                    return;
                }
            }
        }
        drop(work);
        self.state.wake.notify_one();
    }

    /// Ends the thread, waiting at most so long. The jobs stay: the next `ask` starts it again.
    pub(crate) fn stop(&self, patience: Duration) {
        let deadline = Instant::now() + patience;
        // A fork inside a signal handler may have interrupted the holder of this lock: never wait without a bound.
        let mut work = loop {
            match self.state.work.try_lock() {
                Ok(work) => break work,
                Err(TryLockError::Poisoned(poisoned)) => break poisoned.into_inner(),
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => std::thread::yield_now(),
                Err(TryLockError::WouldBlock) => return,
            }
        };
        if work.running {
            work.stop = true;
            self.state.wake.notify_one();
        }
        while work.running {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                work.stop = false;
                return;
            }
            work =
                self.state.ended.wait_timeout(work, left).map_or_else(|e| e.into_inner().0, |(work, _)| work);
        }
        let thread = work.thread.take();
        drop(work);
        if let Some(thread) = thread {
            // It has left its loop: this waits for the kernel to see it gone.
            let _ = thread.join();
        }
    }

    /// Forgets a generator, and ends the thread with the last one.
    pub(crate) fn forget(&self, live: &Live, patience: Duration) {
        let mut work = lock(&self.state.work);
        work.jobs.retain(|job| !std::ptr::eq(job.live.as_ptr(), live));
        let last = work.jobs.is_empty();
        drop(work);
        if last {
            self.stop(patience);
        }
    }
}

impl Shared {
    fn run(&self) {
        let _panics = Panics(self);
        let mut work = lock(&self.work);
        while let Some(next) = (0..work.jobs.len()).min_by_key(|&i| (work.jobs[i].early, work.jobs[i].due)) {
            let wait = work.jobs[next].due.saturating_duration_since(Instant::now());
            // Somebody may be waiting for what is due: that is done first.
            if !wait.is_zero() && work.stop {
                break;
            }
            if !wait.is_zero() {
                work = self.wake.wait_timeout(work, wait).map_or_else(|e| e.into_inner().0, |(work, _)| work);
                continue;
            }
            let live = work.jobs.swap_remove(next).live;
            drop(work);
            let again = live.upgrade().and_then(|live| live.renew());
            work = lock(&self.work);
            let asked_meanwhile = work.jobs.iter().any(|job| job.live.ptr_eq(&live));
            if let Some(again) = again
                && !asked_meanwhile
            {
                work.jobs.push(Job { due: Instant::now() + again, early: true, live });
            }
        }
        // Under the lock that saw nothing to do: who asks from now on starts another thread.
        work.running = false;
        self.ended.notify_all();
    }
}

/// A thread that ends by a defect is replaced by the next that is asked for.
struct Panics<'a>(&'a Shared);

impl Drop for Panics<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            lock(&self.0.work).running = false;
            self.0.ended.notify_all();
        }
    }
}

/// Ends the thread before a fork: a child has only the forking thread, and a threaded parent makes runtimes warn.
pub(crate) fn before_fork() {
    if let Some(host) = this_host() {
        host.renewer.stop(FORK_WAITS);
    }
}
