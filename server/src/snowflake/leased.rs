//! A worker id that a server leases from its own store, as any other holder does.

use crate::clock::{filtered_ms, random_hex, running, running_ms, seed};
use crate::lease_rules::Claim;
use crate::leases::Leases;
use crate::snowflake::blocking::blocking;
use leafid::WorkerLock;
use leafid_core::{
    Action, BackOff, Code, Error, HeldLease, Layout, Lease, PEERS_THRESHOLD_MS, RenewalAnswer, RenewalEnd,
    Result, Rules, Run, SHORTEST_BACK_OFF, SPAN_WISH_MS, Snowflake, Span, peers_agree,
};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

/// Leaf's layout: what Leaf's clients decode.
const LAYOUT: Layout = Layout::LEAF;
/// How long a renewal may take before it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(5);

/// The snowflake of a leased worker id. Between two leases it has no generator.
pub(crate) struct LeasedSnowflake {
    leases: Leases,
    name: String,
    only: Option<i64>,
    current: Mutex<Current>,
    /// A caller needs a span.
    needed: Notify,
    /// A span came.
    granted: Notify,
}

#[derive(Default)]
struct Current {
    generator: Option<Arc<Snowflake>>,
    worker_id: Option<i64>,
    /// The error of the last claim or renewal.
    error: Option<Error>,
}

impl LeasedSnowflake {
    /// `only`: this worker id and no other.
    pub(super) fn new(leases: Leases, name: String, only: Option<i64>) -> LeasedSnowflake {
        let (needed, granted) = (Notify::new(), Notify::new());
        LeasedSnowflake { leases, name, only, current: Mutex::default(), needed, granted }
    }

    /// The worker id that it holds.
    pub(super) fn worker_id(&self) -> Option<i64> {
        self.current.lock().worker_id
    }

    /// Makes `n` ids. Errors: `clock_backwards`; `worker_lost` without a lease until the deadline.
    pub(super) async fn take(&self, n: usize, limit: Duration) -> Result<Vec<i64>> {
        let deadline = Instant::now() + limit;
        let mut ids = Vec::with_capacity(n);
        let mut was_behind = false;
        while ids.len() < n {
            // Before the generator is asked: a span that comes in between is not missed.
            let mut granted = std::pin::pin!(self.granted.notified());
            granted.as_mut().enable();
            let Some(generator) = self.current.lock().generator.clone() else {
                self.wait(granted, deadline).await?;
                continue;
            };
            match generator.reserve(filtered_ms(), n - ids.len()) {
                Ok(Run { first, stride, count }) => {
                    ids.extend((0..count as i64).map(|at| first + at * stride))
                }
                Err(Action::NeedSpan | Action::Sealed) => {
                    self.needed.notify_one();
                    self.wait(granted, deadline).await?;
                }
                Err(action @ Action::WaitUntil(ms)) => {
                    if Instant::now() >= deadline {
                        return Err(generator.error(action));
                    }
                    let wait = Duration::from_millis(u64::try_from(ms - filtered_ms()).unwrap_or(0));
                    sleep_until((Instant::now() + wait).min(deadline)).await;
                }
                // The thread may have slept since it read the clock: once more.
                Err(Action::ClockBackwards { .. }) if !was_behind => was_behind = true,
                Err(action) => return Err(generator.error(action)),
            }
        }
        Ok(ids)
    }

    async fn wait(&self, granted: impl Future<Output = ()>, deadline: Instant) -> Result<()> {
        timeout_at(deadline, granted).await.map_err(|_| {
            let why = self.current.lock().error.as_ref().map_or_else(
                || "the store has not answered yet".to_owned(),
                |error| error.message().to_owned(),
            );
            Error::new(Code::WorkerLost, format!("this server holds no worker id: {why}"))
        })
    }

    /// Claims worker ids, and renews them, until `stop` says so. Then it gives the last one back.
    pub(super) async fn run(&self, mut stop: watch::Receiver<bool>) {
        let mut back_off = BackOff::new();
        while !*stop.borrow() {
            match self.claim().await {
                Ok(Some((generator, held, lock))) => {
                    back_off.succeeded();
                    self.set(Some(&generator), Some(held.lease().worker_id), None);
                    self.hold(&generator, held, lock, &mut stop).await;
                }
                Ok(None) => {}
                Err(error) => {
                    log::warn!("no worker id for this server's own snowflakes: {error}");
                    self.set(None, None, Some(error));
                    back_off.failed(running_ms(), seed());
                    tokio::select! {
                        () = sleep(back_off.duration(false)) => {}
                        _ = stop.changed() => {}
                    }
                }
            }
        }
    }

