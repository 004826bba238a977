//! One tag: its buffer, what waits for room in it, its fetches, and its callers.

use super::agenda::QueuePlace;
use super::held_mark::HeldMark;
use super::settings::SupplySettings;
use super::tag_counts::TagCounts;
use super::tickets::{CallerLine, Ticket, Tickets};
use super::work::{FetchStage, Work};
use crate::atomic::statistics::{AtomicU64, Ordering::Relaxed};
use crate::call::CallId;
use crate::segment::adaptive_step::AdaptiveStep;
use crate::segment::double_buffer::Filler;
use crate::segment::double_buffer::fetch_at;
use crate::segment::fetch_state::FetchState;
use crate::segment::guard::cross;
use crate::segment::pending::PendingSegments;
use crate::segment::stock::Stock;
use crate::{DoubleBuffer, Result, Run, Segment};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};
use core::time::Duration;

/// The state of a tag.
#[derive(Debug)]
pub(super) struct TagSupply {
    pub(super) name: Arc<str>,
    pub(super) buffer: Arc<DoubleBuffer>,
    pub(super) filler: Filler,
    pub(super) fetch: FetchState,
    /// Segments that did not fit into the buffer yet, and ids that were put back.
    pub(super) pending: PendingSegments,
    pub(super) line: Option<Box<CallerLine>>,
    pub(super) work: Option<Box<Work>>,
    /// Its place among those whose turn comes.
    pub(super) place: Option<QueuePlace>,
    /// The timer of its back-off.
    pub(super) due: Option<Duration>,
    /// Whether it already looked for the unused ids of an earlier process.
    pub(super) has_looked: bool,
    /// Whether a fetch wrote the step that the user named to its counter.
    pub(super) is_told: bool,
    /// The number of ids that were received.
    pub(super) received: u64,
    /// The number of its tickets that were neither collected nor cancelled.
    pub(super) tickets: u32,
    /// It is not used any more.
    pub(super) is_unused: bool,
    /// Where the supply itself holds the marks.
    pub(super) held: Option<Box<HeldMark>>,
    pub(super) counts: Option<Box<TagCounts>>,
    /// The largest number of issued ids that was reported.
    told: AtomicU64,
}

impl TagSupply {
    pub(super) fn new(name: Arc<str>, settings: &SupplySettings) -> TagSupply {
        let (buffer, filler) = DoubleBuffer::new();
        let step = AdaptiveStep::new(settings.first_step(), settings.adaptive);
        TagSupply {
            name,
            buffer: Arc::new(buffer),
            filler,
            fetch: FetchState::new(step),
            pending: PendingSegments::new(),
            line: None,
            work: None,
            place: None,
            due: None,
            has_looked: false,
            is_told: false,
            received: 0,
            tickets: 0,
            is_unused: false,
            held: settings.is_held().then(|| Box::new(HeldMark::new(settings.order))),
            counts: None,
            told: AtomicU64::new(0),
        }
    }

    /// The number of calls that wait.
    pub(super) fn waiting(&self) -> usize {
        self.line.as_ref().map_or(0, |line| line.waiting())
    }

    /// The number of ids for which calls wait.
    pub(super) fn need(&self) -> u64 {
        self.line.as_ref().map_or(0, |line| line.need())
    }

    /// The number of ids in memory.
    pub(super) fn left(&self) -> u64 {
        self.buffer.left(&self.filler) + self.pending.ids()
    }

    /// The number of ids that callers took, from the buffer or beside it.
    pub(super) fn taken(&self) -> u64 {
        self.received.saturating_sub(self.left())
    }

