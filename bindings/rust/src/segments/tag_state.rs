//! The state of a tag in this process: its buffer, its fetches, and its waiting calls.

use crate::os::futex;
use crate::os::mutex::lock_signal_safe;
use leafid_core::{
    AdaptiveStep, DoubleBuffer, Durations, Error, FetchPhase, FetchState, Filler, PendingSegments, Result,
    Run, Segment, Stock,
};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering::Acquire, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Called once, on a thread of leafid.
pub(crate) type Wake = Box<dyn FnOnce() + Send>;

/// The state that all handles of a tag share in one process.
pub(crate) struct TagState {
    pub(crate) name: Arc<str>,
    pub(crate) buffer: DoubleBuffer,
    /// The percentage of a segment. When more is used, the next segment is fetched.
    prefetch: u32,
    /// Only for a source that returns ids one by one.
    stock: Option<Stock>,
    /// Increases with each change for which a call may wait.
    version: AtomicU32,
    /// The number of waiting threads.
    waiting: AtomicU32,
    /// How long calls waited, and how long the source took, for metrics.
    pub(crate) wait_times: Durations,
    pub(crate) fetch_times: Durations,
    state: Mutex<TagInner>,
    generation: u64,
}

pub(crate) struct TagInner {
    pub(crate) filler: Filler,
    pub(crate) fetch: FetchState,
    /// The start of the last fetch.
    pub(crate) asked_at: Option<Instant>,
    /// Segments that did not fit into the buffer yet, and ids that were put back.
    pub(crate) pending: PendingSegments,
    /// The number of calls that found the buffer empty.
    pub(crate) waits: u64,
    /// The number of ids that were received from the source, or from an earlier process.
    received: u64,
    /// The largest number of issued ids that was returned: ids that are put back must not lower it.
    issued: u64,
    /// The number of fetches that failed with each error's code. Most tags have none.
    #[allow(clippy::box_collection, reason = "a map of none is three times as large")]
    failures: Option<Box<BTreeMap<&'static str, u64>>>,
    /// Whether it already looked for the unused ids of an earlier process.
    pub(crate) looked: bool,
    subscribers: BTreeMap<u64, Wake>,
    subscribed: u64,
    /// Calls that have waited for long, the longest first. They get ids before the buffer does.
    priority_calls: BTreeMap<u64, PriorityCall>,
}

/// The number of ids that a call still needs, and the ids that it was given.
struct PriorityCall {
    left: usize,
    runs: Vec<Run>,
}

/// A tag is one object in a process.
impl PartialEq for TagState {
    fn eq(&self, other: &TagState) -> bool {
        std::ptr::eq(self, other)
    }
}

impl TagState {
    pub(crate) fn new(
        name: Arc<str>,
        step: AdaptiveStep,
        prefetch: u32,
        stock: Option<Stock>,
        generation: u64,
    ) -> TagState {
        let (buffer, filler) = DoubleBuffer::new();
        let state = TagInner {
            filler,
            fetch: FetchState::new(step),
            asked_at: None,
            pending: PendingSegments::new(),
            waits: 0,
            received: 0,
            issued: 0,
            failures: None,
            looked: false,
            subscribers: BTreeMap::new(),
            subscribed: 0,
            priority_calls: BTreeMap::new(),
        };
        TagState {
            name,
            buffer,
            prefetch,
            stock,
            version: AtomicU32::new(0),
            waiting: AtomicU32::new(0),
            wait_times: Durations::new(),
            fetch_times: Durations::new(),
            state: Mutex::new(state),
            generation,
        }
    }

    /// Returns `None` in a forked child.
    pub(crate) fn locked<R>(&self, action: impl FnOnce(&mut TagInner) -> R) -> Option<R> {
        lock_signal_safe(&self.state, self.generation, action)
    }

    /// The value to compare in [`TagState::wait`]. It is read before the buffer is found empty.
    pub(crate) fn version(&self) -> u32 {
        self.version.load(Acquire)
    }

    /// Waits until something changed since `seen`, at most for `most`. It may return early.
    pub(crate) fn wait(&self, seen: u32, most: Duration) {
        self.waiting.fetch_add(1, SeqCst);
        futex::wait(&self.version, seen, most);
        self.waiting.fetch_sub(1, Relaxed);
    }

    /// Wakes all waiting calls, because something changed.
    pub(crate) fn changed(&self) {
        self.version.fetch_add(1, SeqCst);
        if self.waiting.load(SeqCst) > 0 {
            futex::wake(&self.version, i32::MAX as u32);
        }
        let wakes = self.locked(|state| std::mem::take(&mut state.subscribers));
        for (_, wake) in wakes.into_iter().flatten() {
            // It may be a waker of the user. Its panic was already reported.
            let _ = catch_unwind(AssertUnwindSafe(wake));
        }
    }

