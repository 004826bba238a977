//! An open generator: the core, its record, and the spans between them.

use crate::claim::Claim;
use crate::env::{Env, Presence};
use crate::fork::{self, Bounded};
use crate::renewer::Renewer;
use crate::slot::Writer;
use crate::state_file::StateFile;
use crate::sync::{Pause, lock, locked};
use crate::wait::{self, Interrupted};
use leafid_core::{Code, Error, Record, Result, Rules, Snowflake as Core, Span, next_until};
use std::sync::atomic::{AtomicU64, Ordering::Acquire, Ordering::Release};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Spans are renewed in the background while ids were issued within this.
const IN_USE_MS: i64 = 60_000;
/// After a failed write the next try is made this much later while nobody waits, and later each time.
const RETRY: Duration = Duration::from_millis(200);
const LATEST_RETRY: Duration = Duration::from_secs(10);
/// A caller that has waited so long sees whether it can have the span without the background thread.
const STUCK: Duration = Duration::from_millis(100);

/// A generator of this process, shared by all handles of the same settings.
pub(crate) struct Live {
    pub(crate) core: Core,
    pub(crate) worker_id: u32,
    pub(crate) env: Arc<Env>,
    renewer: Arc<Renewer>,
    /// Held while the disk is written.
    keeper: Mutex<Option<Keeper>>,
    spans: Mutex<Spans>,
    /// Renewals tried.
    tried: AtomicU64,
    opened: Duration,
    /// The process that it belongs to.
    generation: u64,
}

struct Keeper {
    /// Renewals that failed since the last that did not.
    failed: u32,
    file: StateFile,
    presence: Box<dyn Presence>,
    writer: Writer,
}

#[derive(Clone, Default)]
pub(crate) struct Spans {
    /// The first span, durable since the opening, until the first id is asked for.
    first: Option<Span>,
    /// How the last renewal ended.
    outcome: Option<Outcome>,
    pub(crate) renewals: u64,
    pub(crate) failures: u64,
    pub(crate) last_error: Option<Error>,
    /// First tick outside what is durable.
    pub(crate) until: u64,
}

#[derive(Clone)]
enum Outcome {
    Granted,
    /// The logical clock is so far ahead that no span may be given yet.
    NoRoom,
    Failed(Error),
}

/// What a caller that needs a span does next.
pub(crate) enum Obtained {
    /// Ask the core again.
    Granted,
    /// Ask again a tick later.
    NoRoom,
}

impl Live {
    pub(crate) fn new(env: Arc<Env>, renewer: Arc<Renewer>, rules: Rules, claim: Claim) -> Live {
        let Claim { file, presence, first, writer, seed } = claim;
        let (layout, worker_id) = (file.record().layout, file.record().worker_id);
        let opened = env.clock.counted();
        let spans = Spans { first: Some(first), until: first.until, ..Spans::default() };
        Live {
            core: Core::new(layout, rules, worker_id, first.from, seed),
            worker_id,
            env,
            renewer,
            keeper: Mutex::new(Some(Keeper { failed: 0, file, presence, writer })),
            spans: Mutex::new(spans),
            tried: AtomicU64::new(0),
            opened,
            generation: fork::current(),
        }
    }

    /// Has the background thread grant the core's next span, and waits for it until the deadline.
    pub(crate) fn obtain(
        self: &Arc<Self>,
        deadline: Instant,
        interrupted: Interrupted<'_>,
    ) -> Result<Obtained> {
        let Some(first) = self.locked(|spans| spans.first.take()) else { return Ok(Obtained::Granted) };
        if let Some(first) = first {
            self.core.grant(first);
            // The thread is started with the first id, and renews from here on.
            self.renewer.ask(self, true);
            return Ok(Obtained::Granted);
        }
        let tried = self.tried.load(Acquire);
        self.renewer.ask(self, false);
        let asked = Instant::now();
        let mut looked = asked;
        let (mut pause, mut helped) = (Pause::new(), false);
        while self.tried.load(Acquire) == tried {
            let in_time = pause.until(deadline);
            if !self.is_ours() {
                // In the child of a fork meanwhile nobody renews this: the caller finds out.
                return Ok(Obtained::Granted);
            }
            if !in_time {
                return Err(self.late());
            }
            if looked.elapsed() > STUCK {
                looked = Instant::now();
                if interrupted() {
                    return Err(wait::interrupted());
                }
            }
            if !helped && asked.elapsed() > STUCK && self.keeper.try_lock().is_ok() {
                // The thread is held up by another generator's disk, not by this one's.
                helped = true;
                let live = Arc::clone(self);
                fork::bounded(deadline.saturating_duration_since(Instant::now()), move || live.renew(true));
            }
        }
        match self.locked(|spans| spans.outcome.clone()).flatten() {
            Some(Outcome::Failed(error)) => Err(error),
            Some(Outcome::NoRoom) => Ok(Obtained::NoRoom),
            Some(Outcome::Granted) | None => Ok(Obtained::Granted),
        }
    }

    fn late(&self) -> Error {
        let before = self.spans().last_error.map(|error| format!(" (before: {error})")).unwrap_or_default();
        let message = format!(
            "the next span of worker id {} was not durable in time{before}; the disk is slow: see the state \
             directory, or raise timeout_ms",
            self.worker_id
        );
        Error::new(Code::StateIo, message)
    }

    /// None in a forked child.
    fn locked<R>(&self, deed: impl FnOnce(&mut Spans) -> R) -> Option<R> {
        locked(&self.spans, self.generation, deed)
    }

