//! What a supply that holds its marks itself keeps of a tag, for a server: it may have a hundred thousand tags, and shows
//! no histograms of them.

use super::memory_mark::Accepted;
use crate::segment::guard::Guard;
use crate::{IdOrder, Result, Segment};
use alloc::vec::Vec;
use core::time::Duration;

/// The spans of its guard. Ranges go to many servers in turn, and neighbours of one server are rare. It holds one more for
/// a moment, so that the memory of 16 is enough.
const SPANS: usize = 15;

/// The mark of one tag.
#[derive(Clone, Debug)]
pub(super) struct HeldMark {
    /// What was given before.
    pub(super) guard: Guard,
    /// Where the last two ranges of the buffer began.
    pub(super) starts: [i64; 2],
    /// Ids that went out in ranges, past the buffer.
    pub(super) ranged: u64,
    /// How long the last fetch took.
    pub(super) last_fetch: Option<Duration>,
}

impl HeldMark {
    pub(super) fn new(order: IdOrder) -> HeldMark {
        // With a single server, all ranges are one span.
        let guard = Guard::resume(order, 0, Vec::new(), SPANS);
        HeldMark { guard, starts: [0; 2], ranged: 0, last_fetch: None }
    }

    /// What its guard accepts of a fetch. Errors: as [`Accepted::of`].
    pub(super) fn accept(&mut self, segments: &[Segment], after: i64) -> Result<Accepted> {
        let accepted = Accepted::of(&mut self.guard, segments, after)?;
        accepted.segments.iter().for_each(|came| self.starts = [self.starts[1], came.start()]);
        Ok(accepted)
    }
}
