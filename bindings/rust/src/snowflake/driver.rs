//! The driver of a worker id: the core's machine behind its lock, the threads that carry out its calls, and those that
//! wait for its answers.
//!
//! What is next, the machine decides. A thread of leafid pulls its calls, carries them out without its lock, and reports
//! their ends. Calls of user code and requests to servers have threads of their own; all others run on the thread that
//! pulled them:
//!
//! | Thread | When |
//! | --- | --- |
//! | one of its own | while a caller opens or closes |
//! | that of a call of user code | after its end, if no caller opens or closes |
//! | the renewal thread | when a caller needs a span, and when the machine says |

use crate::os;
use crate::os::clock::Clock;
use crate::os::env::Env;
use crate::os::futex;
use crate::os::mutex::{PollSleep, lock, lock_signal_safe};
use crate::tasks::interrupt::Interrupted;
use crate::tasks::renewal_timer::{Renewable, RenewalTimer};
use crate::tasks::user_calls;
use crate::tasks::with_timeout::{self, Timed};
use crate::worker::run_calls;
use crate::worker::settings::SnowflakeSettings;
use crate::worker::worker_locks::WorkerLocks;
use leafid_core::call::{CallId, Clocks, Level, panicked};
use leafid_core::place::Place;
use leafid_core::run::{
    Answer, Lane, Need, Pause, ProcessLeases, RunCall, RunCallEnd, RunNotice, RunState, RunStats, RunTicket,
    RunWait, SourceFailure, Waiting, WorkerRun,
};
use leafid_core::{Durations, Result, Snowflake as Core};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{
    AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::AcqRel, Ordering::Acquire, Ordering::Release,
};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The machine itself ends every wait in time.
const AS_LONG_AS_IT_TAKES: Duration = Duration::from_secs(1 << 30);
/// The longest pause before the clocks are read again, because they may be set meanwhile.
const SLICE: Duration = Duration::from_millis(50);
/// How long an opening that succeeded waits for its look at what else is held on this host.
const LOOKS_FOR: Duration = Duration::from_secs(1);

/// The driver of the generators of one key, one after another. All handles of the key share it.
pub(crate) struct Driver {
    pub(crate) env: Arc<Env>,
    pub(crate) settings: Arc<SnowflakeSettings>,
    /// The clock that is read for each id.
    pub(crate) clock: Clock,
    renewer: Arc<RenewalTimer>,
    machine: Mutex<Machine>,
    /// Its lock is taken with that of the machine.
    leases: Arc<Mutex<ProcessLeases>>,
    /// Its lock is held while the disk is used.
    held: Mutex<WorkerLocks>,
    /// The number of generators so far.
    generators: AtomicU64,
    /// The number of the last wish for a span that was answered.
    answered: AtomicU64,
    /// Changes with each end of a call and each answer.
    news: AtomicU32,
    /// The number of those who open or close, for whom threads drive, and of calls that are carried out.
    drivers: AtomicUsize,
    under_way: AtomicUsize,
    /// Called once nothing is left of an opening that failed.
    when_over: Box<dyn Fn(&Driver) + Send + Sync>,
    /// How long calls waited, for metrics.
    pub(crate) waits: Durations,
    /// The generation of its process.
    pub(crate) generation: u64,
}

struct Machine {
    /// Boxed, because the threads that open may have little stack.
    run: Box<WorkerRun>,
    /// The generator that the handles know of.
    told: Option<Arc<Core>>,
}

/// The thread that drives.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Driving {
    /// The renewal thread, which other generators need too.
    Renewals,
    /// The thread of a call that has ended.
    AfterCall,
    /// A thread for which a caller waits.
    Awaited,
}

/// One who opens or closes, for whom a thread drives. After that one has left, the thread may hang: the ends of calls are
/// no longer left to it.
struct Awaited {
    driver: Arc<Driver>,
    is_over: AtomicBool,
}

impl Awaited {
    fn new(driver: &Arc<Driver>) -> Awaited {
        driver.drivers.fetch_add(1, AcqRel);
        Awaited { driver: Arc::clone(driver), is_over: AtomicBool::new(false) }
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Acquire)
    }

    fn leave(&self) {
        if !self.is_over.swap(true, AcqRel) {
            self.driver.drivers.fetch_sub(1, AcqRel);
        }
    }
}

/// What the machine says next.
enum Next {
    Tell(RunNotice),
    Call(CallId, Lane, RunCall),
    /// Nothing before this boot time.
    Rest(Option<Duration>),
}

impl Renewable for Driver {
    fn renew(self: Arc<Self>) -> Option<Duration> {
        self.drive(Driving::Renewals)
    }

    fn is_leased(&self) -> bool {
        self.settings.uses_leases()
    }
}

