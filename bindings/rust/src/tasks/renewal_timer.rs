//! The background threads that renew spans while generators are in use, and leases as long as they are held. Each ends
//! when none is left to renew.

use crate::os::mutex::{PollSleep, lock, lock_signal_safe};
use crate::os::process::{ForkHooks, ForkOrder, at_fork};
use crate::os::{self, PerProcess, Thread, without_signals};
use crate::tasks::with_timeout::{self, Timed};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Release};
use std::sync::{Arc, Condvar, Mutex, Weak};
use std::time::{Duration, Instant};

/// How long the renewal of one lease holds up the others, because its disk may hang.
const LEASE_HOLDS_UP: Duration = Duration::from_secs(1);
/// When one that hangs is looked at again: only its disk waits, and its lease is renewed meanwhile.
const LOOKS_AGAIN: Duration = Duration::from_millis(200);

/// The timer of this process. A forked child starts with none.
static TIMER: PerProcess<Arc<RenewalTimer>> = PerProcess::new();

/// An object that the timer renews.
pub(crate) trait Renewable: Send + Sync + 'static {
    /// Renews what is due. Returns when to call it again, if at all.
    fn renew(self: Arc<Self>) -> Option<Duration>;
    /// Whether it holds a lease, which ends without a renewal.
    fn is_leased(&self) -> bool;
}

/// The threads and their jobs.
pub(crate) struct RenewalTimer {
    spans: Arc<SharedState>,
    /// Those who hold a lease: it ends without a renewal, whatever the disk of another one does.
    leases: Arc<SharedState>,
    /// The generation of its process.
    generation: u64,
}

/// A thread and its jobs.
#[derive(Default)]
struct SharedState {
    work: Mutex<Schedule>,
    wake: Condvar,
    leased: bool,
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
    renewable: Weak<dyn Renewable>,
}

impl RenewalTimer {
    pub(crate) fn new() -> RenewalTimer {
        let leases = SharedState { leased: true, ..SharedState::default() };
        let generation = os::process::generation();
        RenewalTimer { spans: Arc::default(), leases: Arc::new(leases), generation }
    }

    fn both(&self) -> [&Arc<SharedState>; 2] {
        [&self.leases, &self.spans]
    }

    fn of(&self, renewable: &impl Renewable) -> &Arc<SharedState> {
        if renewable.is_leased() { &self.leases } else { &self.spans }
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
        let state = self.of(renewable.as_ref());
        let started = lock_signal_safe(&state.work, self.generation, |work| {
            work.ask(Arc::downgrade(renewable) as Weak<dyn Renewable>, early);
            if work.running {
                return Ok(());
            }
            state.start_thread(work)
        });
        if let Some(Err(error)) = started {
            // The system gives no thread: callers renew the span themselves, at each of these calls.
            log::warn!("leafid: no background thread ({error}); spans are renewed by the callers");
            if os::check_may_work().is_ok() {
                without_signals(|| Arc::clone(renewable).renew());
            }
        }
        state.wake.notify_one();
    }

    /// Starts the thread of leases again after a fork. Other renewals wait for the next call.
    fn restart_for_leases(&self) {
        let begun = lock_signal_safe(&self.leases.work, self.generation, |work| self.leases.restart(work));
        begun.into_iter().for_each(warn_without_thread);
    }

    fn set_paused(&self, paused: bool) {
        for state in self.both() {
            lock_signal_safe(&state.work, self.generation, |work| work.paused = paused);
        }
    }

    /// Ends the threads, and waits at most `patience`. The jobs stay: the next `schedule` starts theirs again.
    pub(crate) fn stop(&self, patience: Duration) {
        let deadline = Instant::now() + patience;
        self.both().into_iter().for_each(|state| self.stop_one(state, deadline));
    }

    fn stop_one(&self, state: &SharedState, deadline: Instant) {
        let mut sleep = PollSleep::new();
        loop {
            let ended = lock_signal_safe(&state.work, self.generation, |work| {
                work.stop = work.running;
                (!work.running).then(|| work.thread.take())
            });
            match ended {
                // It has left its loop. This waits until the kernel has removed it.
                Some(Some(Some(thread))) => return thread.join(),
                Some(Some(None)) | None => return,
                Some(None) => state.wake.notify_one(),
            }
            if !sleep.until(deadline) {
                lock_signal_safe(&state.work, self.generation, |work| work.stop = false);
                return;
            }
        }
    }

    /// Removes an object, and ends its thread with the last one.
    pub(crate) fn forget(&self, renewable: &impl Renewable, patience: Duration) {
        let state = self.of(renewable);
        let last = lock_signal_safe(&state.work, self.generation, |work| {
            work.forget(std::ptr::from_ref(renewable).cast());
            work.jobs.is_empty()
        });
        if last == Some(true) {
            self.stop_one(state, Instant::now() + patience);
        }
    }
}

fn warn_without_thread(begun: io::Result<()>) {
    if let Err(error) = begun {
        log::warn!("leafid: no background thread ({error}); leases are renewed by the next calls");
    }
}