    /// `None` if the id that was leased is held on this host. That lease is left to end: released, the same id would be
    /// leased again at once. So this happens at most once for each worker id while a lease lasts.
    async fn claim(&self) -> Result<Option<(Arc<Snowflake>, HeldLease, WorkerLock)>> {
        // A fixed id is locked first: a lease that cannot be used would keep it from this server, too.
        let fixed = match self.only {
            Some(id) => Some(self.lock(LAYOUT.claimed_id(id)?).await?),
            None => None,
        };
        let asked = running();
        let now_ms = filtered_ms();
        let claim = Claim {
            name: self.name.clone(),
            instance: random_hex()?,
            now_ms,
            until_ms: Some(now_ms + SPAN_WISH_MS),
            only: self.only,
        };
        let (lease, _) = self.leases.claim(claim).await?;
        let rules = Rules::default();
        match self.check(&lease, &rules, fixed).await {
            Ok((worker_id, span, lock)) => {
                let now_ms = filtered_ms();
                // The last holder of the lock may have used this tick, but none after it.
                let begins = LAYOUT.tick_at(now_ms).map_or(span.from, |tick| span.from.max(tick + 1));
                let generator = Arc::new(Snowflake::new(LAYOUT, rules, worker_id, begins, seed()));
                generator.grant(span);
                log::info!("this server's own snowflakes have worker id {worker_id} of {:?}", self.name);
                let held = HeldLease::new(lease, span, asked, now_ms, PATIENCE);
                Ok(Some((generator, held, lock)))
            }
            Err(error) if lease.is_held_here(&error, &LAYOUT, &rules, filtered_ms()) => {
                log::warn!("{error}; this server leaves its lease to end, and claims another one");
                self.set(None, None, Some(error));
                Ok(None)
            }
            Err(error) => {
                self.release(&lease, lease.from_ms).await;
                Err(error)
            }
        }
    }

    /// Whether a lease can be used. `fixed`: the lock of its id, if it was taken before.
    async fn check(
        &self,
        lease: &Lease,
        rules: &Rules,
        fixed: Option<WorkerLock>,
    ) -> Result<(u32, Span, WorkerLock)> {
        let now_ms = filtered_ms();
        peers_agree(now_ms, &lease.peer_times_ms, PEERS_THRESHOLD_MS)?;
        let span = lease.span(&LAYOUT, rules, now_ms)?;
        let worker_id = LAYOUT.claimed_id(lease.worker_id)?;
        let lock = match fixed {
            Some(lock) => lock,
            None => self.lock(worker_id).await?,
        };
        Ok((worker_id, span, lock))
    }

    /// Takes the lock that all of leafid takes on this host: the store knows nothing of another store's leases, nor of
    /// worker ids that were given by hand. Errors: `worker_in_use`, `state_io`.
    async fn lock(&self, worker_id: u32) -> Result<WorkerLock> {
        let name = self.name.clone();
        blocking(move || WorkerLock::take(&name, worker_id)).await
    }

    /// Renews a lease until it is lost, or this server stops. The lock is dropped after the generator is sealed.
    async fn hold(
        &self,
        generator: &Arc<Snowflake>,
        mut held: HeldLease,
        lock: WorkerLock,
        stop: &mut watch::Receiver<bool>,
    ) {
        let mut waited_for = false;
        while !*stop.borrow() {
            if let Some(request) = held.begin_call(running(), filtered_ms(), waited_for) {
                lock.drain_queries();
                let asked = running();
                let answer = self.renew(&request.lease, request.wish_ms).await;
                match held.call_ended(answer, &LAYOUT, asked, running(), filtered_ms()) {
                    RenewalEnd::Kept => {
                        generator.grant(Span { from: generator.until(), until: held.bound(running()) });
                        self.set(Some(generator), Some(held.lease().worker_id), None);
                    }
                    RenewalEnd::Failed(error) => {
                        log::warn!("the worker id was not renewed: {error}");
                        self.current.lock().error = Some(error);
                    }
                    RenewalEnd::Lost(error) => {
                        log::error!("the worker id is lost, another is claimed: {error}");
                        generator.seal();
                        self.set(None, None, Some(error));
                        return;
                    }
                }
            }
            waited_for = false;
            tokio::select! {
                () = sleep(held.due_in(running())) => {}
                () = self.needed.notified() => {
                    waited_for = true;
                    sleep(if held.has_failed(running()) { SHORTEST_BACK_OFF } else { Duration::ZERO }).await;
                }
                _ = stop.changed() => {}
            }
        }
        self.set(None, None, Some(Error::new(Code::Closed, "this server stops")));
        if let Some(first_unused) = generator.seal() {
            self.release(held.lease(), LAYOUT.tick_start_ms(first_unused)).await;
        }
    }

    async fn renew(&self, lease: &Lease, wish_ms: i64) -> RenewalAnswer {
        let token = lease.token.as_deref().unwrap_or_default();
        match self.leases.renew(&self.name, lease.worker_id, token, wish_ms).await {
            Ok(renewal) => RenewalAnswer::Renewed(renewal),
            Err(error) if error.code() == Code::WorkerLost => RenewalAnswer::NotHeld,
            Err(error) => RenewalAnswer::Failed(error),
        }
    }

    /// Without it the lease ends by itself.
    async fn release(&self, lease: &Lease, until_ms: i64) {
        let token = lease.token.as_deref().unwrap_or_default();
        if let Err(error) = self.leases.release(&self.name, lease.worker_id, token, until_ms).await {
            log::warn!("worker id {} was not given back, it will be free later: {error}", lease.worker_id);
        }
    }

    fn set(&self, generator: Option<&Arc<Snowflake>>, worker_id: Option<i64>, error: Option<Error>) {
        *self.current.lock() = Current { generator: generator.cloned(), worker_id, error };
        self.granted.notify_waiters();
    }
}
