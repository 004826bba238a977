//! The guard of a tag: refuses ids that a source returned before.
//!
//! Construct: [`Guard::new`], [`Guard::resume`]. Event: [`Guard::offer`]. Queries: all others.
//!
//! | The segment offered | Result | Next state |
//! | --- | --- | --- |
//! | shares ids with an earlier one | `segment_regressed` | the same |
//! | of an ascending source, below the mark | `segment_regressed` | the same |
//! | of an ascending source, or near 2^63, more than 2^48 above the mark | `source_invalid` | the same |
//! | any other | accepted | mark and spans contain it |

use crate::sorted::sorted;
use crate::{Code, Error, Result, Segment};
use alloc::format;
use alloc::vec::Vec;

/// The largest number of spans that a guard stores, if only memory bounds them.
pub(crate) const MOST_SPANS_IN_MEMORY: usize = 1_024;
/// A segment of an ascending counter ends at most this far above all before. Otherwise a single wrong response near
/// 2^63 would set a mark that no correct one can pass.
pub const MOST_JUMP: i64 = 1 << 48;
/// The cost to join a span is higher for those that grew last.
const RECENT_SPANS: usize = 16;
const RECENT_COST: u64 = 256;

/// The order of a source's ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IdOrder {
    /// Each segment is above all before it. A segment below is an error.
    Ascending,
    /// Several ascending counters.
    Ranges,
    /// Ids with gaps that are never filled, such as ids made from the time. The oldest spans are forgotten. Spans are
    /// never joined over a gap.
    Sparse,
}

/// The segments that a source returned for a tag so far. A refused segment changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Guard {
    order: IdOrder,
    /// The highest end seen: above every id that was ever offered.
    mark: i64,
    /// The spans. Those that grew last come last.
    spans: Vec<Segment>,
    /// The largest number of spans. Beyond it, two are joined.
    most: u32,
}

impl Guard {
    /// A new guard, which stores 1,024 spans.
    pub const fn new(order: IdOrder) -> Guard {
        Guard { order, mark: 0, spans: Vec::new(), most: MOST_SPANS_IN_MEMORY as u32 }
    }

    /// A guard that continues with the spans of another one and keeps at most `most` spans, at least one.
    pub fn resume(order: IdOrder, mark: i64, spans: Vec<Segment>, most: usize) -> Guard {
        let mark = spans.iter().map(Segment::end).fold(mark, i64::max);
        let mut guard = Guard { order, mark, spans, most: u32::try_from(most.max(1)).unwrap_or(u32::MAX) };
        guard.shorten();
        guard
    }

    /// The mark, above every id that was ever offered. The source must return no id below it.
    pub const fn mark(&self) -> i64 {
        self.mark
    }

    /// The stored spans. The one that grew last comes last.
    pub fn spans(&self) -> &[Segment] {
        &self.spans
    }

    /// Accepts a segment. `after` is the mark before the request. The mark may be higher now, if concurrent requests
    /// got their responses first.
    ///
    /// Errors: `segment_regressed` if its ids overlap those offered before, or if it starts below `after` and the
    /// source is an ordered one. `source_invalid` if it ends more than 2^48 above the mark, for an ordered source with
    /// a mark. Other sources may have counters anywhere, so for these it is `source_invalid` only within 2^48 of the
    /// end of all ids.
    pub fn offer(&mut self, segment: Segment, after: i64) -> Result<()> {
        let jump = segment.end() - self.mark;
        let is_wrong = self.order == IdOrder::Ascending || segment.end() > i64::MAX - MOST_JUMP;
        if self.mark > 0 && jump > MOST_JUMP && is_wrong {
            return Err(self.leapt(&segment, jump));
        }
        if self.order == IdOrder::Ascending && segment.start() < after {
            return Err(self.regressed(&segment, after, "its source gives ids in order"));
        }
        if self.spans.iter().any(|given| cross(given, &segment)) {
            return Err(self.regressed(&segment, self.mark, "its ids cross those given before"));
        }
        self.mark = self.mark.max(segment.end());
        self.store(segment);
        Ok(())
    }

