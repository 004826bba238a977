//! A worker id that a server leases from its own store, as any other holder does. What comes next is decided by the core's
//! [`WorkerRun`]: here its calls are carried out, and callers wait.

use crate::caught::caught;
use crate::clock::{filtered_ms, own_filter, random, running, running_ms, seed, unix_ms};
use crate::ids::Ids;
use crate::lease_rules::Claim;
use crate::leases::Leases;
use crate::options::Options;
use crate::snowflake::blocking::blocking;
use leafid::WorkerLock;
use leafid_core::call::{CallId, Clocks, Level, panicked};
use leafid_core::place::Place;
use leafid_core::run::{
    Answer, ClaimCall, Claimed, Need, Pause, ProcessLeases, RenewCall, RunCall, RunCallEnd, RunNotice,
    RunSettings, RunState, RunTicket, RunWait, SourceFailure, Waiting, WorkerRun, Workers,
};
use leafid_core::{Action, BackOff, Code, Error, Layout, Lease, Renewal, Result, Rules, Snowflake};
use parking_lot::Mutex;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, timeout, timeout_at};

/// Leaf's layout: what Leaf's clients decode.
const LAYOUT: Layout = Layout::LEAF;
/// The longest sleep before the clock is read again, because it may be set meanwhile.
const SLICE: Duration = Duration::from_millis(50);

/// The snowflake of a leased worker id. Between two leases it has no generator that issues.
pub(crate) struct LeasedSnowflake {
    leases: Leases,
    name: String,
    only: Option<i64>,
    /// Who this server is.
    holder: String,
    runtime: Handle,
    machine: Mutex<LeasedRun>,
    generator: Mutex<Option<Arc<Snowflake>>>,
    /// The host lock that the machine has.
    lock: Mutex<Option<WorkerLock>>,
    /// An answer came.
    news: Notify,
}

struct LeasedRun {
    run: WorkerRun,
    /// No other run of this process leases worker ids.
    leases: ProcessLeases,
    /// When the machine is looked at if nothing happens until then.
    looks_at: Option<Duration>,
    /// Why it is not open.
    error: Option<Error>,
}

/// One who waits for the machine, until it has gone.
struct Wish<'s> {
    of: &'s Arc<LeasedSnowflake>,
    ticket: RunTicket,
}

impl Drop for Wish<'_> {
    fn drop(&mut self) {
        // Nothing is kept of one that was answered.
        self.of.drive(|run, clocks| run.give_up(self.ticket, clocks));
    }
}

impl LeasedSnowflake {
    pub(super) fn new(options: &Options, leases: Leases, holder: String) -> Arc<LeasedSnowflake> {
        let settings = RunSettings {
            name: options.snowflake_name.clone(),
            layout: LAYOUT,
            rules: Rules::default(),
            workers: Workers::Callback { leases: true },
            // The store keeps the spans.
            persist: false,
            locks_host: true,
            start_after: 0,
            // Of a call of the store.
            timeout: options.limit(),
            lazy: false,
            peer_times: false,
            disk_needs_loop: false,
            leases_end: true,
        };
        let run = WorkerRun::new(settings, Place::without_files(own_filter()), seed());
        Arc::new(LeasedSnowflake {
            leases,
            name: options.snowflake_name.clone(),
            only: options.snowflake_worker,
            holder,
            runtime: Handle::current(),
            machine: Mutex::new(LeasedRun { run, leases: ProcessLeases::new(), looks_at: None, error: None }),
            generator: Mutex::default(),
            lock: Mutex::default(),
            news: Notify::new(),
        })
    }

    /// The worker id that it holds.
    pub(super) fn worker_id(&self) -> Option<i64> {
        match self.machine.lock().run.state() {
            RunState::Held { worker_id, lost: false } => Some(worker_id.into()),
            _ => None,
        }
    }

    /// Makes `n` ids. Errors: `clock_backwards`; `worker_lost` without a lease until the deadline.
    pub(super) async fn take(self: &Arc<Self>, n: usize, limit: Duration) -> Result<Ids> {
        let (mut ids, mut left, mut deadline) = (Ids::default(), n, None);
        let mut wait = RunWait::new(Waiting::new(limit, None));
        while left > 0 {
            // Most calls end without a wait, and read no clock for its end.
            let mut ends = || *deadline.get_or_insert_with(|| Instant::now() + limit);
            let generator = self.generator.lock().clone();
            let Some(generator) = generator else {
                Box::pin(self.opened(ends())).await?;
                continue;
            };
            match generator.reserve(filtered_ms(), left) {
                Ok(run) => {
                    left -= run.count;
                    ids.push(run);
                    wait.waiting.progressed();
                }
                Err(action) => {
                    ends();
                    // Few come here, and what the others keep while they are answered stays small.
                    Box::pin(self.wait(&generator, &mut wait, action)).await?;
                }
            }
        }
        Ok(ids)
    }

