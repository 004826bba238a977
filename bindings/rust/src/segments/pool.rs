//! The threads that ask sources for segments: at most four, or as many as a source has `connections`, gone after ten
//! idle seconds, and one that minds the time.
//!
//! They call the user's code, which may hang. One that was held up for long no longer counts among the four, so that
//! others are served; there is a bound to that, too.

use super::lines::Lines;
use super::office::Office;
use super::reply::Pending;
use super::source::Batch;
use super::tagged::Tagged;
use crate::fork::{self, PerProcess, Thread};
use crate::sync::{Pause, lock, locked};
use leafid_core::{Code, Error, Result};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Release};
use std::sync::{Arc, Condvar, Mutex, Weak};
use std::time::{Duration, Instant};

/// Threads that fetch at the same time.
const MOST_THREADS: usize = 4;
/// So many more, when as many are held up.
const MOST_STUCK: usize = 32;
/// So many work for one source: what hangs of it leaves threads to the others.
const MOST_FOR_ONE: usize = 16;
/// A thread that is busy with one job for so long is held up: with a request to a server, and with the user's code.
const STUCK: Duration = Duration::from_secs(1);
const STUCK_IN_CODE: Duration = Duration::from_millis(100);
/// A thread without work goes after this.
const IDLE: Duration = Duration::from_secs(10);
/// How long a fork waits for the threads to end before it goes on regardless.
const FORK_WAITS: Duration = Duration::from_millis(100);

static POOL: PerProcess<Arc<Pool>> = PerProcess::new();

thread_local! {
    static OURS: Cell<bool> = const { Cell::new(false) };
}

/// What a fetching thread does.
pub(crate) enum Job {
    /// Asks the source for a tag's next segment.
    Fetch(Arc<Office>, Arc<Tagged>, bool),
    /// Takes an answer.
    Accept(Pending, Result<Option<Batch>>),
    /// Makes requests for a source, or fails; whose it is: an address, to compare.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "servers need it"))]
    Help(usize, Box<dyn FnOnce(Result<()>) + Send>),
}

/// What is due at some time; none of it waits for anything.
pub(crate) enum Timed {
    /// Sees whether a tag wants to be fetched again.
    Look(Weak<Office>, Weak<Tagged>, i64),
    /// Sees whether a source may be asked again.
    Gate(Weak<Office>),
    /// Wakes a subscriber whose time is over.
    Wake(Weak<Tagged>, u64),
}

struct Pool {
    work: Mutex<Work>,
    /// Wakes a thread that fetches, and the one that minds the time.
    fetch: Condvar,
    tick: Condvar,
    generation: u64,
}

#[derive(Default)]
struct Work {
    jobs: Lines<Job>,
    due: BTreeMap<Due, Timed>,
    number: u64,
    idle: usize,
    /// From when on each thread that is at a job counts as held up, and for whom it works: an address, to compare.
    busy: BTreeMap<u64, (Instant, usize)>,
    threads: Vec<Running>,
    timer: bool,
    /// Threads end as soon as they can, and none is begun.
    stop: bool,
    /// None is begun for what nobody waits for.
    held: bool,
    /// With how many requests each makes at the same time.
    offices: Vec<(Weak<Office>, usize)>,
}

struct Running {
    thread: Thread,
    ended: Arc<AtomicBool>,
}

fn pool() -> &'static Arc<Pool> {
    POOL.get_or_install(|| {
        Arc::new(Pool {
            work: Mutex::default(),
            fetch: Condvar::new(),
            tick: Condvar::new(),
            generation: fork::current(),
        })
    })
}

/// Whether this thread is one of these.
pub(crate) fn is_this_thread() -> bool {
    OURS.get()
}

/// Has a job done by the next free thread.
pub(crate) fn push(job: Job) {
    let pool = pool();
    pool.locked(|work| work.jobs.push(job.office(), job));
    pool.tend(false);
}

/// When something is due; two at the same time have numbers of their own.
pub(crate) type Due = (Instant, u64);

