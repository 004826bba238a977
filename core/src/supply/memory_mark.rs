//! The mark of a tag in memory: what this process remembers of what its source gave.

use crate::format::mark::MOST_SPANS;
use crate::segment::guard::{Guard, MOST_SPANS_IN_MEMORY};
use crate::{Error, IdOrder, Result, Segment};
use alloc::vec::Vec;

/// The mark of one tag in the memory of a process. The host keeps it for the life of the process, by source and tag.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MemoryMark(Guard);

/// Segments that were not given before.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Accepted {
    /// At least one.
    pub(crate) segments: Vec<Segment>,
    /// Why another segment was skipped.
    pub(crate) refused: Option<Error>,
}

impl Accepted {
    /// What a guard accepts of these. Errors: `segment_regressed`, `source_invalid` if it accepts none.
    pub(crate) fn of(guard: &mut Guard, segments: &[Segment], after: i64) -> Result<Accepted> {
        let mut accepted = Accepted { segments: Vec::new(), refused: None };
        for &segment in segments {
            match guard.offer(segment, after) {
                Ok(()) => accepted.segments.push(segment),
                Err(error) => drop(accepted.refused.get_or_insert(error)),
            }
        }
        match accepted.refused {
            Some(error) if accepted.segments.is_empty() => Err(error),
            _ => Ok(accepted),
        }
    }
}

impl MemoryMark {
    /// The mark of a new tag. With ascending ids the mark alone holds most of it: 10,000 idle tags need little memory.
    pub fn new(order: IdOrder) -> MemoryMark {
        let most = if order == IdOrder::Ascending { MOST_SPANS } else { MOST_SPANS_IN_MEMORY };
        MemoryMark(Guard::resume(order, 0, Vec::new(), most))
    }

    /// Every id below it was given before.
    pub const fn mark(&self) -> i64 {
        self.0.mark()
    }

    pub(crate) fn accept(&mut self, segments: &[Segment], after: i64) -> Result<Accepted> {
        Accepted::of(&mut self.0, segments, after)
    }
}
