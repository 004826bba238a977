//! One tag: its buffer, what waits for room in it, its fetches, and its callers.

use super::agenda::Place;
use super::callers::{Callers, Line, Ticket};
use super::settings::SupplySettings;
use super::tag_counts::TagCounts;
use crate::call::CallId;
use crate::{
    AdaptiveStep, DoubleBuffer, FetchPlan, FetchState, Filler, PendingSegments, Result, Run, Segment, Stock,
};
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
    pub(super) line: Option<Box<Line>>,
    pub(super) work: Option<Box<Work>>,
    /// Its place among those whose turn comes.
    pub(super) place: Option<Place>,
    /// The timer of its back-off.
    pub(super) due: Option<Duration>,
    /// Whether it already looked for the unused ids of an earlier process.
    pub(super) has_looked: bool,
    /// The number of ids that were received.
    pub(super) received: u64,
    /// The call to the source that failed last.
    pub(super) failed_by: Option<CallId>,
    pub(super) counts: Option<Box<TagCounts>>,
}

/// What a running fetch of a tag does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Stage {
    /// Its mark is read.
    ReadsMark,
    /// Its source is asked.
    Asks,
    /// What came is stored in its mark.
    Marks,
}

/// A running fetch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Work {
    pub(super) stage: Stage,
    /// The call that is under way; `None` until the host takes it.
    pub(super) call: Option<CallId>,
    pub(super) plan: FetchPlan,
    /// Whether it checks if a source that is down still is.
    pub(super) probes: bool,
    pub(super) began: Duration,
    pub(super) after: i64,
    /// What the source gave, and its own step.
    pub(super) segments: Vec<Segment>,
    pub(super) step: Option<i64>,
    /// The number of requests that it needed.
    pub(super) requests: usize,
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
            received: 0,
            failed_by: None,
            counts: None,
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

    pub(super) fn taken(&self) -> u64 {
        self.buffer.taken(&self.filler)
    }

    /// Gives ids to the calls that wait, before anything else gets them. `got` is told who got some, and whether these
    /// are all.
    pub(super) fn serve(
        &mut self,
        callers: &mut Callers,
        now: Duration,
        got: impl FnMut(&mut Callers, Ticket, bool),
    ) {
        let at_hand = self.left();
        let Some(line) = self.line.as_mut().filter(|_| at_hand > 0) else { return };
        let (buffer, pending) = (&self.buffer, &mut self.pending);
        let take = |most| pending.take(most).or_else(|| buffer.take_many(most).ok().map(|(run, _)| run));
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
            && self.buffer.offer(&mut self.filler, segment, prefetch).is_ok()
        {
            self.pending.drop_first(segment.len());
        }
    }

    /// The number of ids that a stock needs, 0 for other sources; `None` if no fetch is needed.
    pub(super) fn wants_fetch(&self, stock: Option<Stock>) -> Option<u64> {
        match stock {
            Some(stock) => stock.wants(self.left(), self.taken()),
            None => self.buffer.wants_fetch(&self.filler).then_some(0),
        }
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

    /// Puts ids back; they come before what is pending.
    pub(super) fn put_back(&mut self, runs: &[Run]) {
        let segments = runs.iter().rev().filter(|run| run.count > 0).filter_map(|run| segment_of(run).ok());
        segments.for_each(|segment| self.pending.push_front(segment));
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
            counts: self.counts.clone(),
            ..*self
        }
    }
}

impl TagSupply {
    /// What decides about what comes next: all but statistics and numbers.
    fn deciding(&self) -> impl Hash + Eq {
        let work =
            self.work.as_ref().map(|work| Work { call: work.call.map(|_| CallId(0)), ..(**work).clone() });
        let line = self.line.as_ref().map(|line| (line.waiting(), line.need()));
        let urgency = self.place.map(|(urgency, _)| urgency);
        (
            (self.buffer.state(&self.filler), self.fetch.clone(), self.pending.clone()),
            (line, work, urgency, self.due, self.has_looked),
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
