//! The state of a tag in this process: its buffer, its fetches, and the calls that wait.

use super::Wake;
use crate::os::mutex::lock_signal_safe;
use leafid_core::{
    AdaptiveStep, DoubleBuffer, FetchPhase, FetchState, Filler, PendingSegments, Result, Run, Segment, Stock,
};
use rustix::thread::futex;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering::Acquire, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What all handles of a tag share in one process.
pub(crate) struct TagState {
    pub(crate) name: Arc<str>,
    pub(crate) buffer: DoubleBuffer,
    /// Of how much of a segment, in percent, more must be used before the next one is asked for.
    prefetch: u32,
    /// Of a source that gives ids one by one.
    stock: Option<Stock>,
    /// Goes up with whatever somebody may wait for.
    version: AtomicU32,
    /// Calls that wait.
    waiting: AtomicU32,
    state: Mutex<TagInner>,
    generation: u64,
}

pub(crate) struct TagInner {
    pub(crate) filler: Filler,
    pub(crate) fetch: FetchState,
    /// When a fetch began last.
    pub(crate) asked_at: Option<Instant>,
    /// Segments that found no room yet, and ids that were put back.
    pub(crate) pending: PendingSegments,
    /// Calls that found the buffer empty.
    pub(crate) waits: u64,
    /// Whether what an earlier process kept was looked for.
    pub(crate) looked: bool,
    subscribers: BTreeMap<u64, Wake>,
    subscribed: u64,
    /// Calls that have waited for long, the longest first: they get ids before the buffer does.
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
            state: Mutex::new(state),
            generation,
        }
    }

    /// None in a forked child.
    pub(crate) fn locked<R>(&self, action: impl FnOnce(&mut TagInner) -> R) -> Option<R> {
        lock_signal_safe(&self.state, self.generation, action)
    }

    /// What to compare with in [`TagState::wait`]: read before the buffer is found empty.
    pub(crate) fn version(&self) -> u32 {
        self.version.load(Acquire)
    }

    /// Waits until something changed since `seen`, at most so long; it may also return early.
    pub(crate) fn wait(&self, seen: u32, most: Duration) {
        let timeout = futex::Timespec { tv_sec: most.as_secs() as i64, tv_nsec: most.subsec_nanos().into() };
        self.waiting.fetch_add(1, SeqCst);
        let _ = futex::wait(&self.version, futex::Flags::PRIVATE, seen, Some(&timeout));
        self.waiting.fetch_sub(1, Relaxed);
    }

    /// Tells everybody who waits that something changed.
    pub(crate) fn changed(&self) {
        self.version.fetch_add(1, SeqCst);
        if self.waiting.load(SeqCst) > 0 {
            let _ = futex::wake(&self.version, futex::Flags::PRIVATE, i32::MAX as u32);
        }
        let wakes = self.locked(|state| std::mem::take(&mut state.subscribers));
        for (_, wake) in wakes.into_iter().flatten() {
            // A waker of the user's: its panic has said so itself.
            let _ = catch_unwind(AssertUnwindSafe(wake));
        }
    }

    /// Calls that wait, each way.
    pub(crate) fn waiting(&self, state: &TagInner) -> usize {
        self.waiting.load(Relaxed) as usize + state.subscribers.len()
    }

    /// Has `wake` called, once, when something changes after `seen`; answers its number, `again` if it had one. If it has
    /// changed already, or this is a forked child, answers `wake`.
    pub(crate) fn subscribe(
        &self,
        seen: u32,
        again: Option<u64>,
        wake: Wake,
    ) -> std::result::Result<u64, Wake> {
        let mut wake = Some(wake);
        let number = self.locked(|state| {
            // The version goes up before the subscribers are taken: one that was not taken has seen it.
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

    /// Calls a subscriber whose time is over.
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

    /// How many ids a stock is short of; of other sources 0. None when nothing is to be fetched.
    pub(crate) fn wants_fetch(&self, state: &TagInner) -> Option<u64> {
        match self.stock {
            Some(stock) => stock.wants(self.left(state), self.taken(state)),
            None => self.buffer.wants_fetch(&state.filler).then_some(0),
        }
    }

    /// Whether so little is left that somebody will wait soon.
    pub(crate) fn is_low(&self, state: &TagInner) -> bool {
        match self.stock {
            Some(stock) => self.left(state) < stock.target(self.taken(state)).div_ceil(10),
            None => self.buffer.is_low(&state.filler),
        }
    }

    /// The step as it stands.
    pub(crate) fn step(&self, state: &TagInner) -> i64 {
        match self.stock {
            Some(stock) => stock.target(self.taken(state)) as i64,
            None => state.fetch.step().step(),
        }
    }

    /// Ids at hand.
    pub(crate) fn left(&self, state: &TagInner) -> u64 {
        self.buffer.left(&state.filler) + state.pending.ids()
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
        let prioritize = self.locked(|state| state.priority_calls.remove(&number)).flatten();
        prioritize.map(|prioritize| prioritize.runs).unwrap_or_default()
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

    /// Ends the buffer; answers what is left of it.
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
    /// Since when the source is asked.
    pub(crate) fn asked_at(&self) -> Option<Instant> {
        self.asked_at.filter(|_| self.fetch.phase() == FetchPhase::Fetching)
    }

    /// Gives pending ids to the priority calls, the oldest first; returns whether any were given.
    fn serve(&mut self) -> bool {
        let mut served = false;
        for prioritize in self.priority_calls.values_mut() {
            while prioritize.left > 0
                && let Some(run) = self.pending.take(prioritize.left)
            {
                prioritize.left -= run.count;
                prioritize.runs.push(run);
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
    fn a_claim_is_served_before_the_buffer_with_as_many_as_it_asks() {
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