/// Has something done at its time, unless it is taken back before.
pub(crate) fn at(time: Instant, timed: Timed) -> Due {
    let pool = pool();
    let number = pool.locked(|work| {
        work.number += 1;
        work.due.insert((time, work.number), timed);
        work.number
    });
    pool.tick.notify_one();
    pool.tend(false);
    (time, number.unwrap_or(0))
}

/// Takes back what [`at`] was told, in the process that told it.
pub(crate) fn take_back(due: Due) {
    if let Some(pool) = POOL.get() {
        pool.locked(|work| work.due.remove(&due));
    }
}

/// Sees that there are threads for what is to be done: after a fork, which ends them, nobody else does. `waits`: somebody
/// waits.
pub(crate) fn tend(waits: bool) {
    pool().tend(waits);
}

/// An office was opened.
pub(crate) fn enter(office: &Arc<Office>) {
    pool().locked(|work| {
        work.offices.push((Arc::downgrade(office), office.options.origin.threads));
    });
}

/// An office was closed; the last one ends the threads that are idle.
pub(crate) fn leave(office: &Arc<Office>, patience: Duration) {
    let pool = pool();
    let left = pool.locked(|work| {
        work.offices
            .retain(|(other, _)| other.strong_count() > 0 && !std::ptr::eq(other.as_ptr(), &**office));
        // They would keep it until somebody else has something done.
        let its = work.jobs.take_all(Arc::as_ptr(office) as usize);
        if work.offices.is_empty() {
            work.due.clear();
        }
        (work.offices.is_empty(), its)
    });
    let last = left.map(|(last, _)| last);
    if last == Some(true) && !is_this_thread() {
        pool.stop(patience, true);
        pool.tend(false);
    }
}

/// What is open in this process.
pub(crate) fn offices() -> Vec<Arc<Office>> {
    let Some(pool) = POOL.get() else { return Vec::new() };
    pool.locked(|work| work.offices()).unwrap_or_default()
}

/// Ends the threads before a fork: a child has only the forking thread, and a threaded parent makes runtimes warn.
pub(crate) fn before_fork() {
    rest(FORK_WAITS);
}

/// Ends the threads, waiting at most so long.
pub(crate) fn rest(patience: Duration) {
    if let Some(pool) = POOL.get() {
        pool.stop(patience, false);
    }
}

/// Begins no thread for what nobody waits for, until [`release`].
pub(crate) fn hold() {
    if let Some(pool) = POOL.get() {
        pool.locked(|work| work.held = true);
    }
}

/// Ends a [`hold`].
pub(crate) fn release() {
    if let Some(pool) = POOL.get() {
        pool.locked(|work| work.held = false);
    }
}

/// The fork is over, and this is the parent.
pub(crate) fn after_fork() {
    if let Some(pool) = POOL.get() {
        pool.tend(false);
    }
}

impl Pool {
    fn locked<R>(&self, deed: impl FnOnce(&mut Work) -> R) -> Option<R> {
        locked(&self.work, self.generation, deed)
    }

    fn tend(self: &Arc<Self>, waits: bool) {
        let failed = self.locked(|work| {
            work.reap();
            if work.stop || (work.held && !waits) {
                return None;
            }
            let mut failed = None;
            let now = Instant::now();
            let held_up = work.busy.values().filter(|(from, _)| *from <= now).count().min(MOST_STUCK);
            if work.next_office().is_some_and(|next| {
                let most = work.most(MOST_THREADS) + held_up;
                let more = if work.is_crowded_out(next) { MOST_THREADS } else { 0 };
                work.jobs.len() > work.idle && work.idle + work.busy.len() < most + more
            }) {
                failed = self.begin(work, c"leafid-fetch", Pool::fetch).err();
                if failed.is_none() {
                    work.idle += 1;
                }
            }
            let needs_timer = !work.due.is_empty() || work.jobs.len() > work.idle;
            if needs_timer && !work.timer {
                work.timer = self.begin(work, c"leafid-time", Pool::mind_the_time).is_ok();
            }
            // Without any thread nobody would ever do it.
            failed.filter(|_| work.idle + work.busy.len() == 0).map(|error| (error, work.jobs.drain()))
        });
        self.fetch.notify_one();
        if let Some(Some((error, jobs))) = failed {
            let message = format!(
                "the system gives no thread to ask the source of segments on ({error}); see its limits. A child of \
                 _Fork or a raw clone can use no segments"
            );
            jobs.for_each(|job| job.fail(Error::new(Code::StateIo, message.clone())));
        }
    }