    /// The number of waiting calls, threads and subscribers.
    pub(crate) fn waiting(&self, state: &TagInner) -> usize {
        self.waiting.load(Relaxed) as usize + state.subscribers.len()
    }

    /// Subscribes `wake`, which is called once at the next change after `seen`. Returns its number, `again` if it had
    /// one. If something has changed already, or in a forked child, returns `wake` as the error.
    pub(crate) fn subscribe(
        &self,
        seen: u32,
        again: Option<u64>,
        wake: Wake,
    ) -> std::result::Result<u64, Wake> {
        let mut wake = Some(wake);
        let number = self.locked(|state| {
            // The version increases before the subscribers are taken: a subscriber that was not taken has seen it.
            let wake = if self.version() == seen { wake.take()? } else { return None };
            let number = again.unwrap_or(state.subscribed + 1);
            state.subscribed = state.subscribed.max(number);
            state.subscribers.insert(number, wake);
            Some(number)
        });
        match (number.flatten(), wake) {
            (None, Some(wake)) => Err(wake),
            (number, _) => Ok(number.unwrap_or_default()),
        }
    }

    /// Calls a subscriber whose call has timed out.
    pub(crate) fn wake(&self, subscriber: u64) {
        if let Some(wake) = self.unsubscribe(subscriber) {
            wake();
        }
    }

    pub(crate) fn unsubscribe(&self, subscriber: u64) -> Option<Wake> {
        self.locked(|state| state.subscribers.remove(&subscriber)).flatten()
    }

    /// Moves pending segments into the buffer while there is room; returns whether any were moved.
    pub(crate) fn refill(&self, state: &mut TagInner) -> bool {
        let mut refilled = state.serve();
        let most = match self.stock {
            Some(stock) => {
                stock.piece(state.pending.first(u64::MAX).map_or(0, |first| first.len()), self.taken(state))
            }
            None => u64::MAX,
        };
        while let Some(segment) = state.pending.first(most)
            && self.buffer.offer(&mut state.filler, segment, self.prefetch).is_ok()
        {
            state.pending.drop_first(segment.len());
            refilled = true;
        }
        refilled
    }

    /// The number of ids that a stock needs, 0 for other sources; `None` if no fetch is needed.
    pub(crate) fn wants_fetch(&self, state: &TagInner) -> Option<u64> {
        match self.stock {
            Some(stock) => stock.wants(self.left(state), self.taken(state)),
            None => self.buffer.wants_fetch(&state.filler).then_some(0),
        }
    }

    /// Whether so few ids are left that a caller will wait soon.
    pub(crate) fn is_low(&self, state: &TagInner) -> bool {
        match self.stock {
            Some(stock) => self.left(state) < stock.target(self.taken(state)).div_ceil(10),
            None => self.buffer.is_low(&state.filler),
        }
    }

    /// The current step.
    pub(crate) fn step(&self, state: &TagInner) -> i64 {
        match self.stock {
            Some(stock) => stock.target(self.taken(state)) as i64,
            None => state.fetch.step().step(),
        }
    }

    /// The number of ids in memory.
    pub(crate) fn left(&self, state: &TagInner) -> u64 {
        self.buffer.left(&state.filler) + state.pending.ids()
    }

    /// The number of ids that calls have taken.
    pub(crate) fn issued(&self, state: &mut TagInner) -> u64 {
        state.issued = state.issued.max(state.received.saturating_sub(self.left(state)));
        state.issued
    }

    fn taken(&self, state: &TagInner) -> u64 {
        self.buffer.taken(&state.filler)
    }

    /// Gives priority to a call that has waited for long; `again`: the number that it had. Returns its number.
    pub(crate) fn prioritize(&self, again: Option<u64>, left: usize) -> Option<u64> {
        self.locked(|state| {
            let number = again.unwrap_or(state.subscribed + 1);
            state.subscribed = state.subscribed.max(number);
            state.priority_calls.insert(number, PriorityCall { left, runs: Vec::new() });
            number
        })
    }

    /// Ends the priority of a call; returns the ids that it was given.
    pub(crate) fn take_served(&self, number: u64) -> Vec<Run> {
        let call = self.locked(|state| state.priority_calls.remove(&number)).flatten();
        call.map(|call| call.runs).unwrap_or_default()
    }

    /// Puts back ids that were taken and not issued; they come before what is pending.
    pub(crate) fn put_back(&self, runs: &[Run]) {
        let segments = runs.iter().rev().filter(|run| run.count > 0).filter_map(|run| segment_of(run).ok());
        self.locked(|state| {
            segments.for_each(|segment| state.pending.push_front(segment));
            self.refill(state);
        });
        self.changed();
    }

