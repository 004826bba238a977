//! Where segments come from.

use super::completion::Completion;
use crate::tasks::user_calls::Answer;
use leafid_core::{Code, Error, Result, Segment};
use smallvec::{SmallVec, smallvec};
use std::error::Error as StdError;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a source of segments is asked.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchRequest {
    /// Whose ids.
    pub tag: String,
    /// How many ids are wished for; more or less may be given. 0, which a callback is never asked, leaves it to the
    /// source.
    pub step: i64,
    /// Every id below was given before: a counter that says less has lost something.
    pub after: i64,
    /// Whether somebody waits for it.
    pub(crate) urgent: bool,
}

/// What a source gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// The ids.
    pub segment: Segment,
    /// The source's own step, where it says one.
    pub step: Option<i64>,
}

/// What one fetch brought: at least one segment.
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

impl From<Segment> for Fetched {
    fn from(segment: Segment) -> Fetched {
        Fetched { segment, step: None }
    }
}

/// A source of segments of the user's own.
///
/// It is called on threads of leafid's, and may block; for a tag of one [`crate::Segments`] there is one call at a time,
/// for several tags there may be four. A range that was answered is never answered again: it is taken from its counter in
/// one transaction, which has ended before the answer.
#[derive(Clone)]
pub struct SegmentSource(pub(crate) SourceKind);

#[derive(Clone)]
pub(crate) enum SourceKind {
    /// Answers when it has the answer.
    Blocking(Arc<Blocking>),
    /// Answers later, from wherever it likes.
    Deferred(Arc<Deferred>),
    /// Answers later, from threads of leafid's.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "servers do"))]
    Later(Arc<dyn Later>),
}

/// A source that answers later, from threads of leafid's, which may wait for the disk: a panic there is no answer.
pub(crate) trait Later: Send + Sync {
    /// Has ids fetched; `completion` is answered with the first of them.
    fn fetch(&self, request: FetchRequest, completion: Completion);
    /// For how long requests for a tag are under way and none was answered; none while none is.
    fn silent_for(&self, tag: &str) -> Option<Duration>;
}

type Blocking = dyn Fn(&FetchRequest) -> Result<Option<Batch>> + Send + Sync;
type Deferred = dyn Fn(FetchRequest, Completion) + Send + Sync;

impl SegmentSource {
    /// A callback that answers a range of ids that was never given before, or none for a tag that it does not know. An
    /// error of it is `segment_unavailable` with its text, and it is called again later; a [`leafid_core::Error`] in the
    /// box keeps its code.
    pub fn callback(
        fetch: impl Fn(&FetchRequest) -> Answer<Option<Fetched>> + Send + Sync + 'static,
    ) -> SegmentSource {
        SegmentSource::blocking(move |request| match fetch(request) {
            Ok(fetched) => Ok(fetched.map(Batch::from)),
            Err(error) => Err(failed(error)),
        })
    }

    /// For event loops: a callback that returns at once and answers later.
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

    /// For how long it has not answered what it was asked for a tag since `asked`; none where it was not asked.
    pub(crate) fn silent_for(&self, tag: &str, asked: Instant) -> Option<Duration> {
        match &self.0 {
            SourceKind::Blocking(_) | SourceKind::Deferred(_) => Some(asked.elapsed()),
            SourceKind::Later(source) => source.silent_for(tag),
        }
    }

    /// Whether its answer needs threads that are not leafid's.
    pub(crate) fn is_deferred(&self) -> bool {
        matches!(self.0, SourceKind::Deferred(_))
    }

    /// Asks, and has the answer given to `completion`; a panic is an answer too.
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
            // What it drops unanswered is answered by that.
            SourceKind::Deferred(fetch) => {
                let _ = catch_unwind(AssertUnwindSafe(|| fetch(request, completion)));
            }
            SourceKind::Later(source) => {
                let _ = catch_unwind(AssertUnwindSafe(|| source.fetch(request, completion)));
            }
        }
    }
}

/// The error of a call of the user's code: its text last, as it is.
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