    /// Waits for the first generator.
    async fn opened(&self, deadline: Instant) -> Result<()> {
        let mut news = pin!(self.news.notified());
        news.as_mut().enable();
        if self.generator.lock().is_some() {
            return Ok(());
        }
        timeout_at(deadline, news).await.map_err(|_| {
            let error = self.machine.lock().error.clone();
            let why = error.as_ref().map_or("the store has not answered yet", Error::message);
            Error::new(Code::WorkerLost, format!("this server holds no worker id: {why}"))
        })
    }

    /// Waits until the generator is worth another call.
    async fn wait(self: &Arc<Self>, generator: &Snowflake, wait: &mut RunWait, action: Action) -> Result<()> {
        let begins_ms = self.machine.lock().run.begins_ms();
        let mut pause = wait.waiting.step(generator, begins_ms, action, filtered_ms(), running());
        let mut wish = None;
        loop {
            let mut news = pin!(self.news.notified());
            news.as_mut().enable();
            if let Pause::Want | Pause::Sleep(_) = pause {
                pause = self.drive(|run, at| wait.wish(run, at, generator, filtered_ms(), at.boot));
                wish = wish.or_else(|| Some(Wish { of: self, ticket: wait.wished()? }));
            }
            let Pause::Sleep(left) = pause else { break };
            _ = timeout(left, news).await;
        }
        wait.leave();
        match pause {
            Pause::Failed(error) => return Err(error),
            Pause::Until(ms) => {
                let left = Duration::from_millis(u64::try_from(ms - filtered_ms()).unwrap_or(0));
                sleep(left.min(SLICE)).await;
            }
            Pause::Again | Pause::Want | Pause::Sleep(_) => {}
        }
        Ok(())
    }

    /// Claims a worker id and holds it until `stop` says so. Then it gives the last one back.
    pub(super) async fn run(self: &Arc<Self>, mut stop: watch::Receiver<bool>) {
        let mut back_off = BackOff::new();
        while !*stop.borrow() {
            let opens = self.answered(Need::Open { longest: None, loops: true });
            let opened = tokio::select! {
                opened = opens => opened,
                _ = stop.changed() => break,
            };
            match opened {
                Ok(()) => {
                    // The machine claims again by itself.
                    _ = stop.wait_for(|stops| *stops).await;
                    break;
                }
                Err(error) => {
                    log::warn!("no worker id for this server's own snowflakes: {error}");
                    self.machine.lock().error = Some(error);
                    back_off.failed(running_ms(), seed());
                    tokio::select! {
                        () = sleep(back_off.duration(false)) => {}
                        _ = stop.changed() => {}
                    }
                }
            }
        }
        let closes = Need::Close { quietly: false, waits_for_source: true };
        if let Err(error) = self.answered(closes).await {
            log::warn!("the worker id was not given back: {error}");
        }
    }

    async fn answered(self: &Arc<Self>, need: Need) -> Result<()> {
        let wish = self.wish(need);
        loop {
            let mut news = pin!(self.news.notified());
            news.as_mut().enable();
            let answer = self.machine.lock().run.answer(wish.ticket);
            match answer {
                Answer::Pending(_) => news.await,
                Answer::Failed(error) => return Err(error),
                Answer::Look | Answer::NoRoom => return Ok(()),
            }
        }
    }