impl Driver {
    /// `leases`: what the drivers of the process share. `seed` is for jitter alone.
    #[inline(never)]
    pub(crate) fn new(
        env: &Arc<Env>,
        renewer: &Arc<RenewalTimer>,
        leases: &Arc<Mutex<ProcessLeases>>,
        settings: &Arc<SnowflakeSettings>,
        place: Place,
        seed: u64,
        when_over: Box<dyn Fn(&Driver) + Send + Sync>,
    ) -> Driver {
        let run = Box::new(WorkerRun::new(settings.run_settings(), place, seed));
        Driver {
            env: Arc::clone(env),
            settings: Arc::clone(settings),
            clock: env.clock.read_as(settings.options.clock_source),
            renewer: Arc::clone(renewer),
            machine: Mutex::new(Machine { run, told: None }),
            leases: Arc::clone(leases),
            held: Mutex::default(),
            generators: AtomicU64::new(0),
            answered: AtomicU64::new(0),
            news: AtomicU32::new(0),
            drivers: AtomicUsize::new(0),
            under_way: AtomicUsize::new(0),
            when_over,
            waits: Durations::new(),
            generation: os::process::generation(),
        }
    }

    /// Whether this process made it. After a fork in the middle of a call, the child holds a copy of its parent's.
    pub(crate) fn is_ours(&self) -> bool {
        self.generation == os::process::generation()
    }

    /// The core of the generator of now, when it begins to issue, and its number. `None` in a forked child too.
    pub(crate) fn now(&self) -> Option<(Arc<Core>, Option<i64>, u64)> {
        let found = lock_signal_safe(&self.machine, self.generation, |machine| {
            let core = Arc::clone(machine.told.as_ref()?);
            Some((core, machine.run.begins_ms(), self.generators.load(Acquire)))
        });
        found.flatten()
    }

    /// The number of generators so far.
    pub(crate) fn generators(&self) -> u64 {
        self.generators.load(Acquire)
    }

    /// Opens it. `interrupted` is called from time to time. Errors: those of the machine; `would_block` if it returns true.
    pub(crate) fn open(self: &Arc<Self>, interrupted: Interrupted<'_>) -> Result<()> {
        let need = Need::Open { longest: self.settings.max_wait, loops: true };
        self.await_driven(need, interrupted)?;
        if self.settings.uses_leases() {
            // A lease ends by itself, also before the first id.
            self.renewer.schedule(self, true);
        }
        Ok(())
    }

    /// Whether nothing of it is left, so that another one may be opened in its place.
    pub(crate) fn has_failed(&self) -> bool {
        let state = self.with(|run, _| run.state());
        matches!(state, Some(RunState::Failed(_) | RunState::Idle))
    }

    /// Whether its last claim failed, and those who waited for it have heard so or will.
    pub(crate) fn claim_failed(&self) -> bool {
        matches!(self.with(|run, _| run.state()), Some(RunState::Failed(_)))
    }

    /// Closes it for all handles, and waits as long as the machine says.
    pub(crate) fn close(self: &Arc<Self>) -> Result<()> {
        let source = self.settings.source.as_ref();
        let waits_for_source = source.is_none_or(|source| {
            // A renewal that closes its own generator would wait for itself.
            source.has_queued() || !(source.runs_on_callers_thread() || user_calls::is_this_thread())
        });
        self.await_driven(Need::Close { quietly: false, waits_for_source }, &mut || false)
    }

    /// Its job with the renewal thread ends.
    pub(crate) fn forget(&self, patience: Duration) {
        self.renewer.forget(self, patience);
    }

    /// Has a caller wish for a span, or look whether there is an answer to that. `None` in a forked child.
    pub(crate) fn wish(
        self: &Arc<Self>,
        wait: &mut RunWait,
        core: &Core,
        now_ms: i64,
        waited: Duration,
    ) -> Option<Pause> {
        let is_new = wait.wished().is_none();
        let pause = self.with(|run, clocks| wait.wish(run, clocks, core, now_ms, waited))?;
        if is_new {
            // The first id starts the thread, which renews from then on.
            self.renewer.schedule(self, wait.wished().is_none());
        }
        Some(pause)
    }

    /// Whether a wish for a span has its answer. It takes no lock.
    pub(crate) fn has_span_answer(&self, ticket: RunTicket) -> bool {
        self.answered.load(Acquire) >= ticket.number()
    }

    /// The answer to a need. `None` in a forked child.
    fn answer(&self, ticket: RunTicket) -> Option<Answer> {
        self.with(|run, _| run.answer(ticket))
    }

    /// No caller waits for this any more.
    pub(crate) fn give_up(&self, ticket: RunTicket) {
        self.with(|run, clocks| run.give_up(ticket, clocks));
        self.tell_news();
    }

