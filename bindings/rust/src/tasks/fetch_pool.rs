//! The threads that request segments from sources, and a thread that runs timers.
//!
//! At most four threads fetch, or as many as a source has `connections`. Four more are for sources for which none of
//! these works. A thread ends after ten idle seconds.
//!
//! They run user callbacks, which may hang. A thread that was blocked for long no longer counts among the four, so that
//! other sources get a thread. The number of such threads is bounded too. The core's [`FetchThreads`] decides all this.

use crate::os::mutex::{PollSleep, lock, lock_signal_safe};
use crate::os::process::{ForkHooks, ForkOrder, at_fork};
use crate::os::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Release};
use crate::os::sync::{Condvar, Instant, Mutex, global, thread, thread_local};
use crate::os::{self, PerProcess, Thread};
use leafid_core::{Code, Error, FetchThreads, Result};
use std::any::Any;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// A thread ends after this time without work. In tests only what they do ends one.
const IDLE: Duration = Duration::from_secs(if cfg!(test) { 3_600 } else { 10 });

/// A thread that is busy with one job for this long counts as held up: with a request to a server, or with a user
/// callback.
pub(crate) const STUCK: Duration = Duration::from_secs(1);
pub(crate) const STUCK_IN_CODE: Duration = Duration::from_millis(100);

/// A job of a thread of the pool.
pub(crate) struct Job {
    /// The address of its owner, to compare.
    owner: usize,
    /// A thread that runs it for longer than this counts as held up.
    may_take: Duration,
    run: Box<RunJob>,
}

/// Runs a job, or fails it with the error if there is no thread for it. Returns a job that must be queued.
type RunJob = dyn FnOnce(Result<()>) -> Option<Job> + Send;

impl Job {
    pub(crate) fn new(
        owner: usize,
        may_take: Duration,
        run: impl FnOnce(Result<()>) -> Option<Job> + Send + 'static,
    ) -> Job {
        Job { owner, may_take, run: Box::new(run) }
    }

    fn fail(self, error: &Error) {
        let mut next = Some(self);
        while let Some(job) = next {
            next = (job.run)(Err(error.clone()));
        }
    }
}

/// An owner of jobs. The pool runs its jobs while it is open.
pub(crate) trait Owner: Any + Send + Sync {
    /// Called when a thread ends after it was idle for long.
    fn close_idle(&self);
}

/// A task that runs at a given time. It does not block.
pub(crate) type TimerTask = Box<dyn FnOnce() + Send>;

global!(POOL: PerProcess<Arc<Pool>> = PerProcess::new());

thread_local! {
    static IS_POOL_THREAD: Cell<bool> = const { Cell::new(false) };
}

struct Pool {
    work: Mutex<PoolState>,
    /// Wakes a fetching thread. `timer_wake` wakes the timer thread.
    worker_wake: Condvar,
    timer_wake: Condvar,
    generation: u64,
}

/// What the lock of the pool protects.
#[derive(Default)]
struct PoolState {
    /// The jobs, each with the address of its owner as its source, and the threads.
    fetches: FetchThreads<Job, Instant>,
    due: BTreeMap<TimerKey, TimerTask>,
    number: u64,
    threads: Vec<RunningThread>,
    timer: bool,
    /// Threads end as soon as they can, and none is started.
    stop: bool,
    /// No thread is started for work that no caller waits for.
    paused: bool,
    /// The open owners, each with its number of concurrent requests.
    owners: Vec<(Weak<dyn Owner>, usize)>,
}

impl PoolState {
    fn push(&mut self, job: Job) {
        self.fetches.push(job.owner, job);
    }

    fn open_owners(&self) -> Vec<Arc<dyn Owner>> {
        self.owners.iter().filter_map(|(owner, _)| owner.upgrade()).collect()
    }

    /// The largest number of concurrent requests of an owner.
    fn requests(&self) -> usize {
        self.owners.iter().map(|(_, requests)| *requests).max().unwrap_or(0)
    }

    /// Joins the threads that have ended.
    fn reap(&mut self) {
        self.threads
            .extract_if(.., |running| running.ended.load(Acquire))
            .for_each(|running| running.thread.join());
    }
}