    /// Whether this is the child of a fork in what one of its threads ran.
    fn is_of_parent(&self) -> bool {
        self.generation != fork::current()
    }

    fn begin(
        self: &Arc<Self>,
        work: &mut Work,
        name: &'static std::ffi::CStr,
        run: fn(&Pool),
    ) -> std::io::Result<()> {
        let (pool, ended) = (Arc::clone(self), Arc::new(AtomicBool::new(false)));
        let end = Ended(Arc::clone(&ended));
        let thread = fork::spawn(name, fork::Code::Users, move || {
            let _end = end;
            run(&pool);
        })?;
        work.threads.push(Running { thread, ended });
        Ok(())
    }

    /// A fetching thread. It came counted as idle.
    fn fetch(&self) {
        OURS.set(true);
        let mut work = lock(&self.work);
        work.number += 1;
        let me = work.number;
        let mut since = Instant::now();
        let mut idle = Vec::new();
        while !work.stop {
            let Some(job) = work.next_office().and_then(|office| work.jobs.take(office)) else {
                let left = IDLE.saturating_sub(since.elapsed());
                if left.is_zero() || work.offices.is_empty() {
                    idle = work.offices();
                    break;
                }
                work =
                    self.fetch.wait_timeout(work, left).map_or_else(|e| e.into_inner().0, |(work, _)| work);
                continue;
            };
            work.idle -= 1;
            work.busy.insert(me, (Instant::now() + job.may_take(), job.office()));
            drop(work);
            let busy = Busy { pool: self, me };
            job.run();
            drop(busy);
            if self.is_of_parent() {
                // The user's code has forked: of this process it is the only thread, and ends it.
                return;
            }
            since = Instant::now();
            work = lock(&self.work);
        }
        work.idle -= 1;
        drop(work);
        idle.into_iter().for_each(|office| office.rest());
    }

    fn mind_the_time(&self) {
        OURS.set(true);
        let mut work = lock(&self.work);
        let mut since = Instant::now();
        while !work.stop {
            let now = Instant::now();
            if let Some(first) = work.due.first_entry().filter(|first| first.key().0 <= now) {
                let timed = first.remove();
                drop(work);
                // It may run a waker of the user's.
                let _ = catch_unwind(AssertUnwindSafe(|| timed.run()));
                if self.is_of_parent() {
                    return;
                }
                since = Instant::now();
                work = lock(&self.work);
                continue;
            }
            let due = work.due.first_key_value().map(|((time, _), _)| *time);
            // Jobs that wait for a thread get another one when those at work are held up.
            let held_up =
                if work.jobs.is_empty() { None } else { work.busy.values().map(|(from, _)| *from).min() };
            let idle = (due.is_none() && work.jobs.is_empty()).then(|| since + IDLE);
            let Some(next) = [due, held_up, idle].into_iter().flatten().min() else {
                // Jobs, and nobody busy: somebody is about to take them.
                work =
                    self.tick.wait_timeout(work, STUCK).map_or_else(|e| e.into_inner().0, |(work, _)| work);
                continue;
            };
            if next > now {
                work = self
                    .tick
                    .wait_timeout(work, next - now)
                    .map_or_else(|e| e.into_inner().0, |(work, _)| work);
                continue;
            }
            if idle.is_some() {
                break;
            }
            drop(work);
            tend(true);
            // As many are held up as may be: then it is waited for.
            work = lock(&self.work);
            work =
                self.tick.wait_timeout(work, STUCK / 10).map_or_else(|e| e.into_inner().0, |(work, _)| work);
        }
        work.timer = false;
    }

