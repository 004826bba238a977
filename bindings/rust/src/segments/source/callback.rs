//! The types of a source of segments, and the call of a user callback.

use super::completion::Completion;
use crate::tasks::user_calls::Answer;
use leafid_core::{Code, Error, Result, Segment};

pub use leafid_core::Fetched;
use smallvec::{SmallVec, smallvec};
use std::error::Error as StdError;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

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

/// A source of segments that the user provides.
///
/// leafid calls it on its own threads, and it may block. For one tag of one [`crate::Segments`] there is one call at a
/// time; for several tags there may be four. The source must never return a range twice: it takes the range from its
/// counter in one transaction, and that transaction is committed before it returns.
#[derive(Clone)]
pub struct SegmentSource(pub(crate) SourceKind);

#[derive(Clone)]
pub(crate) enum SourceKind {
    /// Returns the result.
    Blocking(Arc<Blocking>),
    /// Returns at once and completes later, on any thread.
    Deferred(Arc<Deferred>),
    /// Returns at once and completes later, on threads of leafid.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "servers do"))]
    Later(Arc<dyn Later>),
}

/// A source that completes later, on threads of leafid that may wait for the disk. A panic there completes nothing.
pub(crate) trait Later: Send + Sync {
    /// Fetches ids, and completes `completion` with the first of them.
    fn fetch(&self, request: FetchRequest, completion: Completion);
    /// How long the requests for a tag have run without any response; `None` while no request runs.
    fn silent_for(&self, tag: &str) -> Option<Duration>;
}

type Blocking = dyn Fn(&FetchRequest) -> Result<Option<Batch>> + Send + Sync;
type Deferred = dyn Fn(FetchRequest, Completion) + Send + Sync;

impl SegmentSource {
    /// A callback that returns a range of ids that was never given before, or `None` for an unknown tag.
    ///
    /// An error of the callback becomes `segment_unavailable` with its text, and leafid calls it again later. A
    /// [`leafid_core::Error`] in the box keeps its code.
    pub fn callback(
        fetch: impl Fn(&FetchRequest) -> Answer<Option<Fetched>> + Send + Sync + 'static,
    ) -> SegmentSource {
        SegmentSource::blocking(move |request| match fetch(request) {
            Ok(fetched) => Ok(fetched.map(Batch::from)),
            Err(error) => Err(failed(error)),
        })
    }

    /// For event loops: a callback that returns at once and completes later.
    #[doc(hidden)]
    pub fn deferred(fetch: impl Fn(FetchRequest, Completion) + Send + Sync + 'static) -> SegmentSource {
        SegmentSource(SourceKind::Deferred(Arc::new(fetch)))
    }

    pub(crate) fn blocking(
        fetch: impl Fn(&FetchRequest) -> Result<Option<Batch>> + Send + Sync + 'static,
    ) -> SegmentSource {
        SegmentSource(SourceKind::Blocking(Arc::new(fetch)))
    }

    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "servers do"))]
    pub(crate) fn later(source: impl Later + 'static) -> SegmentSource {
        SegmentSource(SourceKind::Later(Arc::new(source)))
    }

    /// How long a request for a tag, sent at `asked`, has had no response; `None` if no request was sent.
    pub(crate) fn silent_for(&self, tag: &str, asked: Instant) -> Option<Duration> {
        match &self.0 {
            SourceKind::Blocking(_) | SourceKind::Deferred(_) => Some(asked.elapsed()),
            SourceKind::Later(source) => source.silent_for(tag),
        }
    }

    /// Whether it completes on threads that are not leafid's.
    pub(crate) fn is_deferred(&self) -> bool {
        matches!(self.0, SourceKind::Deferred(_))
    }

    /// Starts a fetch and completes `completion` with its result. A panic is a result too.
    pub(crate) fn ask(&self, request: FetchRequest, completion: Completion) {
        let panicked = || {
            Err(Error::new(
                Code::SegmentUnavailable,
                "the fetch of a segment panicked; see the code that gives segments, then try again",
            ))
        };
        match &self.0 {
            SourceKind::Blocking(fetch) => {
                let answer = catch_unwind(AssertUnwindSafe(|| fetch(&request)));
                completion.accept(answer.unwrap_or_else(|_| panicked()));
            }
            // If it drops the completion, the drop completes the fetch with an error.
            SourceKind::Deferred(fetch) => {
                let _ = catch_unwind(AssertUnwindSafe(|| fetch(request, completion)));
            }
            SourceKind::Later(source) => {
                let _ = catch_unwind(AssertUnwindSafe(|| source.fetch(request, completion)));
            }
        }
    }
}

/// The error of a user callback: its own text comes last, unchanged.
pub(crate) fn failed(error: Box<dyn StdError + Send + Sync>) -> Error {
    match error.downcast::<Error>() {
        Ok(error) => *error,
        Err(error) => Error::new(Code::SegmentUnavailable, format!("the fetch of a segment failed: {error}")),
    }
}

impl fmt::Debug for SegmentSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            SourceKind::Blocking(_) | SourceKind::Later(_) => "SegmentSource::callback",
            SourceKind::Deferred(_) => "SegmentSource::deferred",
        })
    }
}
