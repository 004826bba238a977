//! The supply of one `Segments` in one process: the core's machine behind its lock, the threads that carry out its calls,
//! and the callers that it wakes.
//!
//! The machine decides what comes next. Each event takes the lock, tells the machine, and reads what it has to say:
//! whether a call is to be carried out, who is woken, and when to look again. All of that is done without the lock.

use super::high_water::HighWaterMarks;
use super::settings::SegmentsSettings;
use super::source::callback::SegmentSource;
use super::source::completion::Completion;
use super::source::host_source::HostSource;
use crate::os;
use crate::os::env::Env;
use crate::os::mutex::lock_signal_safe;
use crate::os::sync::atomic::{AtomicBool, Ordering::AcqRel, Ordering::Acquire};
use crate::os::sync::{Instant, Mutex, thread};
use crate::tasks::fetch_pool::{self, Job, Owner, STUCK, STUCK_IN_CODE, TimerKey};
use crate::tasks::with_timeout::{self, Timed};
use leafid_core::call::{CLOSE_WAITS, CallId, Clocks, FileAdvice, Level, panicked};
use leafid_core::supply::{
    self, Call, CallEnd, Collected, FetchCall, Notice, Supply, SupplySettings, SupplyStats, TagId, Ticket,
    Wish,
};
use leafid_core::{Code, DoubleBuffer, Error, Result, Run};
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// Called once, without a lock.
pub(crate) type Wake = Box<dyn FnOnce() + Send>;

/// A caller that waits.
pub(crate) struct Waiter {
    pub(crate) wake: Wake,
    /// For a thread that waits: after this time it looks by itself, and needs no timer.
    pub(crate) looks_after: Option<Duration>,
}

/// What a caller finds.
pub(crate) enum Found {
    /// All its ids.
    Ids(Vec<Run>),
    /// It waits, and is woken.
    Waits(Ticket),
}

/// The supply in this process.
pub(crate) struct SupplyDriver {
    pub(crate) settings: Arc<SegmentsSettings>,
    marks: HighWaterMarks,
    env: Arc<Env>,
    state: Mutex<Driven>,
    closed: AtomicBool,
    pub(crate) generation: u64,
}

/// What the lock protects.
struct Driven {
    supply: Supply,
    waiters: BTreeMap<Ticket, (Wake, Option<Duration>)>,
    /// When threads that wait look by themselves.
    looks: BTreeSet<(Duration, Ticket)>,
    /// Whether a job is queued that takes the next call.
    is_queued: bool,
    timer: Option<(Duration, TimerKey)>,
    /// How the close ended.
    ended: Option<Result<()>>,
}

/// What is done without the lock.
#[derive(Default)]
struct Told {
    wakes: Vec<Wake>,
    lines: Vec<(Level, String)>,
    /// Whether a thread is needed for the next call.
    has_call: bool,
    /// Whether a timer was set.
    has_timer: bool,
}

impl Owner for SupplyDriver {
    fn close_idle(&self) {
        self.settings.host.close_idle();
    }
}

/// The open supplies of this process.
pub(crate) fn open_drivers() -> Vec<Arc<SupplyDriver>> {
    let owners = fetch_pool::owners().into_iter();
    owners.filter_map(|owner| Arc::downcast(owner as Arc<dyn Any + Send + Sync>).ok()).collect()
}

impl Driven {
    /// Reads what the machine has to say.
    fn told(&mut self, clocks: Clocks) -> Told {
        let mut told = Told::default();
        while let Some(notice) = self.supply.next_notice(clocks) {
            match notice {
                Notice::Wake(ticket) => told.wakes.extend(self.remove(ticket).map(|(wake, _)| wake)),
                // A thread carries it out, and its end has no effect.
                Notice::Abandon(_) => {}
                Notice::Log(level, line) => told.lines.push((level, line)),
                Notice::Closed(ended) => self.ended = Some(ended),
            }
        }
        let now = clocks.boot;
        told.has_call = self.supply.has_calls(clocks) || self.supply.next_time().is_some_and(|at| at <= now);
        told
    }

    fn remove(&mut self, ticket: Ticket) -> Option<(Wake, Option<Duration>)> {
        let (wake, looks_at) = self.waiters.remove(&ticket)?;
        looks_at.into_iter().for_each(|at| _ = self.looks.remove(&(at, ticket)));
        Some((wake, looks_at))
    }