    /// For a caller that has waited for long: drives on a thread of its own, unless the disk of this generator hangs. The
    /// disk of another one may block the renewal thread.
    pub(crate) fn help(self: &Arc<Self>, patience: Duration) -> bool {
        if self.held.try_lock().is_err() {
            return false;
        }
        let driver = Arc::clone(self);
        with_timeout::run(patience, move || driver.drive(Driving::Renewals));
        true
    }

    /// Its statistics. `None` in a forked child.
    pub(crate) fn stats(&self) -> Option<RunStats> {
        let now_ms = self.env.clock.filtered_ms();
        self.with(|run, _| run.stats(now_ms))
    }

    /// Does something with the machine, at the time of now. `None` in a forked child.
    fn with<R>(&self, action: impl FnOnce(&mut WorkerRun, Clocks) -> R) -> Option<R> {
        lock_signal_safe(&self.machine, self.generation, |machine| {
            let result = action(&mut machine.run, self.env.clock.clocks());
            let (now, told) = (machine.run.generator(), &mut machine.told);
            if let Some(now) = now
                && told.as_ref().is_none_or(|told| !Arc::ptr_eq(told, now))
            {
                *told = Some(Arc::clone(now));
                self.generators.fetch_add(1, AcqRel);
            }
            self.answered.store(machine.run.answered().spans, Release);
            result
        })
    }

    /// Wakes the threads that drive for those who open or close.
    fn tell_news(&self) {
        self.news.fetch_add(1, AcqRel);
        futex::wake(&self.news, i32::MAX as u32);
    }

    /// Asks for something that a thread of its own drives, and waits for the answer.
    fn await_driven(self: &Arc<Self>, need: Need, interrupted: Interrupted<'_>) -> Result<()> {
        let Some(ticket) = self.with(|run, clocks| run.want(need, clocks)) else { return Ok(()) };
        if let Need::Close { .. } = need {
            self.settings.source.as_ref().into_iter().for_each(|source| source.withdraw());
        }
        if let Some(Answer::Look) | None = self.answer(ticket) {
            return Ok(());
        }
        let mut gives_up = false;
        let mut answered = None;
        let mut ends = || {
            self.tell_all();
            let looks = match self.answer(ticket) {
                Some(Answer::Pending(_)) => {
                    gives_up = interrupted();
                    return gives_up;
                }
                Some(Answer::Look) if matches!(need, Need::Open { .. }) => LOOKS_FOR,
                _ => Duration::ZERO,
            };
            // Its thread ends now, with all that it holds, unless it is in a call that hangs.
            let since = *answered.get_or_insert_with(Instant::now);
            (self.under_way.load(Acquire) > 0 || self.is_undoing()) && since.elapsed() >= looks
        };
        let awaited = Arc::new(Awaited::new(self));
        let theirs = Arc::clone(&awaited);
        let drive = move || theirs.driver.drive_for(ticket, &theirs);
        let ended = with_timeout::run_unless(AS_LONG_AS_IT_TAKES, os::ThreadKind::Internal, &mut ends, drive);
        awaited.leave();
        match (ended, need) {
            (Timed::Interrupted, _) if gives_up => {
                self.give_up(ticket);
                // It may have been opened just before: then the caller has a handle to close.
                return match self.with(|run, _| run.state()) {
                    Some(RunState::Held { .. }) => Ok(()),
                    _ => Err(Waiting::interrupted()),
                };
            }
            // No thread drives: the machine ends a close by itself, but not a claim.
            (Timed::TooMany | Timed::Out, Need::Open { .. }) => {
                self.give_up(ticket);
                let directory = self.settings.directory.display().to_string();
                let (bound, advice) =
                    (self.settings.disk_bound(), with_timeout::see_or_wait_longer("the disk"));
                return Err(with_timeout::no_answer(&directory, bound, &advice));
            }
            // In a forked child the caller notices that. Else this thread has too little stack, and no other one begins.
            (Timed::Forked, _) => return os::check_may_work(),
            _ => {}
        }
        let mut sleep = PollSleep::new();
        loop {
            match self.answer(ticket) {
                Some(Answer::Pending(_)) => {}
                Some(Answer::Failed(error)) => return Err(error),
                Some(Answer::Look | Answer::NoRoom) | None => return Ok(()),
            }
            sleep.until(Instant::now() + SLICE);
            self.tell_all();
        }
    }

    /// Drives until this is answered or its caller has left, and nothing is left to do at once.
    fn drive_for(self: &Arc<Self>, ticket: RunTicket, awaited: &Awaited) {
        loop {
            let seen = self.news.load(Acquire);
            let due = self.drive(Driving::Awaited);
            let is_pending = matches!(self.answer(ticket), Some(Answer::Pending(_))) && !awaited.is_over();
            if !is_pending && !self.is_undoing() {
                break;
            }
            let left = due.map_or(SLICE, |due| due.min(SLICE));
            match (&self.env.clock, self.under_way.load(Acquire)) {
                // Nothing comes but by the clock, which passes by sleeps.
                (Clock::Other(clock, _), 0) => clock.sleep(left),
                _ => futex::wait(&self.news, seen, left),
            }
        }
        awaited.leave();
        // What came before the line above.
        self.drive(Driving::Awaited);
    }

