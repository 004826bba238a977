//! The fetcher: requests segments from a source for the buffers of its tags. Each `Segments` has one in a process.

use super::fetch_errors::{self, LateCall, closed};
use super::high_water::{Accepted, HighWaterMarks};
use super::settings::{STEP, SegmentsSettings};
use super::source::completion::Completion;
use super::source::fetch_request::{Batch, FetchRequest};
use super::tag_state::{TagInner, TagState};
use crate::os;
use crate::os::env::Env;
use crate::os::mutex::lock_signal_safe;
use crate::tasks::fetch_pool::{self, Job, Owner, STUCK, STUCK_IN_CODE};
use crate::tasks::with_timeout::{self, CLOSE_WAITS, Timed};
use leafid_core::{
    AdaptiveStep, BreakerAction, CircuitBreaker, Code, Error, FetchAction, FetchEnd, FetchPhase, Result,
    Segment, ServersReadiness,
};
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering::AcqRel, Ordering::Acquire};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The number of ids to fetch in advance for a tag whose source returns them one by one.
const PREWARMED: i64 = 16;
/// The number of tags that are fetched concurrently before their first use.
const PREWARMED_AT_ONCE: usize = 8;

pub(crate) struct Fetcher {
    pub(crate) settings: Arc<SegmentsSettings>,
    pub(crate) marks: HighWaterMarks,
    env: Arc<Env>,
    tags: Mutex<BTreeMap<Arc<str>, Arc<TagState>>>,
    breaker: Mutex<CircuitBreaker<Arc<TagState>>>,
    /// The tags to fetch before their first use.
    prewarm: Mutex<Vec<String>>,
    closed: AtomicBool,
    pub(crate) generation: u64,
}

/// The state of a tag's fetches, for a caller that found the buffer empty.
pub(crate) struct FetchProgress {
    /// The number of fetches that have ended.
    pub(crate) ended: u64,
    /// The number of fetches that have begun.
    pub(crate) begun: u64,
    /// The source's last error, if it does not know the tag or denies it to this program.
    pub(crate) refused: Option<Error>,
    /// Whether a fetch is running or will start by itself.
    pub(crate) awaited: bool,
    /// Whether there are already new ids.
    pub(crate) refilled: bool,
}

impl Owner for Fetcher {
    fn close_idle(&self) {
        if let Some(servers) = &self.settings.source.servers {
            servers.close_idle();
        }
    }
}

/// The open fetchers of this process.
pub(crate) fn open_fetchers() -> Vec<Arc<Fetcher>> {
    let owners = fetch_pool::owners().into_iter();
    owners.filter_map(|owner| Arc::downcast(owner as Arc<dyn Any + Send + Sync>).ok()).collect()
}

impl Fetcher {
    /// `prewarm` are the tags to fetch before their first use.
    pub(crate) fn open(
        settings: Arc<SegmentsSettings>,
        marks: HighWaterMarks,
        env: Arc<Env>,
        mut prewarm: Vec<String>,
    ) -> Arc<Fetcher> {
        // They are taken from the end.
        prewarm.reverse();
        // The threads limit the calls of other sources.
        let breaker = match settings.max_wait.is_some() && settings.source.segment_source.is_deferred() {
            true => CircuitBreaker::limited(),
            false => CircuitBreaker::new(),
        };
        let fetcher = Arc::new(Fetcher {
            settings,
            marks,
            env,
            tags: Mutex::default(),
            breaker: Mutex::new(breaker),
            prewarm: Mutex::new(prewarm),
            closed: AtomicBool::new(false),
            generation: os::process::generation(),
        });
        fetch_pool::add_owner(&fetcher, fetcher.settings.source.threads);
        fetcher
    }

    /// The tag's state in this process; `None` in a forked child. Errors: `closed`.
    pub(crate) fn tag_state(&self, name: &Arc<str>) -> Option<Result<Arc<TagState>>> {
        lock_signal_safe(&self.tags, self.generation, |tags| {
            if self.is_closed() {
                return Err(closed());
            }
            if let Some(tag_state) = tags.get(name) {
                return Ok(Arc::clone(tag_state));
            }
            let step = self.settings.step.unwrap_or(if self.settings.source.native { 0 } else { STEP });
            let step = AdaptiveStep::new(step, self.settings.adaptive);
            let stock = self.settings.stock();
            let tag_state =
                TagState::new(Arc::clone(name), step, self.settings.prefetch, stock, self.generation);
            Ok(Arc::clone(tags.entry(Arc::clone(name)).or_insert(Arc::new(tag_state))))
        })
    }

