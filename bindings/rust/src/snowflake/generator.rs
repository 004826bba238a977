//! An open generator: the core's generator, its record and lease, and the renewal of its spans.

use crate::os;
use crate::os::clock::Clock;
use crate::os::env::Env;
use crate::os::mutex::{PollSleep, lock, lock_signal_safe};
use crate::snowflake::recovery_state::{Recovery, RecoveryState};
use crate::snowflake::renewal_log::RenewalLog;
use crate::snowflake::span_writer::{Extension, SpanResult, SpanWriter};
use crate::tasks::interrupt::{self, Interrupted};
use crate::tasks::renewal_timer::{Renewable, RenewalTimer};
use crate::tasks::with_timeout;
use crate::tasks::with_timeout::Timed;
use crate::worker::claim::{Claim, ClaimContext};
use crate::worker::lease_cache::LeaseCache;
use crate::worker::renewable_lease::RenewableLease;
use crate::worker::settings::SnowflakeSettings;
use leafid_core::{Code, Durations, Error, Result, Snowflake as Core, SpanExtension};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Acquire, Ordering::Release};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// After this wait a caller checks whether it can get the span without the background thread.
const STUCK: Duration = Duration::from_millis(100);

/// A generator of this process. All handles of the same settings share it.
pub(crate) struct Generator {
    pub(crate) core: Core,
    /// The clock that is read for each id.
    pub(crate) clock: Clock,
    pub(crate) worker_id: u32,
    pub(crate) env: Arc<Env>,
    pub(crate) renewer: Arc<RenewalTimer>,
    pub(crate) settings: Arc<SnowflakeSettings>,
    pub(crate) context: ClaimContext,
    /// Its lock is held while the disk is written.
    pub(crate) span_writer: Mutex<Option<SpanWriter>>,
    log: Mutex<RenewalLog>,
    /// Whether it was opened with a lease.
    pub(crate) leased: bool,
    /// The cache of its lease, until it is closed.
    pub(crate) lease_cache: Mutex<Option<LeaseCache>>,
    /// How long calls waited, for metrics.
    pub(crate) waits: Durations,
    /// The number of attempted renewals.
    pub(crate) tried: AtomicU64,
    /// No id is issued before this time of the clock, because no record was found.
    pub(crate) begins_ms: Option<i64>,
    /// The lease has no more ticks: the next span waits for its renewal.
    pub(crate) lease_is_short: AtomicBool,
    /// Whether it is closed or its lease is lost. `successor` is the generator that then replaced it.
    pub(crate) recovery: Mutex<RecoveryState>,
    pub(crate) successor: OnceLock<Arc<Generator>>,
    /// The number of leases lost before this one without a renewal in between. `kept`: whether this one was renewed.
    pub(crate) losses: u32,
    pub(crate) kept: AtomicBool,
    /// The generation of its process.
    pub(crate) generation: u64,
}

/// The next step of a caller that needs a span.
pub(crate) enum Obtained {
    /// Call the core again.
    Granted,
    /// Call the core again a tick later.
    NoRoom,
}

impl Renewable for Generator {
    fn renew(self: Arc<Self>, waited_for: bool) -> Option<Duration> {
        Generator::renew(&self, waited_for)
    }

    fn is_leased(&self) -> bool {
        self.leased
    }
}

impl Generator {
    /// `before` and `losses` are the counts of the generator that this one replaces.
    pub(crate) fn new(
        env: Arc<Env>,
        renewer: Arc<RenewalTimer>,
        settings: Arc<SnowflakeSettings>,
        context: ClaimContext,
        claim: Claim,
        before: RenewalLog,
        losses: u32,
    ) -> Generator {
        let (layout, worker_id, first) =
            (claim.file.record().layout, claim.file.record().worker_id, claim.first);
        let log = RenewalLog {
            first: Some(first),
            until: first.until,
            outcome: None,
            claims: before.claims + 1,
            lease_until_ms: claim.lease.as_ref().map(|lease| lease.held.lease().until_ms),
            ..before
        };
        let begins_ms = claim.begins_ms;
        let owner = claim.file.record().owner;
        let opened = env.clock.boot_time();
        Generator {
            leased: claim.lease.is_some(),
            lease_cache: Mutex::new(LeaseCache::new(&env, &settings, worker_id, owner)),
            core: Core::new(layout, claim.rules, worker_id, first.from, claim.seed),
            clock: env.clock.read_as(settings.key.clock_source),
            worker_id,
            begins_ms,
            env,
            renewer,
            settings,
            context,
            span_writer: Mutex::new(Some(SpanWriter::new(claim, opened))),
            log: Mutex::new(log),
            waits: Durations::new(),
            tried: AtomicU64::new(0),
            lease_is_short: AtomicBool::new(false),
            recovery: Mutex::default(),
            successor: OnceLock::new(),
            losses,
            kept: AtomicBool::new(false),
            generation: os::process::generation(),
        }
    }