struct RunningThread {
    thread: Thread,
    ended: Arc<AtomicBool>,
}

fn pool() -> &'static Arc<Pool> {
    POOL.get_or_install(Pool::new)
}

/// Whether this thread belongs to the pool.
pub(crate) fn is_this_thread() -> bool {
    IS_POOL_THREAD.with(Cell::get)
}

/// Queues a job for the next free thread.
pub(crate) fn push(job: Job) {
    #[cfg(test)]
    if os::simulated::played().is_some() {
        return os::simulated::leave(move || (job.run)(Ok(())).into_iter().for_each(push));
    }
    let pool = pool();
    pool.with_lock(|work| work.push(job));
    pool.ensure_threads(false);
}

/// The time of a timer. A number separates two timers of the same time.
pub(crate) type TimerKey = (Instant, u64);

/// Has a task run at its time, unless it is canceled before. [`ensure_threads`] starts the thread that runs it: the
/// caller may hold a lock that a job needs.
pub(crate) fn schedule(time: Instant, timed: TimerTask) -> TimerKey {
    #[cfg(test)]
    if os::simulated::played().is_some() {
        // A later call checks again.
        return (time, 0);
    }
    let pool = pool();
    let number = pool.with_lock(|work| {
        // After the last close, its callers were already woken. A thread would only outlive the close.
        if work.owners.is_empty() {
            return 0;
        }
        work.number += 1;
        work.due.insert((time, work.number), timed);
        work.number
    });
    pool.timer_wake.notify_one();
    (time, number.unwrap_or(0))
}

/// Cancels a task of [`schedule()`], in the process that scheduled it.
pub(crate) fn cancel(due: TimerKey) {
    if let Some(pool) = POOL.get() {
        pool.with_lock(|work| work.due.remove(&due));
    }
}

#[cfg(test)]
pub(crate) fn is_scheduled(due: TimerKey) -> bool {
    pool().with_lock(|work| work.due.contains_key(&due)).unwrap_or_default()
}

/// Starts the threads that the work needs. A fork ends them, and nothing else starts them again. `waits`: a caller
/// waits.
pub(crate) fn ensure_threads(waits: bool) {
    #[cfg(test)]
    if os::simulated::played().is_some() {
        return;
    }
    pool().ensure_threads(waits);
}

/// Registers an opened owner. Up to `threads` of its jobs run concurrently.
pub(crate) fn add_owner(owner: &Arc<impl Owner>, threads: usize) {
    #[cfg(test)]
    if os::simulated::played().is_some() {
        return;
    }
    pool().with_lock(|work| {
        work.owners.push((Arc::downgrade(owner) as Weak<dyn Owner>, threads));
    });
}

/// Removes a closed owner. The last one ends the idle threads.
pub(crate) fn remove_owner(owner: &Arc<impl Owner>, patience: Duration) {
    #[cfg(test)]
    if os::simulated::played().is_some() {
        return;
    }
    let pool = pool();
    let left = pool.with_lock(|work| {
        work.owners
            .retain(|(other, _)| other.strong_count() > 0 && !std::ptr::addr_eq(other.as_ptr(), &**owner));
        // Otherwise the jobs would keep the owner until another job runs.
        let its = work.fetches.remove(Arc::as_ptr(owner) as usize);
        if work.owners.is_empty() {
            work.due.clear();
        }
        (work.owners.is_empty(), its)
    });
    let last = left.map(|(last, _)| last);
    if last == Some(true) && !is_this_thread() {
        pool.stop(patience, true);
        pool.ensure_threads(false);
    }
}

/// The open owners of this process.
pub(crate) fn owners() -> Vec<Arc<dyn Owner>> {
    let Some(pool) = POOL.get() else { return Vec::new() };
    pool.with_lock(|work| work.open_owners()).unwrap_or_default()
}

/// Ends the threads before a fork: a child has only the forking thread, and runtimes warn of a parent with threads.
pub(crate) static FORK_HOOKS: ForkHooks = ForkHooks {
    before: stop,
    in_parent: || {
        if let Some(pool) = POOL.get() {
            pool.ensure_threads(false);
        }
    },
    ..ForkHooks::NONE
};