    /// How a ticket ended. If it has not, its caller is woken then.
    fn collect(
        &mut self,
        ticket: Ticket,
        waiter: &mut dyn FnMut() -> Option<Waiter>,
        looks_at: impl FnOnce(Duration) -> Option<Duration>,
    ) -> Result<Found> {
        match self.supply.collect(ticket) {
            Collected::Waits => {
                if let Some(Waiter { wake, looks_after }) = waiter() {
                    let looks_at = looks_after.and_then(looks_at);
                    self.looks.extend(looks_at.map(|at| (at, ticket)));
                    self.waiters.insert(ticket, (wake, looks_at));
                }
                Ok(Found::Waits(ticket))
            }
            Collected::Ids(runs) => Ok(Found::Ids(runs)),
            Collected::Failed { error, .. } => Err(error),
            Collected::Range(_) => Err(Error::new(Code::Internal, "ids came as a range; report this")),
        }
    }

    /// The time of the next look that no waiting thread takes by itself.
    fn next_look(&self) -> Option<Duration> {
        let first = self.looks.first().map(|(at, _)| *at);
        self.supply.next_time().filter(|at| first.is_none_or(|first| *at < first))
    }
}

impl SupplyDriver {
    /// It asks nothing yet.
    pub(crate) fn open(
        settings: Arc<SegmentsSettings>,
        marks: HighWaterMarks,
        env: Arc<Env>,
    ) -> Arc<SupplyDriver> {
        let (source, advice) = (settings.source.clone(), FileAdvice::StateDir);
        let of_supply = SupplySettings::of(&settings.options, source, marks.store(), advice);
        let of_supply = SupplySettings { machine_start: marks.machine_start(), ..of_supply };
        let supply = Supply::new(of_supply, env.random.number().unwrap_or_default() as u64);
        let driver = SupplyDriver::of(settings, marks, env, supply);
        fetch_pool::add_owner(&driver, driver.settings.threads());
        driver
    }