    /// Requests the core's next span from the background thread, and waits for it until the deadline. `may_wait`:
    /// whether user callbacks can run during the wait.
    pub(crate) fn obtain(
        self: &Arc<Self>,
        deadline: Instant,
        may_wait: bool,
        interrupted: Interrupted<'_>,
    ) -> Result<Obtained> {
        let Some(first) = self.locked(|log| log.first.take()) else { return Ok(Obtained::Granted) };
        if let Some(first) = first {
            self.core.grant(first);
            // The first id starts the thread, which renews from then on.
            self.renewer.schedule(self, true);
            return Ok(Obtained::Granted);
        }
        let tried = self.tried.load(Acquire);
        self.renewer.schedule(self, false);
        let asked = Instant::now();
        let mut looked = asked;
        let (mut pause, mut helped) = (PollSleep::new(), false);
        while self.tried.load(Acquire) == tried {
            let in_time = pause.until(deadline);
            if !self.is_ours() {
                // In the child of a fork in between, nothing renews this generator. The caller notices that.
                return Ok(Obtained::Granted);
            }
            if !in_time {
                return Err(self.late());
            }
            if !may_wait && self.waits_for_source() {
                return Err(self.needs_caller());
            }
            if looked.elapsed() > STUCK {
                looked = Instant::now();
                if interrupted() {
                    return Err(interrupt::interrupted());
                }
            }
            if !helped && asked.elapsed() > STUCK && self.span_writer.try_lock().is_ok() {
                // The disk of another generator blocks the thread, not the disk of this one.
                helped = true;
                let generator = Arc::clone(self);
                with_timeout::run(deadline.saturating_duration_since(Instant::now()), move || {
                    generator.renew(true)
                });
            }
        }
        match self.locked(|log| log.outcome.clone()).flatten() {
            Some(SpanResult::Failed(error)) => Err(error),
            Some(SpanResult::NoRoom) => Ok(Obtained::NoRoom),
            Some(SpanResult::Granted) | None => Ok(Obtained::Granted),
        }
    }

    /// The error of a call whose time is over.
    pub(crate) fn late(&self) -> Error {
        let (worker_id, timeout_ms, before) =
            (self.worker_id, self.settings.timeout.as_millis(), self.before());
        match self.waits_for_source() {
            true => {
                let message = format!(
                    "within timeout_ms ({timeout_ms}) the lease of worker id {worker_id} was not renewed, nor another one \
                     claimed{before}; leafid goes on with that: call again"
                );
                Error::new(Code::WorkerLost, message)
            }
            false => {
                let message = format!(
                    "the next span of worker id {worker_id} was not durable in time; the disk is slow: see the state \
                     directory, or raise timeout_ms{before}"
                );
                Error::new(Code::StateIo, message)
            }
        }
    }

    /// The last error of a claim or a renewal, for messages.
    pub(crate) fn before(&self) -> String {
        let why = self.with_recovery(|state| state.lost.as_ref().map(|lost| lost.why().clone())).flatten();
        let log = self.renewal_log();
        let error = why.or(log.lease_error).or(log.last_error);
        error.map(|error| format!(" (before: {error})")).unwrap_or_default()
    }

    /// Records the result of a renewal and wakes the callers that wait for it. `until` is the first tick that is not
    /// durable.
    pub(crate) fn note(&self, renewed: Option<SpanResult>, until: u64) {
        let failed = self.locked(|log| log.note(renewed, until));
        self.tried.fetch_add(1, Release);
        if let Some(Some(error)) = failed {
            log::warn!("leafid: the span of worker id {} was not renewed: {error}", self.worker_id);
        }
    }

    /// Records the end of the lease, or why it was not renewed.
    pub(crate) fn note_lease(&self, until_ms: i64, failed: Option<Error>) {
        self.locked(|log| log.note_lease(until_ms, failed));
    }

    pub(crate) fn renewal_log(&self) -> RenewalLog {
        self.locked(|log| log.clone()).unwrap_or_default()
    }

    /// Returns `None` in a forked child.
    pub(crate) fn locked<R>(&self, action: impl FnOnce(&mut RenewalLog) -> R) -> Option<R> {
        lock_signal_safe(&self.log, self.generation, action)
    }

    /// Whether this process opened it. After a fork in the middle of a call, the child holds a copy of its parent's
    /// generator.
    pub(crate) fn is_ours(&self) -> bool {
        self.generation == os::process::generation()
    }

    /// As [`lock_signal_safe`], for the state of closing and of lost leases.
    pub(crate) fn with_recovery<R>(&self, action: impl FnOnce(&mut RecoveryState) -> R) -> Option<R> {
        lock_signal_safe(&self.recovery, self.generation, action)
    }