impl Schedule {
    fn ask(&mut self, renewable: Weak<dyn Renewable>, early: bool) {
        self.forget(renewable.as_ptr().cast());
        self.jobs.push(RenewalJob { due: Instant::now(), early, renewable });
    }

    fn forget(&mut self, renewable: *const ()) {
        self.jobs.retain(|job| !std::ptr::addr_eq(job.renewable.as_ptr(), renewable));
    }
}

impl SharedState {
    fn start_thread(self: &Arc<Self>, work: &mut Schedule) -> io::Result<()> {
        let state = Arc::clone(self);
        work.thread = Some(os::spawn(c"leafid", os::ThreadKind::Internal, move || state.run())?);
        (work.running, work.stop) = (true, false);
        Ok(())
    }

    fn restart(self: &Arc<Self>, work: &mut Schedule) -> io::Result<()> {
        if work.running || work.paused || work.jobs.is_empty() { Ok(()) } else { self.start_thread(work) }
    }

    /// Renews it, and returns when to do it again. One that holds a lease is left behind if its disk hangs.
    fn renew(self: &Arc<Self>, it: Arc<dyn Renewable>) -> Option<Duration> {
        if !self.leased {
            return it.renew();
        }
        let is_late = Arc::new(AtomicBool::new(false));
        let (state, theirs, was_late) = (Arc::clone(self), Arc::clone(&it), Arc::clone(&is_late));
        let renew = move || {
            let again = Arc::clone(&theirs).renew();
            if again.is_some() && was_late.load(Acquire) {
                let mut work = lock(&state.work);
                work.ask(Arc::downgrade(&theirs), true);
                let begun = state.restart(&mut work);
                drop(work);
                warn_without_thread(begun);
                state.wake.notify_one();
            }
            again
        };
        match with_timeout::run(LEASE_HOLDS_UP, renew) {
            Timed::Done(again) => again,
            Timed::TooMany => it.renew(),
            _ => {
                is_late.store(true, Release);
                Some(LOOKS_AGAIN)
            }
        }
    }

    fn run(self: &Arc<Self>) {
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
            let renewable = work.jobs.swap_remove(next).renewable;
            drop(work);
            let again = renewable.upgrade().and_then(|renewable| self.renew(renewable));
            work = lock(&self.work);
            let asked_meanwhile = work.jobs.iter().any(|job| job.renewable.ptr_eq(&renewable));
            if let Some(again) = again
                && !asked_meanwhile
            {
                work.jobs.push(RenewalJob { due: Instant::now() + again, early: true, renewable });
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

/// Ends the threads before a fork: a child has only the forking thread, and runtimes warn of a parent with threads.
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

/// Ends the threads, and waits at most `patience`.
pub(crate) fn stop(patience: Duration) {
    if let Some(timer) = TIMER.get() {
        timer.stop(patience);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hang::HANG;
    use std::sync::mpsc::{Receiver, Sender, channel};

    /// It is due again when no test is left that could see it.
    struct Rests {
        renewed: Mutex<Sender<()>>,
        leased: bool,
        /// Its first renewal hangs until the other end is dropped.
        hangs: Mutex<Option<Receiver<()>>>,
    }

    impl Rests {
        fn new(leased: bool, hangs: Option<Receiver<()>>) -> (Arc<Rests>, Receiver<()>) {
            let (renewed, told) = channel();
            (Arc::new(Rests { renewed: Mutex::new(renewed), leased, hangs: Mutex::new(hangs) }), told)
        }
    }

    impl Renewable for Rests {
        fn renew(self: Arc<Self>) -> Option<Duration> {
            let hangs = lock(&self.hangs).take();
            let _ = lock(&self.renewed).send(());
            hangs.map(|until| until.recv());
            Some(4 * HANG)
        }

        fn is_leased(&self) -> bool {
            self.leased
        }
    }

    #[test]
    fn the_thread_ends_with_its_last_job_and_not_when_that_was_due() {
        for leased in [false, true] {
            let (it, renewed) = Rests::new(leased, None);
            let timer = RenewalTimer::new();
            timer.schedule(&it, false);
            renewed.recv_timeout(HANG).expect("it is renewed");
            timer.forget(&*it, HANG);
            assert!(!lock(&timer.of(&*it).work).running);
        }
    }

    #[test]
    fn a_lease_is_renewed_while_other_disks_hang() {
        let timer = RenewalTimer::new();
        let hung = [false, true].map(|leased| {
            let (works, hangs) = channel();
            let (it, renewed) = Rests::new(leased, Some(hangs));
            timer.schedule(&it, false);
            renewed.recv_timeout(HANG).expect("it hangs");
            (works, it, renewed)
        });
        let (lease, renewed) = Rests::new(true, None);
        timer.schedule(&lease, true);
        renewed.recv_timeout(HANG).expect("it is renewed");
        // Its own disk hangs too, and there is more of it to renew: at once, and when the disk has answered.
        let [_, (works, _it, renewed)] = hung;
        renewed.recv_timeout(HANG).expect("it is looked at again");
        drop(works);
        renewed.recv_timeout(HANG).expect("it is looked at after its end");
    }
}