    /// Gives ids to the calls that wait, before anything else gets them. Calls `got` for each served.
    pub(super) fn serve(&mut self, callers: &mut Tickets, now: Duration, got: impl FnMut(Ticket)) {
        let at_hand = self.left();
        let Some(line) = self.line.as_mut().filter(|_| at_hand > 0) else { return };
        let (buffer, pending) = (&self.buffer, &mut self.pending);
        // What is in the buffer was received before what is pending. A caller that found the buffer empty may begin to
        // wait once it is filled: its next take must not go back behind what it gets now.
        let take = |most| buffer.take_many(most).ok().map(|(run, _)| run).or_else(|| pending.take(most));
        line.serve(callers, at_hand, now, take, got);
        if line.waiting() == 0 {
            self.line = None;
        }
    }

    /// Moves pending segments into the buffer while there is room.
    pub(super) fn refill(&mut self, stock: Option<Stock>, prefetch: u32) {
        if self.pending.ids() == 0 {
            return;
        }
        let most = stock.map_or(u64::MAX, |stock| {
            stock.piece(self.pending.first(u64::MAX).map_or(0, |first| first.len()), self.taken())
        });
        while let Some(segment) = self.pending.first(most)
            && self.buffer.has_room(&self.filler)
        {
            let used = self.pending.used();
            // Out of the queue first: an engine may end a call at any of its functions, for want of stack or of time. Then
            // ids are missing, and none is in both.
            self.pending.drop_first(segment.len());
            if let Err(segment) = self.buffer.offer_rest(&mut self.filler, segment, prefetch, used) {
                return self.pending.push_front(segment);
            }
        }
    }

    /// The number of ids that a stock needs, 0 for other sources; `None` if no fetch is needed. Of what came not more
    /// than 100 percent can be used, so with such a `prefetch` only who needs ids has them fetched; and so after a segment
    /// so short that calls that waited took all of it at once.
    pub(super) fn wants_fetch(&self, stock: Option<Stock>, prefetch: u32) -> Option<u64> {
        let used = self.pending.used();
        let is_short = self.left() == 0 && used > 0 && used <= fetch_at(used, prefetch);
        let is_wanted = (prefetch < 100 && !is_short) || self.received == 0 || self.waiting() > 0;
        let wants = match stock {
            Some(stock) => stock.wants(self.left(), self.taken()),
            None => (is_wanted && self.buffer.wants_fetch(&self.filler)).then_some(0),
        };
        // A caller that could not wait comes back for more than there are.
        let short = || (self.fetch.need() as u64).checked_sub(self.left()).filter(|short| *short > 0);
        wants.or_else(|| short().map(|short| if stock.is_some() { short } else { 0 }))
    }

    /// Whether so few ids are left that a caller will wait soon.
    pub(super) fn is_low(&self, stock: Option<Stock>) -> bool {
        match stock {
            Some(stock) => self.left() < stock.target(self.taken()).div_ceil(10),
            None => self.buffer.is_low(&self.filler),
        }
    }

    pub(super) fn receive(&mut self, segment: Segment) {
        self.received += segment.len();
        self.pending.push_back(segment);
    }

    /// A call that waited for so many ids has ended without them.
    pub(super) fn leave(&mut self, left: usize, callers: &Tickets) {
        self.line.iter_mut().for_each(|line| line.leave(left, callers));
        if self.waiting() == 0 {
            self.line = None;
        }
    }

    /// Whether it goes once nothing is done for it: it is unused, and its source gave no ids of it.
    pub(super) fn goes(&self) -> bool {
        self.is_unused && self.held.as_ref().map_or(self.received == 0, |held| held.guard.mark() == 0)
    }

    /// Whether a fetch of it runs, or a caller has not heard yet how its wait ended.
    pub(super) fn is_busy(&self) -> bool {
        self.work.is_some() || self.tickets > 0
    }

    /// What its fetch does.
    pub(super) fn stage(&self) -> FetchStage {
        match &self.work {
            Some(work) => work.stage,
            None if self.place.is_some() => FetchStage::Queues,
            None => FetchStage::Rests,
        }
    }

    /// The number of ids that callers got. Ids that are put back do not lower what was reported.
    pub(super) fn issued(&self) -> u64 {
        let issued = self.taken();
        self.told.fetch_max(issued, Relaxed).max(issued)
    }