/// Ends the threads, and waits at most `patience`.
pub(crate) fn stop(patience: Duration) {
    if let Some(pool) = POOL.get() {
        pool.stop(patience, false);
    }
}

/// Until [`resume`], starts no thread for work that no caller waits for.
pub(crate) fn pause() {
    if let Some(pool) = POOL.get() {
        pool.with_lock(|work| work.paused = true);
    }
}

/// Ends a [`pause`]. It starts no thread: Python warns of each fork of a process that has threads, and counts them after
/// this. What was held begins with the next work.
pub(crate) fn resume() {
    if let Some(pool) = POOL.get() {
        pool.with_lock(|work| work.paused = false);
    }
}

impl Pool {
    fn new() -> Arc<Pool> {
        at_fork(ForkOrder::Fetches, &FORK_HOOKS);
        Arc::new(Pool {
            work: Mutex::default(),
            worker_wake: Condvar::new(),
            timer_wake: Condvar::new(),
            generation: os::process::generation(),
        })
    }

    fn with_lock<R>(&self, action: impl FnOnce(&mut PoolState) -> R) -> Option<R> {
        lock_signal_safe(&self.work, self.generation, action)
    }

    fn ensure_threads(self: &Arc<Self>, waits: bool) {
        let failed = self.with_lock(|work| {
            work.reap();
            if work.stop || (work.paused && !waits) {
                return None;
            }
            let mut failed = None;
            if work.fetches.wants_thread(Instant::now(), work.requests()) {
                failed = self.start_thread(work, c"leafid-fetch", Pool::run_worker).err();
                if failed.is_none() {
                    work.fetches.started();
                }
            }
            if !work.due.is_empty() || work.fetches.lacks_threads() {
                self.start_timer(work);
            }
            // Without any thread the jobs would never run.
            let fetches = &mut work.fetches;
            failed.filter(|_| fetches.idle() + fetches.busy() == 0).map(|error| (error, fetches.drain()))
        });
        self.worker_wake.notify_one();
        if let Some(Some((error, jobs))) = failed {
            let message = format!(
                "the system cannot start a thread to ask the source of segments ({error}); see its limits"
            );
            let error = Error::new(Code::StateIo, message);
            jobs.for_each(|job| job.fail(&error));
        }
    }

    /// Whether this is the child of a fork that happened in a job.
    fn is_of_parent(&self) -> bool {
        self.generation != os::process::generation()
    }

    fn start_thread(
        self: &Arc<Self>,
        work: &mut PoolState,
        name: &'static std::ffi::CStr,
        run: fn(&Arc<Pool>),
    ) -> std::io::Result<()> {
        let (pool, ended) = (Arc::clone(self), Arc::new(AtomicBool::new(false)));
        let end = ThreadEnd(Arc::clone(&ended));
        let thread = os::spawn(name, os::ThreadKind::UserCode, move || {
            let _end = end;
            run(&pool);
        })?;
        work.threads.push(RunningThread { thread, ended });
        Ok(())
    }

    fn start_timer(self: &Arc<Self>, work: &mut PoolState) {
        if !work.timer {
            work.timer = self.start_thread(work, c"leafid-time", Pool::run_timer).is_ok();
        }
    }