    /// Whether this process opened it: a child of a fork in the middle of a call holds a copy of its parent's.
    pub(crate) fn is_ours(&self) -> bool {
        self.generation == fork::current()
    }

    /// Extends the span if half of it is used: the background thread's deed. Answers when to come again, while the
    /// generator is in use; that somebody waits for it is a use.
    pub(crate) fn renew(&self, waited_for: bool) -> Option<Duration> {
        if !self.is_ours() {
            return None;
        }
        let mut held = lock(&self.keeper);
        let (Some(keeper), Some(first_unused)) = (held.as_mut(), self.core.first_unused()) else {
            drop(held);
            // Closed meanwhile: who waits is told by the core.
            self.note(None, self.core.until());
            return None;
        };
        keeper.presence.drain();
        let now_ms = self.env.clock.believed_ms();
        let layout = *self.core.layout();
        let now = layout.tick_at(now_ms).unwrap_or(0);
        let record = keeper.file.record().clone();
        let position = first_unused.max(now);
        let left = record.run.until.saturating_sub(position);
        let renewed = match self.goal(&record, position, now_ms) {
            // Half of what there could be is left.
            Some(goal) if left > 0 && 2 * left > goal.until - position => None,
            Some(goal) if goal.until > record.run.until => Some(self.extend(keeper, record, goal, now_ms)),
            _ if left > 0 => None,
            _ => Some(Outcome::NoRoom),
        };
        let error = match &renewed {
            Some(Outcome::Failed(error)) => Some(error.clone()),
            _ => None,
        };
        keeper.failed = if error.is_some() { keeper.failed.saturating_add(1) } else { 0 };
        let failed = keeper.failed;
        let until = keeper.file.record().run.until;
        drop(held);
        // A logger may ask for an id: with no lock held.
        self.note(renewed, until);
        let in_use = waited_for || now_ms - layout.tick_start_ms(first_unused) <= IN_USE_MS;
        match error {
            // Nothing brings it back.
            Some(error) if error.code() == Code::WorkerLost => None,
            Some(_) => in_use.then(|| (RETRY * 2u32.saturating_pow(failed.min(10) - 1)).min(LATEST_RETRY)),
            None => {
                // Read anew: the write took its time.
                let now = layout.tick_at(self.env.clock.believed_ms()).unwrap_or(0);
                let left_ms = until.saturating_sub(first_unused.max(now)) as i64 * layout.tick_ms();
                in_use.then(|| Duration::from_millis(1 + left_ms as u64 / 2))
            }
        }
    }

    /// The span that may be given now, from the first tick at or above `position` that is not burnt.
    fn goal(&self, record: &Record, position: u64, now_ms: i64) -> Option<Span> {
        let from = record.first_free(position);
        let life_ms = (self.env.clock.counted() - self.opened).as_millis() as i64;
        let until = next_until(self.core.layout(), self.core.rules(), &record.burnt, from, now_ms, life_ms)?;
        Some(Span { from, until })
    }

    /// Records the span, then grants it: in this order.
    fn extend(&self, keeper: &mut Keeper, record: Record, goal: Span, now_ms: i64) -> Outcome {
        let run = Span { from: record.run.from, until: goal.until };
        match keeper.file.write(Record { run, granted_at_ms: now_ms, ..record }, &keeper.writer) {
            Ok(()) => {
                self.core.grant(goal);
                Outcome::Granted
            }
            Err(error) => Outcome::Failed(error),
        }
    }

    fn note(&self, renewed: Option<Outcome>, until: u64) {
        let failed = match &renewed {
            Some(Outcome::Failed(error)) => Some(error.clone()),
            _ => None,
        };
        let granted = matches!(renewed, Some(Outcome::Granted));
        let before = self.locked(|spans| {
            spans.until = until;
            spans.renewals += u64::from(granted);
            spans.failures += u64::from(failed.is_some());
            spans.outcome = renewed.or(Some(Outcome::Granted));
            let before = spans.last_error.clone();
            if granted || failed.is_some() {
                spans.last_error = failed.clone();
            }
            before
        });
        self.tried.fetch_add(1, Release);
        if let (Some(error), Some(before)) = (failed, before)
            && before.as_ref() != Some(&error)
        {
            log::warn!("leafid: the span of worker id {} was not renewed: {error}", self.worker_id);
        }
    }

    /// Seals the core, writes the exact mark, and lets the worker id go, in this order.
    pub(crate) fn shut(self: &Arc<Self>, patience: Duration) -> Result<()> {
        let Some(first_unused) = self.core.seal() else { return Ok(()) };
        self.note(None, self.core.until());
        let live = Arc::clone(self);
        match fork::bounded(patience, move || live.let_go(first_unused)) {
            Bounded::Done(written) => written,
            Bounded::Forked => Ok(()),
            Bounded::Late => {
                let message = "the disk did not answer in time; the record stays as it is, and the worker id is held \
                               until it does or the process ends";
                Err(Error::new(Code::StateIo, message))
            }
        }
    }

    fn let_go(&self, first_unused: u64) -> Result<()> {
        let Some(mut keeper) = lock(&self.keeper).take() else { return Ok(()) };
        let record = keeper.file.record().clone();
        let run =
            Span { from: record.run.from, until: first_unused.clamp(record.run.from, record.run.until) };
        let closing = Record { run, granted_at_ms: self.env.clock.believed_ms(), ..record };
        // On an error the record says more than was used: safe.
        keeper.file.write(closing, &keeper.writer)
    }

    pub(crate) fn spans(&self) -> Spans {
        self.locked(|spans| spans.clone()).unwrap_or_default()
    }
}