    fn store(&mut self, segment: Segment) {
        // A segment that continues a span of the same kind extends it. This may close the gap between two spans.
        let mut whole = segment;
        self.spans.retain(|given| {
            let goes_on = whole.continues(given) || given.continues(&whole);
            if goes_on {
                whole = joined(given, &whole);
            }
            !goes_on
        });
        if self.spans.len() == self.spans.capacity() {
            // Most tags have one span. Those with several soon have all, and a program may hold many tags.
            let several = (self.most as usize + 1 - self.spans.len()).min(RECENT_SPANS);
            self.spans.reserve_exact(if self.spans.is_empty() { 1 } else { several });
        }
        self.spans.push(whole);
        self.shorten();
    }

    /// Joins neighbours or forgets spans until at most `most` are left.
    fn shorten(&mut self) {
        while self.spans.len() > self.most as usize {
            let pair = match self.order {
                IdOrder::Sparse => {
                    self.spans.remove(0);
                    continue;
                }
                // The lowest, which no caller waits for any more. Concurrent requests got higher ones.
                IdOrder::Ascending => self.neighbours().next(),
                IdOrder::Ranges => self.neighbours().min_by_key(|&pair| self.cost(pair)),
            };
            let (one, other) = pair.unwrap_or((0, 1));
            self.spans[one.max(other)] = joined(&self.spans[one], &self.spans[other]);
            self.spans.remove(one.min(other));
        }
    }

    /// The cost of joining these two: the number of ids between them, because each counter of a source continues
    /// upwards. Much higher if one of them grew lately, because ids from just before may still arrive.
    fn cost(&self, (one, other): (usize, usize)) -> u64 {
        let is_late = one.max(other) >= self.spans.len() - self.spans.len().min(RECENT_SPANS);
        let ids = lost(&self.spans[one], &self.spans[other]).saturating_add(1);
        ids.saturating_mul(if is_late { RECENT_COST } else { 1 })
    }

    /// Pairs of spans with no span between them, from the lowest on.
    fn neighbours(&self) -> impl Iterator<Item = (usize, usize)> {
        let by_start = sorted(self.spans.iter().enumerate().map(|(at, span)| (span.start(), at)));
        let pairs: Vec<_> = by_start.windows(2).map(|pair| (pair[0].1, pair[1].1)).collect();
        pairs.into_iter()
    }

    fn leapt(&self, segment: &Segment, jump: i64) -> Error {
        let message = format!(
            "the source gave the segment from {} to {}, {jump} above the highest end seen, {}; no counter jumps by more \
             than {MOST_JUMP}: see its counter, or, if this is meant, leafid marks forget",
            segment.start(),
            segment.end(),
            self.mark
        );
        Error::new(Code::SourceInvalid, message)
    }

    fn regressed(&self, segment: &Segment, bound: i64, why: &str) -> Error {
        let (start, end) = (segment.start(), segment.end());
        let below = bound.saturating_sub(start);
        let message = format!(
            "the source gave the segment from {start} to {end}, {below} below the highest end seen, {bound}: {why}; after \
             a restore, raise its counter to {} at least",
            self.mark.max(bound)
        );
        Error::new(Code::SegmentRegressed, message)
    }
}

/// Whether two segments may have an id in common: their spans overlap, and their residues agree.
pub(crate) fn cross(one: &Segment, other: &Segment) -> bool {
    let overlap = one.start() <= other.last() && other.start() <= one.last();
    overlap && (one.start() - other.start()) % gcd(one.stride(), other.stride()) == 0
}

/// The segment with the largest stride that contains both.
fn joined(one: &Segment, other: &Segment) -> Segment {
    let (start, end) = (one.start().min(other.start()), one.end().max(other.end()));
    let apart = (one.start() - other.start()).abs();
    let stride = gcd(gcd(one.stride(), other.stride()), apart);
    // Both are valid, and so is the segment over both.
    Segment::new(start, end, stride).unwrap_or(*one)
}

/// The number of ids that the joined segment contains and neither of the two does.
fn lost(one: &Segment, other: &Segment) -> u64 {
    joined(one, other).len().saturating_sub(one.len()).saturating_sub(other.len())
}

/// The greatest common divisor of numbers that are not negative; `gcd(n, 0)` is n.
fn gcd(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