    /// Ends the threads; those that are at a job when it is done. `idle`: does not wait for those.
    fn stop(&self, patience: Duration, idle: bool) {
        let deadline = Instant::now() + patience;
        let mut pause = Pause::new();
        loop {
            let ended = self.locked(|work| {
                work.stop = true;
                work.reap();
                work.threads.is_empty() || (idle && !work.timer && work.idle == 0)
            });
            if ended != Some(false) {
                break;
            }
            self.fetch.notify_all();
            self.tick.notify_all();
            if !pause.until(deadline) {
                break;
            }
        }
        self.locked(|work| work.stop = false);
    }
}

impl Work {
    fn offices(&self) -> Vec<Arc<Office>> {
        self.offices.iter().filter_map(|(office, _)| office.upgrade()).collect()
    }

    /// So many threads, or more where a source makes more requests at the same time.
    fn most(&self, least: usize) -> usize {
        self.offices.iter().map(|(_, threads)| *threads).fold(least, usize::max)
    }

    /// Whose job is next: of whom the fewest threads work for, and not too many.
    fn next_office(&self) -> Option<usize> {
        let most = self.most(MOST_FOR_ONE);
        self.jobs
            .next(|office| Some(self.busy_for(office)).filter(|busy| self.busy.len() < most || *busy < most))
    }

    /// Whether nobody works for an office, because several work for another.
    fn is_crowded_out(&self, office: usize) -> bool {
        let several = |of| self.busy_for(of) > 1;
        self.busy_for(office) == 0 && self.busy.values().any(|(_, of)| several(*of))
    }

    fn busy_for(&self, office: usize) -> usize {
        self.busy.values().filter(|(_, of)| *of == office).count()
    }

    /// Joins the threads that have ended.
    fn reap(&mut self) {
        self.threads
            .extract_if(.., |running| running.ended.load(Acquire))
            .for_each(|running| running.thread.join());
    }
}

impl Job {
    fn may_take(&self) -> Duration {
        match self {
            Job::Fetch(office, ..) if !office.options.origin.native => STUCK_IN_CODE,
            _ => STUCK,
        }
    }

    /// Whose it is: an address, to compare.
    fn office(&self) -> usize {
        match self {
            Job::Fetch(office, ..) => Arc::as_ptr(office) as usize,
            Job::Accept(pending, _) => Arc::as_ptr(&pending.office) as usize,
            Job::Help(whose, _) => *whose,
        }
    }

    fn run(self) {
        match self {
            Job::Fetch(office, tagged, tries) => office.fetch(tagged, tries),
            Job::Accept(pending, answer) => pending.accept(answer),
            Job::Help(_, help) => help(Ok(())),
        }
    }

    fn fail(self, error: Error) {
        match self {
            Job::Fetch(office, tagged, _) => office.failed_to_ask(&tagged, error),
            Job::Accept(pending, _) => pending.accept(Err(error)),
            Job::Help(_, help) => help(Err(error)),
        }
    }
}

impl Timed {
    fn run(self) {
        match self {
            Timed::Look(office, tagged, until_ms) => {
                if let (Some(office), Some(tagged)) = (office.upgrade(), tagged.upgrade()) {
                    office.look(&tagged, until_ms);
                }
            }
            Timed::Gate(office) => {
                if let Some(office) = office.upgrade() {
                    office.look_at_gate();
                }
            }
            Timed::Wake(tagged, subscriber) => {
                if let Some(tagged) = tagged.upgrade() {
                    tagged.wake(subscriber);
                }
            }
        }
    }
}

/// A thread is at a job, also while that panics.
struct Busy<'a> {
    pool: &'a Pool,
    me: u64,
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        if self.pool.is_of_parent() {
            return;
        }
        let mut work = lock(&self.pool.work);
        work.busy.remove(&self.me);
        // A panic ends the thread.
        if !std::thread::panicking() {
            work.idle += 1;
        }
    }
}

/// Says that a thread has ended, also by a panic.
struct Ended(Arc<AtomicBool>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.store(true, Release);
    }
}
