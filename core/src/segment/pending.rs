//! The queue of segments that wait for room in a tag's buffer.
//!
//! Construct: [`PendingSegments::new`]. Events: `push_back` (fetched), `push_front` (put back), `drop_first`, `take`,
//! `drain`. Queries: `first`, `ids`, `used`. The only state is the queue: it is empty, or it is not.

use crate::sorted::sorted;
use crate::{Run, Segment};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// The segments in the order in which their ids are issued. Most tags have none for long, and a program may hold many
/// tags.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PendingSegments {
    queue: Option<Box<SegmentQueue>>,
    used: u64,
}

/// At least one segment, with the number of all ids.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct SegmentQueue {
    segments: VecDeque<Segment>,
    ids: u64,
}

impl PendingSegments {
    /// Empty.
    pub const fn new() -> PendingSegments {
        PendingSegments { queue: None, used: 0 }
    }

    /// The number of ids.
    pub fn ids(&self) -> u64 {
        self.queue.as_ref().map_or(0, |queue| queue.ids)
    }

    /// How many ids of the first segment were taken before it was in a buffer; of the last one if none is left.
    pub const fn used(&self) -> u64 {
        self.used
    }

    /// The segments.
    pub fn iter(&self) -> impl Iterator<Item = Segment> {
        self.queue.iter().flat_map(|queue| &queue.segments).copied()
    }

    /// Adds a segment at the end. If it continues the last one, it makes that one longer.
    pub fn push_back(&mut self, segment: Segment) {
        if self.queue.is_none() {
            self.used = 0;
        }
        let queue = self.queue.get_or_insert_default();
        queue.ids += segment.len();
        match queue.segments.back().and_then(|last| joined(last, &segment)) {
            Some(whole) => queue.segments.back_mut().into_iter().for_each(|last| *last = whole),
            None => queue.segments.push_back(segment),
        }
    }

    /// Adds a segment at the front.
    pub fn push_front(&mut self, segment: Segment) {
        let queue = self.queue.get_or_insert_default();
        queue.ids += segment.len();
        self.used = 0;
        queue.segments.push_front(segment);
    }

    /// Up to `most` ids of the first segment.
    pub fn first(&self, most: u64) -> Option<Segment> {
        let front = self.queue.as_ref()?.segments.front()?;
        let last = front.id(most.min(front.len()).checked_sub(1)?)?;
        Segment::new(front.start(), last + 1, front.stride()).ok()
    }

    /// Removes this many ids of the first segment.
    pub fn drop_first(&mut self, count: u64) {
        let Some(queue) = &mut self.queue else { return };
        let Some(front) = queue.segments.front_mut() else { return };
        let rest = front.id(count).and_then(|next| Segment::new(next, front.end(), front.stride()).ok());
        queue.ids -= count.min(front.len());
        self.used = 0;
        match rest {
            Some(rest) => *front = rest,
            None => drop(queue.segments.pop_front()),
        }
        if queue.segments.is_empty() {
            self.queue = None;
        }
    }

    /// Removes and returns up to `most` ids of the first segment.
    pub fn take(&mut self, most: usize) -> Option<Run> {
        let first = self.first(most as u64)?;
        let used = self.used + first.len();
        let goes_on = self.iter().next().is_some_and(|front| front.len() > first.len());
        self.drop_first(first.len());
        if goes_on || self.queue.is_none() {
            self.used = used;
        }
        Some(Run { first: first.start(), stride: first.stride(), count: first.len() as usize })
    }

    /// Removes and returns all segments.
    pub fn drain(&mut self) -> impl Iterator<Item = Segment> {
        self.queue.take().into_iter().flat_map(|queue| queue.segments)
    }
}

/// Both as one segment, if the second continues the first.
fn joined(first: &Segment, second: &Segment) -> Option<Segment> {
    if second.continues(first) {
        Segment::new(first.start(), second.end(), first.stride()).ok()
    } else {
        None
    }
}

impl Segment {
    /// The segments in order. Segments without a gap between them are joined.
    pub fn merged(segments: Vec<Segment>) -> Vec<Segment> {
        let mut all: Vec<Segment> = Vec::with_capacity(segments.len());
        for segment in sorted(segments) {
            let whole = all.last().and_then(|below| joined(below, &segment));
            match (whole, all.last_mut()) {
                (Some(whole), Some(below)) => *below = whole,
                _ => all.push(segment),
            }
        }
        all
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn segment(start: i64, end: i64, stride: i64) -> Segment {
        Segment::new(start, end, stride).unwrap()
    }

    #[test]
    fn ids_leave_in_the_order_that_they_came() {
        let mut queue = PendingSegments::new();
        for came in [segment(1, 3, 1), segment(3, 5, 1), segment(100, 101, 1), segment(5, 11, 2)] {
            queue.push_back(came);
        }
        queue.push_front(segment(50, 52, 1));
        assert_eq!((queue.ids(), queue.iter().count()), (10, 4));
        assert_eq!(queue.first(1), Some(segment(50, 51, 1)));
        let (mut ids, mut used) = (Vec::new(), Vec::new());
        while let Some(run) = queue.take(3) {
            ids.extend((0..run.count as i64).map(|n| run.first + n * run.stride));
            used.push(queue.used());
        }
        assert_eq!(ids, [50, 51, 1, 2, 3, 4, 100, 5, 7, 9]);
        assert_eq!(used, [0, 3, 0, 0, 3], "of the segment that comes next, or else of the last one");
        assert_eq!((queue.ids(), queue.first(1), queue.queue), (0, None, None));
    }
}