    /// Extends the span if half of it is used. The background thread calls it. Returns when to call it again, as long
    /// as the generator is in use or leased; a waiting caller counts as a use.
    pub(crate) fn renew(self: &Arc<Self>, waited_for: bool) -> Option<Duration> {
        if !self.is_ours() {
            return None;
        }
        match self.recover_if_lost(waited_for) {
            Recovery::NotLost => {}
            Recovery::Done => {
                self.note(None, self.core.until());
                return None;
            }
            Recovery::UnderWay(again) => return Some(again),
            Recovery::Failed(error, again) => {
                self.note(Some(SpanResult::Failed(error)), self.core.until());
                return Some(again);
            }
        }
        let mut held = lock(&self.span_writer);
        let (Some(span_writer), Some(first_unused)) = (held.as_mut(), self.core.first_unused()) else {
            drop(held);
            // Closed in between: waiting callers get the error from the core.
            self.note(None, self.core.until());
            return None;
        };
        span_writer.host_lock.drain_queries();
        let now_ms = self.env.clock.filtered_ms();
        let layout = self.core.layout();
        let boot_time = self.env.clock.boot_time();
        let in_use = SpanExtension::is_in_use(layout, first_unused, now_ms, waited_for);
        let extended = match in_use {
            true => span_writer.extend(&self.env, &self.core, first_unused, now_ms),
            false => Extension::NotNeeded,
        };
        let short = matches!(extended, Extension::LeaseShort);
        self.lease_is_short.store(short, Release);
        let lease = span_writer.lease.as_mut().map(|lease| {
            let call = lease.begin_call(boot_time, now_ms, short && waited_for);
            let held = &lease.held;
            let over = held.is_over(boot_time, layout.tick_at(now_ms).unwrap_or(0));
            (call, held.due_in(boot_time), over.then(|| held.used_up(boot_time)))
        });
        let (back_off, until) = (span_writer.extension.back_off(), span_writer.file.record().run.until);
        drop(held);
        // From here on no lock is held, because user callbacks are called and a logger may ask for an id.
        let lease_due = match lease {
            Some((Some(call), due, _)) => {
                self.call_source(call);
                Some(due)
            }
            Some((None, _, Some(error))) => return Some(self.lose(error)),
            Some((None, due, None)) => Some(due),
            None => None,
        };
        let tried = match extended {
            Extension::NotNeeded => None,
            Extension::Tried(outcome) => Some(outcome),
            // The caller continues to wait for the lease source.
            Extension::LeaseShort => return lease_due,
        };
        let span_due = match &tried {
            // A lost record does not come back.
            Some(SpanResult::Failed(error)) if error.code() == Code::WorkerLost && lease_due.is_none() => {
                None
            }
            Some(SpanResult::Failed(_)) => Some(back_off),
            _ => {
                // Read again, because the write took some time.
                let now_ms = self.env.clock.filtered_ms();
                Some(SpanExtension::due_in(layout, until, first_unused, now_ms))
            }
        };
        self.note(tried, until);
        span_due.filter(|_| in_use).into_iter().chain(lease_due).min()
    }

    /// Seals the core, writes the exact end and releases the worker id, in this order. Then releases the lease.
    pub(crate) fn shut(self: &Arc<Self>, patience: Duration) -> Result<()> {
        let deadline = Instant::now() + patience;
        let (successor, lost) = self.mark_closed();
        if let Some(successor) = successor {
            return successor.shut(patience);
        }
        let Some(first_unused) = self.core.seal() else { return Ok(()) };
        self.note(None, self.core.until());
        let generator = Arc::clone(self);
        let (written, lease) = match with_timeout::run(patience, move || generator.let_go_of(first_unused)) {
            Timed::Done(done) => done,
            Timed::Forked => return Ok(()),
            _ => {
                let message = "the disk did not answer in time; the record stays as it is, and the worker id is held \
                               until it does or the process ends";
                return Err(Error::new(Code::StateIo, message));
            }
        };
        if let Some(held) = lease.filter(|_| !lost) {
            self.release(held, first_unused, deadline);
        }
        written
    }

    /// Writes the end of a sealed generator and drops the lock. A held lease is not released.
    pub(crate) fn let_go(&self, first_unused: u64) -> Result<()> {
        self.let_go_of(first_unused).0
    }

    fn let_go_of(&self, first_unused: u64) -> (Result<()>, Option<RenewableLease>) {
        let Some(mut span_writer) = lock(&self.span_writer).take() else { return (Ok(()), None) };
        let written = span_writer.write_end(first_unused, &self.env);
        // While the record is locked: no process may use a lease that was released.
        let invalidated = self.invalidate_cached_lease();
        (written, span_writer.lease.take().filter(|_| invalidated))
    }
}
