//! The background thread that renews spans while generators are in use. It ends when none is in use.

use crate::os::mutex::{PollSleep, lock, lock_signal_safe};
use crate::os::process::{ForkHooks, ForkOrder, at_fork};
use crate::os::{self, PerProcess, Thread, without_signals};
use std::io;
use std::sync::{Arc, Condvar, Mutex, Weak};
use std::time::{Duration, Instant};

/// The timer of this process. A forked child starts with none.
static TIMER: PerProcess<Arc<RenewalTimer>> = PerProcess::new();

/// An object that the timer renews.
pub(crate) trait Renewable: Send + Sync + 'static {
    /// Renews what is due. Returns when to call it again, if at all.
    fn renew(self: Arc<Self>) -> Option<Duration>;
    /// Whether it holds a lease, which ends without a renewal.
    fn is_leased(&self) -> bool;
}

/// The thread and its jobs.
pub(crate) struct RenewalTimer {
    state: Arc<SharedState>,
    /// The generation of its process.
    generation: u64,
}

#[derive(Default)]
struct SharedState {
    work: Mutex<Schedule>,
    wake: Condvar,
}

#[derive(Default)]
struct Schedule {
    jobs: Vec<RenewalJob>,
    thread: Option<Thread>,
    running: bool,
    stop: bool,
    /// No thread is started for renewals that no caller waits for.
    paused: bool,
}

struct RenewalJob {
    due: Instant,
    /// No caller waits for it: the others come first.
    early: bool,
    leased: bool,
    renewable: Weak<dyn Renewable>,
}

impl RenewalTimer {
    pub(crate) fn new() -> RenewalTimer {
        RenewalTimer { state: Arc::default(), generation: os::process::generation() }
    }

    /// The timer of this process.
    pub(crate) fn of_process() -> &'static Arc<RenewalTimer> {
        TIMER.get_or_install(|| {
            at_fork(ForkOrder::Renewals, &FORK_HOOKS);
            Arc::new(RenewalTimer::new())
        })
    }

    /// Renews this object now, and again when its `renew` says. `early`: no caller waits for it.
    pub(crate) fn schedule(&self, renewable: &Arc<impl Renewable>, early: bool) {
        let started = lock_signal_safe(&self.state.work, self.generation, |work| {
            work.forget(renewable.as_ref());
            work.jobs.push(RenewalJob {
                due: Instant::now(),
                early,
                leased: renewable.is_leased(),
                renewable: Arc::downgrade(renewable) as Weak<dyn Renewable>,
            });
            if work.running {
                return Ok(());
            }
            self.start_thread(work)
        });
        if let Some(Err(error)) = started {
            // The system gives no thread: callers renew the span themselves, at each of these calls.
            log::warn!("leafid: no background thread ({error}); spans are renewed by the callers");
            if os::check_may_work().is_ok() {
                without_signals(|| Arc::clone(renewable).renew());
            }
        }
        self.state.wake.notify_one();
    }

    fn start_thread(&self, work: &mut Schedule) -> io::Result<()> {
        let state = Arc::clone(&self.state);
        work.thread = Some(os::spawn(c"leafid", os::ThreadKind::Internal, move || state.run())?);
        (work.running, work.stop) = (true, false);
        Ok(())
    }

    /// Starts the thread again after a fork if a lease needs it. Other renewals wait for the next call.
    fn restart_for_leases(&self) {
        let begun = lock_signal_safe(&self.state.work, self.generation, |work| {
            if !work.running && !work.paused && work.jobs.iter().any(|job| job.leased) {
                self.start_thread(work)
            } else {
                Ok(())
            }
        });
        if let Some(Err(error)) = begun {
            log::warn!("leafid: no background thread ({error}); leases are renewed by the next calls");
        }
    }

    fn set_paused(&self, paused: bool) {
        lock_signal_safe(&self.state.work, self.generation, |work| work.paused = paused);
    }

    /// Ends the thread, and waits at most `patience`. The jobs stay: the next `schedule` starts it again.
    pub(crate) fn stop(&self, patience: Duration) {
        let deadline = Instant::now() + patience;
        let mut sleep = PollSleep::new();
        loop {
            let ended = lock_signal_safe(&self.state.work, self.generation, |work| {
                work.stop = work.running;
                (!work.running).then(|| work.thread.take())
            });
            match ended {
                // It has left its loop. This waits until the kernel has removed it.
                Some(Some(Some(thread))) => return thread.join(),
                Some(Some(None)) | None => return,
                Some(None) => self.state.wake.notify_one(),
            }
            if !sleep.until(deadline) {
                lock_signal_safe(&self.state.work, self.generation, |work| work.stop = false);
                return;
            }
        }
    }

    /// Removes an object, and ends the thread with the last one.
    pub(crate) fn forget(&self, renewable: &impl Renewable, patience: Duration) {
        let last = lock_signal_safe(&self.state.work, self.generation, |work| {
            work.forget(renewable);
            work.jobs.is_empty()
        });
        if last == Some(true) {
            self.stop(patience);
        }
    }
}

