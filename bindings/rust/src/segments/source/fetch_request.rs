//! A request to a source of segments, and its result.

use crate::tasks::user_calls::Answer;
use leafid_core::{Code, Error, Result, Segment};
use smallvec::{SmallVec, smallvec};
use std::error::Error as StdError;

pub use leafid_core::Fetched;

/// A request to a source of segments.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchRequest {
    /// The tag whose ids are requested.
    pub tag: String,
    /// How many ids are requested. The source may return more or fewer. 0 leaves the number to the source; a callback
    /// never gets 0.
    pub step: i64,
    /// Every id below was given before. A counter below this value has lost data.
    pub after: i64,
    /// Whether a caller waits for the ids.
    pub(crate) urgent: bool,
}

/// The result of one fetch: at least one segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Batch {
    pub(crate) segments: SmallVec<[Segment; 1]>,
    /// As [`Fetched::step`].
    pub(crate) step: Option<i64>,
}

impl From<Fetched> for Batch {
    fn from(Fetched { segment, step }: Fetched) -> Batch {
        Batch { segments: smallvec![segment], step }
    }
}

/// The result of a user callback. Of an error its own text comes last, unchanged.
pub(crate) fn batch_of(answer: Answer<Option<Fetched>>) -> Result<Option<Batch>> {
    let failed = |error: Box<dyn StdError + Send + Sync>| match error.downcast::<Error>() {
        Ok(error) => *error,
        Err(error) => Error::new(Code::SegmentUnavailable, format!("the fetch of a segment failed: {error}")),
    };
    answer.map(|fetched| fetched.map(Batch::from)).map_err(failed)
}