    fn wish(self: &Arc<Self>, need: Need) -> Wish<'_> {
        Wish { of: self, ticket: self.drive(|run, clocks| run.want(need, clocks)) }
    }

    /// Tells the machine, and does what it has to say without its lock.
    fn drive<R>(self: &Arc<Self>, event: impl FnOnce(&mut WorkerRun, Clocks) -> R) -> R {
        // The clock says by itself that it leapt.
        filtered_ms();
        let clocks = Clocks { wall_ms: unix_ms(), boot: running() };
        let (mut calls, mut lines, mut has_news) = (Vec::new(), Vec::new(), false);
        let (result, looks_at) = {
            let mut state = self.machine.lock();
            let LeasedRun { run, leases, looks_at, .. } = &mut *state;
            let result = event(run, clocks);
            loop {
                if let Some(notice) = run.next_notice(clocks) {
                    match notice {
                        RunNotice::Log(level, line) => lines.push((level, line)),
                        RunNotice::Wake | RunNotice::Closed(_) => has_news = true,
                        // The store goes on. What came too late is undone.
                        RunNotice::Abandon(_) => {}
                    }
                } else if let Some((id, _, call)) = run.next_call(clocks, leases) {
                    calls.push((id, call));
                } else {
                    break;
                }
            }
            let mut generator = self.generator.lock();
            if generator.as_ref().map(Arc::as_ptr) != run.generator().map(Arc::as_ptr) {
                *generator = run.generator().cloned();
            }
            let next = run.next_time().filter(|at| looks_at.is_none_or(|before| *at < before));
            *looks_at = next.or(*looks_at);
            (result, next)
        };
        for (id, call) in calls {
            self.runtime.spawn(Arc::clone(self).carry_out(id, call));
        }
        for (level, line) in lines {
            match level {
                Level::Info => log::info!("this server's own snowflakes: {line}"),
                Level::Warn => log::warn!("this server's own snowflakes: {line}"),
            }
        }
        if has_news {
            self.news.notify_waiters();
        }
        if let Some(at) = looks_at {
            self.runtime.spawn(Arc::clone(self).look(at));
        }
        result
    }

    async fn look(self: Arc<Self>, at: Duration) {
        sleep(at.saturating_sub(running())).await;
        self.machine.lock().looks_at.take_if(|set| *set == at);
        self.drive(|_, _| ());
    }

    /// It ends also if it panics, because callers wait for it.
    async fn carry_out(self: Arc<Self>, id: CallId, call: RunCall) {
        let spare = call.clone();
        let end = caught(self.carried_out(call)).await;
        let end = end.unwrap_or_else(|| spare.refused(SourceFailure::Coded(panicked())));
        self.drive(|run, clocks| run.done(id, end, clocks));
    }

    async fn carried_out(&self, call: RunCall) -> RunCallEnd {
        match call {
            RunCall::Claim(call) => {
                let claimed = self.claim(&call).await;
                call.end(claimed.map(Some).map_err(SourceFailure::Coded))
            }
            RunCall::Renew(call) => {
                let renewed = self.renew(&call).await;
                call.end(renewed.map(Some).map_err(SourceFailure::Coded))
            }
            RunCall::Release(call) => {
                let Lease { worker_id, token, .. } = call.lease();
                let token = token.as_deref().unwrap_or_default();
                let released = self.leases.release(&self.name, *worker_id, token, call.until_ms()).await;
                call.end(released.map_err(SourceFailure::Coded))
            }
            RunCall::LockHost(call) => match self.lock(call.worker_id()).await {
                Ok(lock) => {
                    *self.lock.lock() = Some(lock);
                    call.taken()
                }
                Err(error) => {
                    log::warn!("{error}");
                    call.failed(error)
                }
            },
            RunCall::UnlockHost(call) => {
                drop(self.lock.lock().take());
                call.end()
            }
            RunCall::Names(call) => call.end(Vec::new()),
            call => {
                let message = "a call of a worker id with records; report this";
                call.refused(SourceFailure::Coded(Error::new(Code::Internal, message)))
            }
        }
    }

    async fn claim(&self, call: &ClaimCall) -> Result<Claimed> {
        let is_free = self.lock.lock().is_none();
        if let Some(only) = self.only.filter(|_| is_free) {
            // A lease that cannot be used would keep the id from this server, too.
            drop(self.lock(LAYOUT.claimed_id(only)?).await?);
        }
        let request = call.request(random()?);
        let claim = Claim {
            name: request.name,
            instance: request.instance,
            holder: self.holder.clone(),
            now_ms: request.now_ms,
            until_ms: Some(request.until_ms),
            only: self.only,
        };
        let (lease, _) = self.leases.claim(claim).await?;
        Ok(Claimed::Lease(lease, Duration::ZERO))
    }

    async fn renew(&self, call: &RenewCall) -> Result<Renewal> {
        if let Some(lock) = &*self.lock.lock() {
            lock.drain_queries();
        }
        let request = call.request();
        let token = request.lease.token.as_deref().unwrap_or_default();
        self.leases.renew(&self.name, request.lease.worker_id, token, request.wish_ms).await
    }

    /// The lock that all of leafid takes on this host: the store knows nothing of another store's leases, nor of worker
    /// ids that were given by hand. Errors: `worker_in_use`, `state_io`.
    async fn lock(&self, worker_id: u32) -> Result<WorkerLock> {
        let name = self.name.clone();
        blocking(move || WorkerLock::take(&name, worker_id)).await
    }
}
