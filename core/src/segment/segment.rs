//! Segments: ranges of a counter that a source returns once.

use crate::{Code, Error, Result};
use alloc::format;

/// The ids `start`, `start + stride`, … below `end`: at least one, none negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Segment {
    start: i64,
    end: i64,
    stride: i64,
}

/// The result of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fetched {
    /// The ids.
    pub segment: Segment,
    /// The source's own step, if it has one.
    pub step: Option<i64>,
}

impl From<Segment> for Fetched {
    fn from(segment: Segment) -> Fetched {
        Fetched { segment, step: None }
    }
}

impl Segment {
    /// A segment that a source returned; `end` is exclusive. Errors: `source_invalid`.
    ///
    /// ```
    /// let segment = leafid_core::Segment::new(1, 1_001, 1)?;
    /// assert_eq!((segment.len(), segment.id(999)), (1_000, Some(1_000)));
    /// # Ok::<(), leafid_core::Error>(())
    /// ```
    pub fn new(start: i64, end: i64, stride: i64) -> Result<Segment> {
        let wrong = if start < 0 {
            "its start is negative"
        } else if end <= start {
            "its end, which is exclusive, is not above its start"
        } else if stride < 1 {
            "its stride is below 1"
        } else {
            return Ok(Segment { start, end, stride });
        };
        let message = format!(
            "the source gave the segment from {start} to {end} by {stride}: {wrong}; no id of it is used, see the source"
        );
        Err(Error::new(Code::SourceInvalid, message))
    }

    /// The first id.
    pub const fn start(&self) -> i64 {
        self.start
    }

    /// The exclusive end, above the last id.
    pub const fn end(&self) -> i64 {
        self.end
    }

    /// The distance between two ids.
    pub const fn stride(&self) -> i64 {
        self.stride
    }

    /// Whether it begins where `below` ends, with the same stride.
    pub(crate) fn continues(&self, below: &Segment) -> bool {
        self.stride == below.stride && below.last().checked_add(below.stride) == Some(self.start)
    }

    /// The number of ids, at least one.
    #[allow(clippy::len_without_is_empty)]
    pub const fn len(&self) -> u64 {
        // Neither is negative, and end is above start.
        ((self.end - 1 - self.start) / self.stride) as u64 + 1
    }

    /// The id number `n`, counted from 0.
    pub const fn id(&self, n: u64) -> Option<i64> {
        // Below `end`, and so without overflow.
        if n < self.len() { Some(self.start + n as i64 * self.stride) } else { None }
    }

    /// The last id.
    pub const fn last(&self) -> i64 {
        self.start + (self.len() - 1) as i64 * self.stride
    }
}