    /// Puts ids back; they come before what is pending. Those that are there already would be issued twice.
    pub(super) fn put_back(&mut self, runs: &[Run]) {
        if runs.is_empty() {
            return;
        }
        let in_buffer = self.buffer.segments(&self.filler);
        for segment in runs.iter().rev().filter(|run| run.count > 0).filter_map(|run| segment_of(run).ok()) {
            let is_there = in_buffer.iter().copied().chain(self.pending.iter());
            if !is_there.into_iter().any(|there| cross(&there, &segment)) {
                self.pending.push_front(segment);
            }
        }
    }

    /// Ends the buffer; returns the unused ids.
    pub(super) fn seal(&mut self) -> Vec<Segment> {
        let mut rest = self.buffer.seal(&self.filler);
        rest.extend(self.pending.drain());
        Segment::merged(rest)
    }

    pub(super) fn counts(&mut self) -> &mut TagCounts {
        self.counts.get_or_insert_default()
    }

    /// The call to the source that failed last.
    pub(super) fn failed_by(&self) -> Option<CallId> {
        self.counts.as_ref().and_then(|counts| counts.failed_by)
    }

    /// A fetch gave ids, or failed by no fault of its source.
    pub(super) fn failed_by_none(&mut self) {
        self.counts.iter_mut().for_each(|counts| counts.failed_by = None);
    }

    /// A call found no id in memory.
    pub(super) fn waits(&mut self) {
        if self.held.is_none() {
            self.counts().waits += 1;
        }
    }

    /// It does not wait after all.
    pub(super) fn waits_not(&mut self) {
        self.counts.iter_mut().for_each(|counts| counts.waits = counts.waits.saturating_sub(1));
    }

    /// A call has waited for so long.
    pub(super) fn waited(&mut self, time: Duration) {
        if self.held.is_none() {
            self.counts().wait_times.add(time);
        }
    }

    /// A fetch took this long.
    pub(super) fn fetched(&mut self, time: Duration) {
        match &mut self.held {
            Some(held) => held.last_fetch = Some(time),
            None => self.counts().fetch_times.add(time),
        }
    }
}

fn segment_of(run: &Run) -> Result<Segment> {
    let last = run.first.saturating_add((run.count as i64 - 1).saturating_mul(run.stride));
    Segment::new(run.first, last.saturating_add(1), run.stride)
}

/// Another tag with the same ids: only one of the two may issue them.
impl Clone for TagSupply {
    fn clone(&self) -> TagSupply {
        TagSupply {
            name: Arc::clone(&self.name),
            buffer: Arc::new(self.buffer.copied()),
            filler: self.filler.clone(),
            fetch: self.fetch.clone(),
            pending: self.pending.clone(),
            line: self.line.clone(),
            work: self.work.clone(),
            held: self.held.clone(),
            counts: self.counts.clone(),
            told: AtomicU64::new(self.told.load(Relaxed)),
            ..*self
        }
    }
}

impl TagSupply {
    /// What decides about what comes next: all but statistics and numbers.
    fn deciding(&self) -> impl Hash + Eq {
        let line = self.line.as_ref().map(|line| line.deciding());
        let urgency = self.place.map(|(urgency, _)| urgency);
        let flags = (self.has_looked, self.is_told, self.is_unused);
        let guard = self.held.as_ref().map(|held| held.guard.clone());
        (
            (self.buffer.state(&self.filler), self.fetch.uncounted(), self.pending.clone()),
            (line, self.work.clone(), urgency, self.due, flags, guard),
        )
    }
}

impl PartialEq for TagSupply {
    fn eq(&self, other: &TagSupply) -> bool {
        self.name == other.name && self.deciding() == other.deciding()
    }
}

impl Eq for TagSupply {}

impl Hash for TagSupply {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.deciding().hash(state);
    }
}
