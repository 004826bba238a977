//! One tag: its double buffer, its fetches, and the guard of its ranges.

use crate::clock::{running, running_ms, seed};
use crate::dots::Dots;
use crate::store::Store;
use crate::traces::carried;
use leafid_core::{
    AdaptiveStep, Code, DoubleBuffer, Error, FetchAction, FetchState, Fetched, Filler, Guard, IdOrder,
    LARGEST_STEP, Result, Run, Segment,
};
use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout_at};

/// When more than this percentage of a segment is used, the next one is fetched: Leaf's rule.
const PREFETCH: u32 = 10;
/// The spans that a guard keeps. Ranges go to many servers in turn, and neighbours of one server are rare. It holds one
/// more for a moment, so that the memory of 16 is enough.
const SPANS: usize = 15;

/// How long a caller waits for an id.
#[derive(Clone, Copy)]
pub(crate) struct Patience {
    /// For the first segment of the tag.
    pub(crate) first: Duration,
    /// For a later one.
    pub(crate) later: Duration,
    /// Whether 0 is an id. Clients of Leaf's API take it for a mode that is switched off.
    pub(crate) issues_zero: bool,
}

/// What all tags share. `asked` is locked before `held`, and no tag ends while `held` is locked.
pub(super) struct Shared {
    pub(super) store: Store,
    pub(super) dots: Dots,
    pub(super) most: usize,
    /// Those whose row was seen.
    pub(super) held: RwLock<HashMap<Arc<str>, Arc<Tag>>>,
    /// Those whose row was not seen yet, each as long as somebody waits for it: names that no row has fill nothing.
    pub(super) asked: Mutex<HashMap<Arc<str>, Weak<Tag>>>,
}

/// One tag.
pub(crate) struct Tag {
    pub(super) name: Arc<str>,
    shared: Arc<Shared>,
    buffer: DoubleBuffer,
    state: Mutex<State>,
    /// A fetch has ended.
    fetched: Notify,
}

struct State {
    filler: Filler,
    fetches: FetchState,
    /// Refuses a range that lies below one that this process has seen.
    guard: Guard,
    /// Where the last two ranges of the buffer begin.
    starts: [i64; 2],
    /// How long the last fetch took.
    fetch_time: Option<Duration>,
    /// Ids that went out in ranges, past the buffer.
    ranged: u64,
    waiting: usize,
}

/// The state of a tag, to be shown.
pub(crate) struct TagStats {
    pub(crate) name: Arc<str>,
    /// The rest of the segment that ids come from, and the next one.
    pub(crate) segments: Vec<Segment>,
    /// Where each of these began.
    pub(crate) starts: Vec<i64>,
    pub(crate) left: u64,
    pub(crate) taken: u64,
    /// Ids that went out in ranges, past the buffer.
    pub(crate) ranged: u64,
    pub(crate) step: i64,
    pub(crate) fetches: u64,
    pub(crate) failures: u64,
    /// How long the last fetch took.
    pub(crate) fetch_time: Option<Duration>,
    /// Why the last fetch failed.
    pub(crate) error: Option<String>,
}

/// Counts a caller that waits, while it lives.
struct Waiting<'t>(&'t Tag);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.state.lock().waiting -= 1;
    }
}

impl Drop for Tag {
    fn drop(&mut self) {
        self.shared.ended(&self.name);
    }
}

impl Tag {
    pub(super) fn new(name: Arc<str>, shared: Arc<Shared>) -> Tag {
        Tag::above(0, name, shared)
    }

    /// The same tag without ids, which refuses ranges below those that this one has seen.
    pub(super) fn renewed(&self) -> Tag {
        Tag::above(self.state.lock().guard.mark(), self.name.clone(), self.shared.clone())
    }

    fn above(mark: i64, name: Arc<str>, shared: Arc<Shared>) -> Tag {
        let (buffer, filler) = DoubleBuffer::new();
        let state = State {
            filler,
            fetches: FetchState::new(AdaptiveStep::new(0, true)),
            // With a single server, all ranges are one span.
            guard: Guard::resume(IdOrder::Ascending, mark, Vec::with_capacity(1), SPANS),
            starts: [0; 2],
            fetch_time: None,
            ranged: 0,
            waiting: 0,
        };
        Tag { name, shared, buffer, state: Mutex::new(state), fetched: Notify::new() }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Takes `n` ids, at least one. If it fails, the ids that it has taken so far are a gap.
    pub(crate) async fn take(self: &Arc<Self>, n: usize, patience: Patience) -> Result<Vec<i64>> {
        let mut ids = Vec::with_capacity(n);
        if self.take_ready(n, &mut ids, patience) {
            return Ok(ids);
        }
        let is_first = self.state.lock().fetches.ended() == 0;
        let limit = if is_first { patience.first } else { patience.later };
        let waiting = self.waiting();
        let taken = self.wait(n, &mut ids, patience, Instant::now() + limit).await;
        drop(waiting);
        taken.map(|()| ids)
    }

    fn waiting(&self) -> Waiting<'_> {
        self.state.lock().waiting += 1;
        Waiting(self)
    }