    /// Whether a failed opening still gives back what it has locked.
    fn is_undoing(&self) -> bool {
        self.with(|run, _| run.state()) == Some(RunState::Claiming)
    }

    /// Carries out all that the machine wants now. Returns when to do it again, if at all.
    fn drive(self: &Arc<Self>, driving: Driving) -> Option<Duration> {
        let mut here = Vec::new();
        loop {
            match self.next()? {
                Next::Tell(notice) => self.tell(notice),
                Next::Call(id, lane, call) => {
                    // The thread of renewals is that of other generators, too.
                    let holds_up = driving == Driving::Renewals && lane != Lane::Disk;
                    match holds_up || run_calls::is_of_user(&call) {
                        true => self.run_beside(id, call, driving == Driving::Awaited),
                        false => here.push((id, call)),
                    }
                }
                Next::Rest(due) if here.is_empty() => {
                    if self.has_failed() {
                        (self.when_over)(self);
                    }
                    return due.map(|due| due.saturating_sub(self.env.clock.boot_time()));
                }
                Next::Rest(_) => {
                    for (id, call) in here.drain(..) {
                        self.ended(id, self.carry_out(call));
                    }
                }
            }
        }
    }

    /// `None` in a forked child.
    fn next(&self) -> Option<Next> {
        self.with(|run, clocks| {
            if let Some(notice) = run.next_notice(clocks) {
                return Next::Tell(notice);
            }
            // Signals are blocked here too.
            match run.next_call(clocks, &mut lock(&self.leases)) {
                Some((id, lane, call)) => {
                    // Under the lock: who finds no call after this one sees that it is under way.
                    self.under_way.fetch_add(1, AcqRel);
                    Next::Call(id, lane, call)
                }
                None => match run.next_notice(clocks) {
                    Some(notice) => Next::Tell(notice),
                    None => Next::Rest(run.next_time()),
                },
            }
        })
    }

    /// Tells what the machine has to tell, without a call.
    fn tell_all(&self) {
        while let Some(Some(notice)) = self.with(|run, clocks| run.next_notice(clocks)) {
            self.tell(notice);
        }
    }

    /// No lock is held: a logger may ask for an id.
    fn tell(&self, notice: RunNotice) {
        match notice {
            RunNotice::Log(Level::Info, text) => log::info!("leafid: {text}"),
            RunNotice::Log(Level::Warn, text) => log::warn!("leafid: {text}"),
            RunNotice::Wake | RunNotice::Closed(_) => self.tell_news(),
            RunNotice::Abandon(_) => {
                self.settings.source.as_ref().into_iter().for_each(|source| source.end_calls());
            }
        }
    }

    /// A call has ended. Another thread may wait for that.
    fn ended(&self, id: CallId, end: RunCallEnd) {
        self.with(|run, clocks| run.done(id, end, clocks));
        self.under_way.fetch_sub(1, AcqRel);
        self.tell_news();
    }

    /// Starts a call on a thread of its own. `is_awaited`: the caller does nothing else meanwhile.
    fn run_beside(self: &Arc<Self>, id: CallId, call: RunCall, is_awaited: bool) {
        let (driver, theirs) = (Arc::clone(self), call.clone());
        let run = move || driver.ended_beside(id, driver.carry_out(theirs));
        if let Err(failure) = user_calls::start(is_awaited, self.settings.options.timeout, run) {
            let end = match run_calls::is_of_user(&call) {
                true => call.refused(SourceFailure::NotBegun(failure)),
                false => self.carry_out(call),
            };
            self.ended(id, end);
        }
    }

    /// A call on a thread of its own has ended.
    fn ended_beside(self: &Arc<Self>, id: CallId, end: RunCallEnd) {
        self.ended(id, end);
        if self.drivers.load(Acquire) == 0 && self.drive(Driving::AfterCall).is_some() {
            self.renewer.schedule(self, true);
        }
    }

    /// Carries out a call. It ends also if code of leafid's own panics, because somebody may wait for it.
    fn carry_out(&self, call: RunCall) -> RunCallEnd {
        let (env, settings, spare) = (&self.env, &self.settings, call.clone());
        let carry = AssertUnwindSafe(|| run_calls::carry_out(env, settings, &self.held, call));
        catch_unwind(carry).unwrap_or_else(|_| spare.refused(SourceFailure::Coded(panicked())))
    }
}