    /// The loop of a fetching thread. It was counted as idle before it started.
    fn run_worker(self: &Arc<Self>) {
        IS_POOL_THREAD.with(|it| it.set(true));
        let mut work = lock(&self.work);
        work.number += 1;
        let me = work.number;
        let mut since = Instant::now();
        let mut idle = Vec::new();
        while !work.stop {
            let (now, requests) = (Instant::now(), work.requests());
            let Some(job) = work.fetches.take(me, now, requests, |job| now + job.may_take) else {
                let left = IDLE.saturating_sub(since.elapsed());
                if left.is_zero() || work.owners.is_empty() {
                    idle = work.open_owners();
                    break;
                }
                // Jobs whose turn has not come run once the busy threads are held up.
                if work.fetches.has_jobs() && !work.paused {
                    self.start_timer(&mut work);
                }
                work = self
                    .worker_wake
                    .wait_timeout(work, left)
                    .map_or_else(|e| e.into_inner().0, |(work, _)| work);
                continue;
            };
            drop(work);
            let busy = BusyGuard { pool: self, me };
            let again = (job.run)(Ok(()));
            drop(busy);
            if self.is_of_parent() {
                // A user callback has forked: this is the only thread of the child, and it ends.
                return;
            }
            since = Instant::now();
            work = lock(&self.work);
            // This thread takes the next job itself, so no thread is started.
            again.into_iter().for_each(|job| work.push(job));
        }
        work.fetches.ended();
        drop(work);
        idle.into_iter().for_each(|owner| owner.close_idle());
    }

    fn run_timer(self: &Arc<Self>) {
        IS_POOL_THREAD.with(|it| it.set(true));
        let mut work = lock(&self.work);
        let mut since = Instant::now();
        while !work.stop {
            let now = Instant::now();
            if let Some(first) = work.due.first_entry().filter(|first| first.key().0 <= now) {
                let timed = first.remove();
                drop(work);
                // It may call a waker of the user.
                let _ = catch_unwind(AssertUnwindSafe(timed));
                if self.is_of_parent() {
                    return;
                }
                since = Instant::now();
                work = lock(&self.work);
                continue;
            }
            let due = work.due.first_key_value().map(|((time, _), _)| *time);
            // Waiting jobs get another thread when the busy threads are held up.
            let has_jobs = work.fetches.has_jobs();
            let held_up = if has_jobs { work.fetches.first_held_up() } else { None };
            let idle = (due.is_none() && !has_jobs).then(|| since + IDLE);
            let Some(next) = [due, held_up, idle].into_iter().flatten().min() else {
                // Jobs are queued and no thread is busy: a thread is about to take them.
                work = self
                    .timer_wake
                    .wait_timeout(work, STUCK)
                    .map_or_else(|e| e.into_inner().0, |(work, _)| work);
                continue;
            };
            if next > now {
                work = self
                    .timer_wake
                    .wait_timeout(work, next - now)
                    .map_or_else(|e| e.into_inner().0, |(work, _)| work);
                continue;
            }
            if idle.is_some() {
                break;
            }
            drop(work);
            self.ensure_threads(true);
            // Threads that were reserved for other sources may be idle.
            self.worker_wake.notify_all();
            // If the largest number of threads is held up, it waits.
            work = lock(&self.work);
            work = self
                .timer_wake
                .wait_timeout(work, STUCK / 10)
                .map_or_else(|e| e.into_inner().0, |(work, _)| work);
        }
        work.timer = false;
    }

    /// Ends the threads; a busy one ends after its job. `idle`: does not wait for the busy ones.
    fn stop(&self, patience: Duration, idle: bool) {
        let deadline = Instant::now() + patience;
        let mut sleep = PollSleep::new();
        loop {
            let ended = self.with_lock(|work| {
                work.stop = true;
                work.reap();
                work.threads.is_empty() || (idle && !work.timer && work.fetches.idle() == 0)
            });
            if ended != Some(false) {
                break;
            }
            self.worker_wake.notify_all();
            self.timer_wake.notify_all();
            if !sleep.until(deadline) {
                break;
            }
        }
        self.with_lock(|work| work.stop = false);
    }
}

/// Marks a thread as busy, also during a panic.
struct BusyGuard<'a> {
    pool: &'a Pool,
    me: u64,
}

impl Drop for BusyGuard<'_> {
    fn drop(&mut self) {
        if self.pool.is_of_parent() {
            return;
        }
        let mut work = lock(&self.pool.work);
        work.fetches.job_ended(self.me, thread::panicking());
    }
}

/// Marks a thread as ended, also after a panic.
struct ThreadEnd(Arc<AtomicBool>);

impl Drop for ThreadEnd {
    fn drop(&mut self) {
        self.0.store(true, Release);
    }
}

#[cfg(test)]
mod tests;