    /// Closes the buffer and returns its unused segments.
    pub(crate) fn seal(&self) -> Vec<Segment> {
        let rest = self.locked(|state| {
            let mut rest = self.buffer.seal(&state.filler);
            rest.extend(state.pending.drain());
            Segment::merged(rest)
        });
        self.changed();
        rest.unwrap_or_default()
    }
}

impl TagInner {
    /// Adds ids that were received.
    pub(crate) fn receive(&mut self, segment: Segment) {
        self.received += segment.len();
        self.pending.push_back(segment);
    }

    /// Counts why a fetch failed, if it did.
    pub(crate) fn count(&mut self, error: Option<&Error>) {
        if let Some(error) = error {
            *self.failures.get_or_insert_default().entry(error.code().name()).or_default() += 1;
        }
    }

    /// The number of fetches that ended with each outcome: `ok`, or an error's code.
    pub(crate) fn outcomes(&self) -> Vec<(&'static str, u64)> {
        let failures = self.failures.iter().flat_map(|failures| failures.iter());
        let failures: Vec<_> = failures.map(|(code, count)| (*code, *count)).collect();
        let failed: u64 = failures.iter().map(|(_, count)| count).sum();
        let ok = self.fetch.ended().saturating_sub(failed);
        failures.into_iter().chain((ok > 0).then_some(("ok", ok))).collect()
    }

    /// The start of the running request to the source.
    pub(crate) fn asked_at(&self) -> Option<Instant> {
        self.asked_at.filter(|_| self.fetch.phase() == FetchPhase::Fetching)
    }

    /// Gives pending ids to the priority calls, the oldest first; returns whether any were given.
    fn serve(&mut self) -> bool {
        let mut served = false;
        for call in self.priority_calls.values_mut() {
            while call.left > 0
                && let Some(run) = self.pending.take(call.left)
            {
                call.left -= run.count;
                call.runs.push(run);
                served = true;
            }
        }
        served
    }
}

fn segment_of(run: &Run) -> Result<Segment> {
    let last = run.first + (run.count as i64 - 1) * run.stride;
    Segment::new(run.first, last + 1, run.stride)
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    fn tag_state() -> TagState {
        TagState::new(
            "order".into(),
            AdaptiveStep::new(100, true),
            10,
            None,
            crate::os::process::generation(),
        )
    }

    #[test]
    fn whose_time_is_over_is_woken_and_who_has_gone_is_not() {
        let (tag_state, woken) = (tag_state(), Arc::new(AtomicUsize::new(0)));
        let subscribe = || {
            let woken = Arc::clone(&woken);
            let wake = Box::new(move || _ = woken.fetch_add(1, SeqCst));
            tag_state.subscribe(tag_state.version(), None, wake).ok().unwrap()
        };
        let (late, gone) = (subscribe(), subscribe());
        tag_state.wake(late);
        assert_eq!(woken.load(SeqCst), 1);
        assert!(tag_state.unsubscribe(gone).is_some());
        tag_state.changed();
        assert_eq!(woken.load(SeqCst), 1);
    }

    #[test]
    fn a_priority_call_is_served_before_the_buffer_with_as_many_as_it_asks() {
        let tag_state = tag_state();
        let number = tag_state.prioritize(None, 5).unwrap();
        let refill = |segment| {
            tag_state.locked(|state| {
                state.pending.push_back(segment);
                tag_state.refill(state)
            })
        };
        assert_eq!(
            refill(Segment::new(10, 13, 1).unwrap()),
            Some(true),
            "all of it went to the priority call"
        );
        assert_eq!(refill(Segment::new(20, 26, 1).unwrap()), Some(true));
        let given: Vec<_> = tag_state.take_served(number).iter().map(|run| (run.first, run.count)).collect();
        assert_eq!(given, [(10, 3), (20, 2)]);
        assert_eq!(tag_state.buffer.take().unwrap().0, 22);
    }

    #[test]
    fn a_stock_is_low_below_a_tenth_of_what_it_is_to_be() {
        let stock = Stock { most: 1_000, adaptive: false, prefetch: 10 };
        let generation = crate::os::process::generation();
        let tag_state =
            TagState::new("order".into(), AdaptiveStep::new(100, true), 10, Some(stock), generation);
        let low_with = |segment| {
            tag_state.locked(|state| {
                state.pending.push_back(segment);
                tag_state.is_low(state)
            })
        };
        assert_eq!(low_with(Segment::new(1, 100, 1).unwrap()), Some(true), "99 ids");
        assert_eq!(low_with(Segment::new(100, 101, 1).unwrap()), Some(false), "100 ids");
    }
}