impl Schedule {
    fn forget(&mut self, renewable: &impl Renewable) {
        self.jobs.retain(|job| !std::ptr::addr_eq(job.renewable.as_ptr(), renewable));
    }
}

impl SharedState {
    fn run(&self) {
        let _guard = PanicGuard(self);
        let mut work = lock(&self.work);
        while let Some(next) = (0..work.jobs.len()).min_by_key(|&i| (work.jobs[i].early, work.jobs[i].due)) {
            // Before it ends, it runs only the jobs for which a caller waits.
            if work.stop && work.jobs[next].early {
                break;
            }
            let wait = work.jobs[next].due.saturating_duration_since(Instant::now());
            if !wait.is_zero() {
                work = self.wake.wait_timeout(work, wait).map_or_else(|e| e.into_inner().0, |(work, _)| work);
                continue;
            }
            let RenewalJob { renewable, leased, .. } = work.jobs.swap_remove(next);
            drop(work);
            let again = renewable.upgrade().and_then(|renewable| renewable.renew());
            work = lock(&self.work);
            let asked_meanwhile = work.jobs.iter().any(|job| job.renewable.ptr_eq(&renewable));
            if let Some(again) = again
                && !asked_meanwhile
            {
                work.jobs.push(RenewalJob { due: Instant::now() + again, early: true, leased, renewable });
            }
        }
        // Under the lock that saw no job: a later caller starts another thread.
        work.running = false;
    }
}

/// After a panic in the thread, the next `schedule` starts another.
struct PanicGuard<'a>(&'a SharedState);

impl Drop for PanicGuard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            lock(&self.0.work).running = false;
        }
    }
}

/// Ends the thread before a fork: a child has only the forking thread, and runtimes warn of a parent with threads.
static FORK_HOOKS: ForkHooks = ForkHooks {
    before: stop,
    in_parent: || {
        if let Some(timer) = TIMER.get() {
            timer.restart_for_leases();
        }
    },
    ..ForkHooks::NONE
};

/// Starts no thread for renewals that no caller waits for, until [`resume`].
pub(crate) fn pause() {
    if let Some(timer) = TIMER.get() {
        timer.set_paused(true);
    }
}

/// Ends a [`pause`].
pub(crate) fn resume() {
    if let Some(timer) = TIMER.get() {
        timer.set_paused(false);
        timer.restart_for_leases();
    }
}

/// Ends the thread, and waits at most `patience`.
pub(crate) fn stop(patience: Duration) {
    if let Some(timer) = TIMER.get() {
        timer.stop(patience);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hang::HANG;
    use std::sync::mpsc::{Sender, channel};

    /// It is due again when no test is left that could see it.
    struct Rests(Mutex<Sender<()>>);

    impl Renewable for Rests {
        fn renew(self: Arc<Self>) -> Option<Duration> {
            let _ = lock(&self.0).send(());
            Some(4 * HANG)
        }

        fn is_leased(&self) -> bool {
            false
        }
    }

    #[test]
    fn the_thread_ends_with_its_last_job_and_not_when_that_was_due() {
        let (sender, renewed) = channel();
        let (timer, it) = (RenewalTimer::new(), Arc::new(Rests(Mutex::new(sender))));
        timer.schedule(&it, false);
        renewed.recv_timeout(HANG).expect("it is renewed");
        timer.forget(&*it, HANG);
        assert!(!lock(&timer.state.work).running);
    }
}