    /// Every tag that was used in this process, sorted by name.
    pub(crate) fn tags(&self) -> Vec<Arc<TagState>> {
        lock_signal_safe(&self.tags, self.generation, |tags| tags.values().cloned().collect())
            .unwrap_or_default()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Acquire)
    }

    /// Whether the source returns its results on the threads that ask for ids.
    pub(crate) fn is_deferred(&self) -> bool {
        self.settings.source.segment_source.is_deferred()
    }

    pub(crate) fn now_ms(&self) -> i64 {
        self.env.clock.boot_time().as_millis() as i64
    }

    /// The instant at which the boot time will have passed this time.
    fn instant(&self, at_ms: i64) -> Instant {
        Instant::now() + Duration::from_millis((at_ms - self.now_ms()).max(0) as u64 + 1)
    }

    /// Starts the tag's next fetch, unless one is running or it is too early. The reason is its prefetch, or a caller
    /// that waits for `need` ids. Returns `None` in a forked child.
    pub(crate) fn want(
        self: &Arc<Self>,
        tag_state: &Arc<TagState>,
        need: Option<usize>,
    ) -> Option<FetchProgress> {
        let waits = need.is_some();
        let (action, progress) = tag_state.locked(|state| {
            if let Some(need) = need.filter(|&need| need > 1) {
                state.fetch.needs(need as i64);
            }
            let (refilled, action) = self.decide(tag_state, state, waits);
            let fetch = &state.fetch;
            let awaited = fetch.phase() != FetchPhase::Idle || refilled;
            let (ended, begun, refused) = (fetch.ended(), fetch.begun(), fetch.refused().cloned());
            ((refilled, action), FetchProgress { ended, begun, refused, awaited, refilled })
        })?;
        self.act(tag_state, action, waits);
        Some(progress)
    }

    /// As [`Fetcher::want`], when the tag's back-off ends. It does nothing if the back-off has changed since.
    pub(crate) fn fetch_timer(self: &Arc<Self>, tag_state: &Arc<TagState>, until_ms: i64) {
        let action = tag_state.locked(|state| {
            if !state.fetch.timer(until_ms) {
                return None;
            }
            let waits = tag_state.waiting(state) > 0;
            Some((self.decide(tag_state, state, waits), waits))
        });
        if let Some(Some((action, waits))) = action {
            self.act(tag_state, action, waits);
        }
    }

    /// Returns whether there are new ids, and the next action.
    fn decide(&self, tag_state: &TagState, state: &mut TagInner, waits: bool) -> (bool, FetchAction) {
        let refilled = tag_state.refill(state);
        if state.fetch.is_fetching() || self.is_closed() || tag_state.wants_fetch(state).is_none() {
            return (refilled, FetchAction::Nothing);
        }
        let urgent = waits || tag_state.waiting(state) > 0 || tag_state.is_low(state);
        let action = state.fetch.poll(waits, urgent, self.now_ms());
        (refilled, action)
    }

    fn act(
        self: &Arc<Self>,
        tag_state: &Arc<TagState>,
        (refilled, action): (bool, FetchAction),
        waits: bool,
    ) {
        if refilled {
            tag_state.changed();
        }
        match action {
            FetchAction::Nothing if waits && !refilled => fetch_pool::ensure_threads(true),
            FetchAction::Nothing => {}
            FetchAction::Fetch => self.push(Arc::clone(tag_state), false),
            FetchAction::WakeAt(at_ms) => {
                let (fetcher, tag_state) = (Arc::downgrade(self), Arc::downgrade(tag_state));
                let timer = move || {
                    if let (Some(fetcher), Some(tag_state)) = (fetcher.upgrade(), tag_state.upgrade()) {
                        fetcher.fetch_timer(&tag_state, at_ms);
                    }
                };
                fetch_pool::schedule(self.instant(at_ms), Box::new(timer));
            }
        }
    }

    pub(crate) fn breaker_timer(self: &Arc<Self>) {
        let now_ms = self.now_ms();
        self.pass(|breaker| breaker.timer(now_ms));
    }

    fn pass(
        self: &Arc<Self>,
        event: impl FnOnce(&mut CircuitBreaker<Arc<TagState>>) -> BreakerAction<Arc<TagState>>,
    ) {
        match lock_signal_safe(&self.breaker, self.generation, event) {
            Some(BreakerAction::Release(tags, wake_ms)) => {
                tags.into_iter().for_each(|tag_state| self.push(tag_state, false));
                wake_ms.into_iter().for_each(|at_ms| self.wake_breaker(at_ms));
            }
            Some(BreakerAction::Probe(tag_state)) => self.push(tag_state, true),
            Some(BreakerAction::WakeAt(at_ms)) => self.wake_breaker(at_ms),
            Some(BreakerAction::Wait) | None => {}
        }
    }

    fn wake_breaker(self: &Arc<Self>, at_ms: i64) {
        let fetcher = Arc::downgrade(self);
        let timer = move || {
            if let Some(fetcher) = fetcher.upgrade() {
                fetcher.breaker_timer();
            }
        };
        fetch_pool::schedule(self.instant(at_ms), Box::new(timer));
    }

    fn push(self: &Arc<Self>, tag_state: Arc<TagState>, is_probe: bool) {
        fetch_pool::push(self.job(tag_state, is_probe));
    }

    /// Requests a tag's next segment from the source.
    pub(crate) fn job(self: &Arc<Self>, tag_state: Arc<TagState>, is_probe: bool) -> Job {
        let may_take = if self.settings.source.native { STUCK } else { STUCK_IN_CODE };
        let fetcher = Arc::clone(self);
        Job::new(self.key(), may_take, move |ready| {
            match ready {
                Ok(()) => fetcher.fetch(tag_state, is_probe),
                Err(error) => fetcher.failed_to_ask(&tag_state, error),
            }
            None
        })
    }

    /// As the owner of jobs in the pool.
    fn key(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    /// Calls the source, on a fetching thread, unless it is down. `is_probe`: to check whether it is still down.
    fn fetch(self: &Arc<Self>, tag_state: Arc<TagState>, is_probe: bool) {
        let now_ms = self.now_ms();
        let failed = tag_state.locked(|state| state.fetch.has_failed()).unwrap_or(false);
        if let Some(Some(waits)) = lock_signal_safe(&self.breaker, self.generation, |breaker| {
            breaker.enter(&tag_state, is_probe, failed, now_ms)
        }) {
            return self.pass(|_| waits);
        }
        let plan = tag_state.locked(|state| {
            tag_state.refill(state);
            let short = tag_state.wants_fetch(state).filter(|_| !self.is_closed());
            let plan = state.fetch.begin(short, STEP, now_ms)?;
            state.asked_at = Some(Instant::now());
            let urgent = tag_state.waiting(state) > 0 || tag_state.left(state) <= plan.short;
            Some((plan, urgent, std::mem::replace(&mut state.looked, true)))
        });
        let Some(Some((plan, urgent, looked))) = plan else {
            self.pass(|breaker| breaker.cancelled(&tag_state, is_probe, now_ms));
            return tag_state.changed();
        };
        if self.settings.keep_unused && !looked {
            match self.marks.take_unused(&tag_state.name) {
                Ok(kept) if !kept.is_empty() => return self.use_unused(&tag_state, kept, is_probe),
                Ok(_) => {}
                Err(error) => {
                    log::warn!("leafid: the stored ids of the tag {:?} are not used: {error}", tag_state.name)
                }
            }
        }
        let after = match self.marks.after(&tag_state.name) {
            Ok(after) => after,
            Err(error) => return self.failed_to_ask(&tag_state, error),
        };
        let request = FetchRequest { tag: tag_state.name.as_ref().into(), step: plan.step, after, urgent };
        let fetcher = Arc::clone(self);
        let accept = move |answer, requests| {
            let outcome = fetcher.accept(&tag_state.name, answer, after);
            fetcher.ended(&tag_state, outcome, plan.wanted, requests);
        };
        let completion = Completion::new(self.key(), self.generation, Box::new(accept));
        self.settings.source.segment_source.ask(request, completion);
    }

    /// Checks a result for a request with this `after`. Ids that were given before are left out, and the mark above the
    /// others is durable when this returns.
    fn accept(
        &self,
        tag: &str,
        answer: Result<Option<Batch>>,
        after: i64,
    ) -> Result<(Accepted, Option<i64>)> {
        let unknown = || format!("the source knows no tag {tag:?}; make it there, or correct the name");
        let batch = answer?.ok_or_else(|| Error::new(Code::UnknownTag, unknown()))?;
        Ok((self.marks.accept(tag, &batch.segments, after)?, batch.step))
    }

    fn use_unused(self: &Arc<Self>, tag_state: &Arc<TagState>, kept: Vec<Segment>, is_probe: bool) {
        tag_state.locked(|state| {
            state.fetch.cancelled();
            kept.into_iter().for_each(|segment| state.receive(segment));
            tag_state.refill(state);
        });
        let now_ms = self.now_ms();
        self.pass(|breaker| breaker.cancelled(tag_state, is_probe, now_ms));
        tag_state.changed();
        self.prewarm_next();
    }

    /// Ends a fetch whose request could not be sent.
    pub(crate) fn failed_to_ask(self: &Arc<Self>, tag_state: &Arc<TagState>, error: Error) {
        self.ended(tag_state, Err(error), 0, 1);
    }

    /// Ends a fetch. `requests` is the number of requests that it needed.
    pub(crate) fn ended(
        self: &Arc<Self>,
        tag_state: &Arc<TagState>,
        outcome: Result<(Accepted, Option<i64>)>,
        wanted: i64,
        requests: usize,
    ) {
        let (now_ms, seed) = (self.now_ms(), self.env.random.number().unwrap_or_default() as u64);
        let error = match &outcome {
            Ok((accepted, _)) => accepted.refused.clone(),
            Err(error) => Some(error.clone()),
        };
        let denied = self.settings.source.servers.as_ref().filter(|_| outcome.is_err());
        let is_denied = denied.is_some_and(|servers| servers.denies(&tag_state.name));
        let logged = tag_state.locked(|state| {
            let before = state.fetch.error().map(Error::code);
            state.count(outcome.as_ref().err());
            if let Some(asked_at) = state.asked_at() {
                tag_state.fetch_times.add(asked_at.elapsed());
            }
            let failures = match outcome {
                Ok((accepted, step)) => {
                    // A source that returns no step has shown its step when the request left the number to it.
                    let shown =
                        accepted.segments.first().filter(|_| wanted == 0).map(|first| first.len() as i64);
                    let own = self.settings.step.or(step).or(shown);
                    state.fetch.succeeded(wanted, own, accepted.refused, now_ms);
                    accepted.segments.into_iter().for_each(|segment| state.receive(segment));
                    tag_state.refill(state);
                    0
                }
                Err(error) => {
                    let may_skip = self.settings.source.one_by_one && error.code() == Code::SegmentRegressed;
                    state.fetch.failed(error, is_denied, may_skip, now_ms, seed)
                }
            };
            (failures, before)
        });
        let Some((failures, before)) = logged else { return };
        let answered =
            is_denied || error.as_ref().is_none_or(|error| error.code() != Code::SegmentUnavailable);
        let was_down =
            lock_signal_safe(&self.breaker, self.generation, |breaker| breaker.is_down()).unwrap_or(false);
        let end = match answered {
            true => FetchEnd::Answered,
            false => FetchEnd::Failed { requests, servers: self.servers_readiness() },
        };
        self.pass(|breaker| breaker.ended(tag_state, end, now_ms, seed));
        if let Some(error) = error.filter(|_| !self.is_closed() && (answered || !was_down)) {
            fetch_errors::log_once(&tag_state.name, &error, before, failures);
        }
        tag_state.changed();
        // A source of single ids is asked again until there are enough.
        if failures != 0 || self.settings.source.one_by_one {
            self.want(tag_state, None);
        }
        self.prewarm_next();
    }

    /// Whether all servers back off.
    fn servers_readiness(&self) -> ServersReadiness {
        match self.settings.source.servers.as_ref().map(|servers| servers.back_off_ms(true)) {
            None => ServersReadiness::Unknown,
            Some(None) => ServersReadiness::Ready,
            Some(Some(back_off_ms)) => ServersReadiness::BackOff(back_off_ms),
        }
    }

    /// The error of a call that timed out.
    pub(crate) fn late(&self, tag_state: &TagState, waited: Duration) -> Error {
        let state = tag_state.locked(|state| (state.fetch.error().cloned(), state.asked_at()));
        let (error, asked_at) = state.unwrap_or_default();
        let source = &self.settings.source.segment_source;
        let silent_for = asked_at.and_then(|since| source.silent_for(&tag_state.name, since));
        let down = if asked_at.is_none() { self.why_down() } else { None };
        let full = lock_signal_safe(&self.breaker, self.generation, |breaker| breaker.is_full());
        let (is_asked, is_full) = (asked_at.is_some(), full.unwrap_or(false));
        LateCall { tag: &tag_state.name, waited, error, is_asked, silent_for, down, is_full }.error()
    }

    /// While the source is down: a tag for which it failed, and the error.
    fn why_down(&self) -> Option<(Arc<str>, Error)> {
        let failed = lock_signal_safe(&self.breaker, self.generation, |breaker| {
            breaker.last_failed().filter(|_| breaker.is_down()).cloned()
        })??;
        let error = failed.locked(|state| state.fetch.error().cloned())??;
        Some((Arc::clone(&failed.name), error))
    }

    /// Fetches tags before their first use, a few at a time.
    pub(crate) fn begin(self: &Arc<Self>) {
        (0..PREWARMED_AT_ONCE).for_each(|_| self.prewarm_next());
    }

    /// The number of ids to fetch for a tag before its first use, if the source returns them one by one.
    fn prewarmed(&self) -> i64 {
        if self.settings.source.one_by_one { PREWARMED.min(self.settings.step.unwrap_or(STEP)) } else { 0 }
    }

    fn prewarm_next(self: &Arc<Self>) {
        // A tag that is fetched already leaves its turn to the next.
        while let Some(name) = lock_signal_safe(&self.prewarm, self.generation, Vec::pop).flatten()
            && let Some(Ok(tag_state)) = self.tag_state(&name.into())
            && tag_state.locked(|state| state.fetch.needs(self.prewarmed())).is_some()
            && self.want(&tag_state, None).is_some_and(|progress| !progress.awaited)
        {}
    }

    /// Closes every tag and the servers, and wakes waiting callers. Stores unused ids if the options say so. Errors:
    /// `state_io`.
    pub(crate) fn close(self: &Arc<Self>) -> Result<()> {
        self.end(|| {
            if let Some(servers) = &self.settings.source.servers {
                servers.close();
            }
        })
    }

    /// As [`Fetcher::close`], for a second fetcher that is not used: the servers stay open for the first one.
    pub(crate) fn close_unused(self: &Arc<Self>) -> Result<()> {
        self.end(|| {})
    }

    fn end(self: &Arc<Self>, close_servers: impl FnOnce()) -> Result<()> {
        if self.generation != os::process::generation() || self.closed.swap(true, AcqRel) {
            return Ok(());
        }
        let deadline = Instant::now() + CLOSE_WAITS;
        let rest: Vec<_> =
            self.tags().iter().map(|tag_state| (Arc::clone(&tag_state.name), tag_state.seal())).collect();
        close_servers();
        let kept = match self.settings.keep_unused {
            true => self.keep(rest),
            false => Ok(()),
        };
        fetch_pool::remove_owner(self, deadline.saturating_duration_since(Instant::now()));
        kept
    }

    fn keep(self: &Arc<Self>, rest: Vec<(Arc<str>, Vec<Segment>)>) -> Result<()> {
        let fetcher = Arc::clone(self);
        let keep = move || {
            let mut kept = Ok(());
            for (name, rest) in rest.iter().filter(|(_, rest)| !rest.is_empty()) {
                kept = kept.and(fetcher.marks.keep_unused(name, rest));
            }
            kept
        };
        match with_timeout::run(CLOSE_WAITS, keep) {
            Timed::Done(kept) => kept,
            Timed::Forked => Ok(()),
            _ => {
                let message =
                    "the disk did not answer in time; some unused ids of the segments are not stored";
                Err(Error::new(Code::StateIo, message))
            }
        }
    }
}

#[cfg(test)]
mod tests;