    async fn wait(
        self: &Arc<Self>,
        n: usize,
        ids: &mut Vec<i64>,
        patience: Patience,
        deadline: Instant,
    ) -> Result<()> {
        loop {
            // Before the ids are looked for: what comes in between is not missed.
            let mut fetched = std::pin::pin!(self.fetched.notified());
            fetched.as_mut().enable();
            if self.take_ready(n, ids, patience) {
                return Ok(());
            }
            {
                let mut state = self.state.lock();
                if let Some(error) = state.fetches.refused() {
                    return Err(error.clone());
                }
                state.fetches.needs(i64::try_from(n - ids.len()).unwrap_or(LARGEST_STEP));
            }
            self.poll();
            if timeout_at(deadline, fetched).await.is_err() {
                let why = self.state.lock().fetches.error().map_or_else(
                    || "the store has not answered yet".to_owned(),
                    |error| error.message().to_owned(),
                );
                let message = format!("no id of {:?} in time: {why}", self.name);
                return Err(Error::new(Code::SegmentUnavailable, message));
            }
        }
    }

    /// Takes what the buffer holds. Returns whether that is enough.
    fn take_ready(self: &Arc<Self>, n: usize, ids: &mut Vec<i64>, patience: Patience) -> bool {
        while ids.len() < n {
            let Ok((run, wants_fetch)) = self.buffer.take_many(n - ids.len()) else { return false };
            let Run { first, stride, count } = run;
            ids.extend(
                (0..count as i64).map(|at| first + at * stride).filter(|&id| id != 0 || patience.issues_zero),
            );
            if wants_fetch {
                self.poll();
            }
        }
        true
    }

    /// Fetches, or fetches later, if that is due.
    fn poll(self: &Arc<Self>) {
        let mut state = self.state.lock();
        if !self.buffer.wants_fetch(&state.filler) {
            return;
        }
        let waits = state.waiting > 0;
        // A name that no row may have is asked for by its callers alone.
        if !waits && state.guard.mark() == 0 {
            return;
        }
        let is_urgent = waits || self.buffer.is_low(&state.filler);
        match state.fetches.poll(waits, is_urgent, running_ms()) {
            FetchAction::Nothing => {}
            FetchAction::Fetch => drop(tokio::spawn(carried(Arc::clone(self).fetch()))),
            FetchAction::WakeAt(at_ms) => drop(tokio::spawn(Arc::clone(self).wake_at(at_ms))),
        }
    }

    async fn wake_at(self: Arc<Self>, at_ms: i64) {
        sleep(Duration::from_millis(u64::try_from(at_ms - running_ms()).unwrap_or(0))).await;
        let is_due = self.state.lock().fetches.timer(at_ms);
        if is_due {
            self.poll();
        }
    }

    async fn fetch(self: Arc<Self>) {
        let (plan, own_step, mark) = {
            let mut state = self.state.lock();
            let wanted = self.buffer.wants_fetch(&state.filler).then_some(0);
            let Some(plan) = state.fetches.begin(wanted, i64::MAX, running_ms()) else { return };
            (plan, state.fetches.step().source(), state.guard.mark())
        };
        // A batch may need more, in several ranges.
        let step = plan.step.min(LARGEST_STEP.max(own_step));
        // The row's own step is taken from the row, as it is by then. The first range is as long, whatever a batch needs.
        let begun = running();
        let fetched = self.fetch_range((step != own_step && step > 0).then_some(step), 0, mark).await;
        {
            let mut state = self.state.lock();
            state.fetch_time = Some(running().saturating_sub(begun));
            let now_ms = running_ms();
            match fetched {
                Ok(Fetched { segment, step }) => {
                    match self.buffer.offer(&mut state.filler, segment, PREFETCH) {
                        Ok(()) => state.starts = [state.starts[1], segment.start()],
                        Err(lost) => log::error!(
                            "the range from {} to {} of {:?} is lost",
                            lost.start(),
                            lost.end(),
                            self.name
                        ),
                    }
                    state.fetches.succeeded(plan.wanted, step, None, now_ms);
                }
                Err(error) => {
                    // What the caller hears is no fault of the store.
                    if !matches!(error.code(), Code::UnknownTag | Code::InvalidArgument) {
                        log::warn!("no range of {:?}: {error}", self.name);
                    }
                    let is_denied = error.code() == Code::InvalidArgument;
                    state.fetches.failed(error, is_denied, false, now_ms, seed());
                }
            }
        }
        self.fetched.notify_waiters();
        self.poll();
    }