    fn of(
        settings: Arc<SegmentsSettings>,
        marks: HighWaterMarks,
        env: Arc<Env>,
        supply: Supply,
    ) -> Arc<SupplyDriver> {
        let state = Driven {
            supply,
            waiters: BTreeMap::new(),
            looks: BTreeSet::new(),
            is_queued: false,
            timer: None,
            ended: None,
        };
        Arc::new(SupplyDriver {
            settings,
            marks,
            env,
            state: Mutex::new(state),
            closed: AtomicBool::new(false),
            generation: os::process::generation(),
        })
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Acquire)
    }

    /// Milliseconds since the machine started.
    pub(crate) fn now_ms(&self) -> i64 {
        self.env.clock.boot_time().as_millis() as i64
    }

    fn clocks(&self) -> Clocks {
        Clocks { wall_ms: self.env.clock.now_ms(), boot: self.env.clock.boot_time() }
    }

    /// A tag of this name. `None` in a forked child. Errors: `closed`.
    pub(crate) fn tag(self: &Arc<Self>, name: &str) -> Option<Result<(TagId, Arc<DoubleBuffer>)>> {
        self.with(|supply, _| supply.tag(name))
    }

    /// Whether there is anything to do before the first use.
    pub(crate) fn begin(self: &Arc<Self>) {
        self.with(|_, _| ());
    }

    /// Tells the machine. `None` in a forked child, to which the machine does not belong.
    pub(crate) fn with<R>(self: &Arc<Self>, event: impl FnOnce(&mut Supply, Clocks) -> R) -> Option<R> {
        self.drive(|state, clocks| event(&mut state.supply, clocks))
    }

    /// Begins the wait of a caller. `None` in a forked child.
    pub(crate) fn wait(
        self: &Arc<Self>,
        tag: TagId,
        wish: Wish,
        waiter: &mut dyn FnMut() -> Option<Waiter>,
    ) -> Option<Result<Found>> {
        self.drive(|state, clocks| {
            let ticket = state.supply.wait(tag, wish, clocks);
            state.collect(ticket, waiter, |after| Some(clocks.boot.saturating_add(after)))
        })
    }

    /// What a caller that waits finds now. `None` in a forked child.
    pub(crate) fn look(
        self: &Arc<Self>,
        ticket: Ticket,
        waiter: &mut dyn FnMut() -> Option<Waiter>,
    ) -> Option<Result<Found>> {
        let found = self.drive(|state, clocks| {
            // Its time may be over. Others get their notices as well.
            let told = Told { has_call: false, ..state.told(clocks) };
            // The waker of the last look is dropped without the lock.
            let (before, looks_at) = state.remove(ticket).unzip();
            // What it got may have begun its time again: then a timer looks.
            let looks_at = looks_at.flatten().filter(|at| *at > clocks.boot);
            (state.collect(ticket, waiter, |_| looks_at), told, before)
        });
        let (found, told, _) = found?;
        self.act(told);
        Some(found)
    }

    /// A caller has gone.
    pub(crate) fn cancel(self: &Arc<Self>, ticket: Ticket) {
        self.drive(|state, clocks| {
            state.supply.cancel(ticket, clocks);
            // Its waker is dropped without the lock.
            state.remove(ticket)
        });
    }

    /// The state of a tag.
    pub(crate) fn tag_stats(&self, tag: TagId) -> Option<supply::TagStats> {
        self.read(|supply| supply.tag_stats(tag)).flatten()
    }

    /// The states of all, sorted by name.
    pub(crate) fn stats(&self) -> Option<(SupplyStats, Vec<supply::TagStats>)> {
        self.read(|supply| {
            let tags = supply.tags().filter_map(|(_, tag)| supply.tag_stats(tag)).collect();
            (supply.stats(), tags)
        })
    }

    fn read<R>(&self, query: impl FnOnce(&Supply) -> R) -> Option<R> {
        lock_signal_safe(&self.state, self.generation, |state| query(&state.supply))
    }

    fn drive<R>(self: &Arc<Self>, event: impl FnOnce(&mut Driven, Clocks) -> R) -> Option<R> {
        let (result, told) = self.tell(event)?;
        self.act(told);
        Some(result)
    }

    /// Tells the machine. The caller acts on what it says, and owes a job for its call.
    fn tell<R>(self: &Arc<Self>, event: impl FnOnce(&mut Driven, Clocks) -> R) -> Option<(R, Told)> {
        lock_signal_safe(&self.state, self.generation, |state| {
            let clocks = self.clocks();
            let result = event(state, clocks);
            let mut told = state.told(clocks);
            told.has_call &= !state.is_queued && !self.is_closed();
            state.is_queued |= told.has_call;
            told.has_timer = self.set_timer(state, clocks);
            (result, told)
        })
    }

    fn act(self: &Arc<Self>, told: Told) {
        for (level, line) in told.lines {
            caught(|| match level {
                Level::Info => log::info!("leafid: {line}"),
                Level::Warn => log::warn!("leafid: {line}"),
            });
        }
        for wake in told.wakes {
            caught(wake);
        }
        if told.has_call {
            fetch_pool::push(self.job());
        } else if told.has_timer {
            fetch_pool::ensure_threads(false);
        }
    }

    /// Has the machine looked at again when it asks for it. Returns whether a timer was set.
    fn set_timer(self: &Arc<Self>, state: &mut Driven, clocks: Clocks) -> bool {
        // What is due now is looked at by a job.
        let next = state.next_look().filter(|at| *at > clocks.boot && !self.is_closed());
        match (next, state.timer) {
            (Some(at), Some((before, _))) if before <= at => return false,
            (None, None) => return false,
            _ => {}
        }
        state.timer.take().into_iter().for_each(|(_, key)| fetch_pool::cancel(key));
        state.timer = next.map(|at| {
            let driver = Arc::downgrade(self);
            let timer = move || {
                if let Some(driver) = driver.upgrade() {
                    driver.drive(|state, _| state.timer.take_if(|(of, _)| *of == at));
                }
            };
            let after = at.saturating_sub(clocks.boot) + Duration::from_micros(100);
            (at, fetch_pool::schedule(Instant::now() + after, Box::new(timer)))
        });
        state.timer.is_some()
    }

    /// Carries out the next call of the machine.
    pub(crate) fn job(self: &Arc<Self>) -> Job {
        let may_take = match self.settings.host {
            HostSource::Callback(_) => STUCK_IN_CODE,
            _ => STUCK,
        };
        let driver = Arc::clone(self);
        Job::new(self.key(), may_take, move |ready| driver.work(ready).then(|| driver.job()))
    }

    /// As the owner of jobs in the pool.
    fn key(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    /// Carries out the next call. `ready` is an error if there is no thread for it. Returns whether this thread takes
    /// another one.
    fn work(self: &Arc<Self>, ready: Result<()>) -> bool {
        // Without threads this job takes all calls in turn. A job within each would need a stack for all of them.
        let is_alone = ready.is_err();
        let call = self.drive(|state, clocks| {
            let call = if self.is_closed() { None } else { state.supply.next_call(clocks) };
            state.is_queued = is_alone && call.is_some();
            call
        });
        let Some(Some((id, call))) = call else { return false };
        let end = match ready {
            Ok(()) => self.carry_out(id, call),
            Err(error) => Some(call.refused(error)),
        };
        let Some(end) = end else { return false };
        let told = self.tell(|state, clocks| {
            state.is_queued &= !is_alone;
            state.supply.done(id, end, clocks);
        });
        let Some(((), mut told)) = told else { return false };
        let has_call = std::mem::take(&mut told.has_call);
        self.act(told);
        has_call
    }

    /// A call has ended that another thread carried out.
    fn done(self: &Arc<Self>, id: CallId, end: CallEnd) {
        self.with(|supply, clocks| supply.done(id, end, clocks));
    }

    /// Carries out a call, on a thread that may wait. `None`: it ends later. It ends also if code of leafid's own panics,
    /// because callers wait for it.
    fn carry_out(self: &Arc<Self>, id: CallId, call: Call) -> Option<CallEnd> {
        let spare = call.clone();
        catch_unwind(AssertUnwindSafe(|| self.carried_out(id, call)))
            .unwrap_or_else(|_| Some(spare.refused(panicked())))
    }

    fn carried_out(self: &Arc<Self>, id: CallId, call: Call) -> Option<CallEnd> {
        Some(match (call, &self.settings.host) {
            (Call::ReadMark(read), _) => self.marks.read(read).into(),
            (Call::UpdateMark(update), _) => self.marks.update(*update).into(),
            (Call::ListMarks(list), _) => self.marks.list(*list).into(),
            (Call::UpdateCounter(update), HostSource::Counters(counters)) => counters.update(*update).into(),
            (Call::Fetch(fetch), HostSource::Callback(source)) => return self.fetch(source, id, fetch),
            #[cfg(feature = "http")]
            (Call::Http(call), HostSource::Servers(servers)) => match self.env.number() {
                Ok(random) => servers.carry_out(*call, random).into(),
                Err(error) => Call::Http(call).refused(error),
            },
            (call, _) => call.refused(Error::new(Code::Internal, "a call of another source; report this")),
        })
    }

    /// Calls the user's code.
    fn fetch(self: &Arc<Self>, source: &SegmentSource, id: CallId, fetch: FetchCall) -> Option<CallEnd> {
        source.ask(fetch, |fetch| {
            let driver = Arc::clone(self);
            let ends = move |end| driver.done(id, end);
            Completion::new(fetch, self.generation, Box::new(ends))
        })
    }

    /// Closes every tag and the servers, and wakes waiting callers. Stores unused ids if the options say so. Errors:
    /// `state_io`.
    pub(crate) fn close(self: &Arc<Self>) -> Result<()> {
        self.end(true)
    }

    /// As [`SupplyDriver::close`], for a second one that is not used: the servers stay open for the first one.
    pub(crate) fn close_unused(self: &Arc<Self>) -> Result<()> {
        self.end(false)
    }

    fn end(self: &Arc<Self>, closes_servers: bool) -> Result<()> {
        if self.generation != os::process::generation() || self.closed.swap(true, AcqRel) {
            return Ok(());
        }
        let deadline = Instant::now() + CLOSE_WAITS;
        self.with(|supply, clocks| supply.close(clocks));
        if closes_servers {
            self.settings.host.close();
        }
        let ended = self.ended();
        fetch_pool::remove_owner(self, deadline.saturating_duration_since(Instant::now()));
        ended
    }

    /// Carries out the last calls. Returns how the close ended.
    fn ended(self: &Arc<Self>) -> Result<()> {
        let ended = |driver: &Arc<SupplyDriver>| driver.drive(|state, _| state.ended.take());
        match ended(self) {
            Some(Some(ended)) => return ended,
            Some(None) => {}
            None => return Ok(()),
        }
        let driver = Arc::clone(self);
        let calls = move || {
            while let Some(Some((id, call))) = driver.with(|supply, clocks| supply.next_call(clocks)) {
                let end = driver.carry_out(id, call);
                end.into_iter().for_each(|end| driver.done(id, end));
            }
        };
        if matches!(with_timeout::run(CLOSE_WAITS, calls), Timed::Forked) {
            // In a forked child the parent's are open. Else this thread has too little stack, and no other one begins.
            return os::check_may_work();
        }
        loop {
            match ended(self) {
                Some(Some(ended)) => return ended,
                // The machine gives it up in time.
                Some(None) => thread::sleep(Duration::from_millis(1)),
                None => return Ok(()),
            }
        }
    }
}

/// Runs the user's waker or logger. Its panic was already reported, and what follows is done all the same.
fn caught(code: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(code));
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