    /// Fetches the first range, unless ids are there, and waits for it. Errors: that of the fetch.
    pub(crate) async fn warm(self: &Arc<Self>, limit: Duration) -> Result<()> {
        let mut fetched = std::pin::pin!(self.fetched.notified());
        fetched.as_mut().enable();
        if self.stats().left > 0 {
            return Ok(());
        }
        let _waiting = self.waiting();
        self.poll();
        let _ = timeout_at(Instant::now() + limit, fetched).await;
        self.state.lock().fetches.error().map_or(Ok(()), |error| Err(error.clone()))
    }

    /// Takes a range straight from the store.
    pub(crate) async fn range(self: &Arc<Self>, step: Option<i64>, after: i64) -> Result<Fetched> {
        let mark = self.state.lock().guard.mark();
        let fetched = self.fetch_range(step, after, mark).await?;
        self.state.lock().ranged += fetched.segment.len();
        Ok(fetched)
    }

    /// `mark` is that of the guard before the request: a range that was asked for later may have come earlier.
    async fn fetch_range(self: &Arc<Self>, step: Option<i64>, after: i64, mark: i64) -> Result<Fetched> {
        if self.shared.dots.may_refuse(&self.name) {
            Box::pin(self.shared.dots.check(&self.shared.store, &self.name)).await?;
        }
        let Some(fetched) = self.shared.store.take_range(&self.name, step, after).await? else {
            let message = format!("the store has no tag {:?}; POST /api/tag makes it", self.name);
            return Err(Error::new(Code::UnknownTag, message));
        };
        self.check(fetched.segment, mark)?;
        Ok(fetched)
    }

    fn check(self: &Arc<Self>, segment: Segment, mark: i64) -> Result<()> {
        let is_first = {
            let mut state = self.state.lock();
            let is_first = state.guard.mark() == 0;
            state.guard.offer(segment, mark).map_err(|error| {
                log::error!("{error}");
                error.context(format!("tag {:?}", self.name))
            })?;
            is_first
        };
        if is_first {
            self.shared.hold(self);
        }
        Ok(())
    }

    /// Ends the tag: it issues no id from then on. Returns the unused ids at the end of the last range, as the first of
    /// them and the end.
    pub(crate) fn seal(&self) -> Option<(i64, i64)> {
        let state = self.state.lock();
        match self.buffer.seal(&state.filler)[..] {
            [one, next] if one.end() == next.start() => Some((one.start(), next.end())),
            [.., last] => Some((last.start(), last.end())),
            [] => None,
        }
    }

    pub(crate) fn stats(&self) -> TagStats {
        let state = self.state.lock();
        let segments = self.buffer.segments(&state.filler);
        // The last range is used up last.
        let starts = state.starts[2 - segments.len()..].to_vec();
        TagStats {
            name: self.name.clone(),
            segments,
            starts,
            left: self.buffer.left(&state.filler),
            taken: self.buffer.taken(&state.filler),
            ranged: state.ranged,
            step: state.fetches.step().step(),
            fetches: state.fetches.ended(),
            failures: state.fetches.failures(),
            fetch_time: state.fetch_time,
            error: state.fetches.error().map(|error| error.message().to_owned()),
        }
    }
}

impl Shared {
    /// Holds a tag from now on: its row was seen.
    fn hold(&self, tag: &Arc<Tag>) {
        let mut asked = self.asked.lock();
        let mut held = self.held.write();
        if held.len() < self.most {
            held.entry(tag.name.clone()).or_insert_with(|| tag.clone());
            asked.remove(tag.name());
        }
    }

    /// A tag ends.
    fn ended(&self, name: &str) {
        let mut asked = self.asked.lock();
        // There may be another one of this name.
        if asked.get(name).is_some_and(|tag| tag.strong_count() == 0) {
            asked.remove(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size_of_future<F: Future>(_: fn(Arc<Tag>) -> F) -> usize {
        size_of::<F>()
    }

    /// Its task lies between the tags on the heap, and leaves a gap of its size there.
    #[test]
    fn a_fetch_is_small() {
        let bytes = size_of_future(Tag::fetch);
        assert!(bytes <= 2048, "{bytes} bytes");
    }
}
