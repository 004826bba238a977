//! A source of segments: a user callback, or one of leafid's own.

use super::completion::Completion;
use super::fetch_request::{Batch, FetchRequest, Fetched, batch_of};
use crate::tasks::user_calls::Answer;
use leafid_core::{Code, Error, Result};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

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
    Pool(Arc<dyn PoolSource>),
}

/// A source that completes later, on threads of leafid that may wait for the disk. A panic there completes nothing.
pub(crate) trait PoolSource: Send + Sync {
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
        SegmentSource::blocking(move |request| batch_of(fetch(request)))
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
    pub(crate) fn on_pool(source: impl PoolSource + 'static) -> SegmentSource {
        SegmentSource(SourceKind::Pool(Arc::new(source)))
    }

    /// How long a request for a tag, sent at `asked`, has had no response; `None` if no request was sent.
    pub(crate) fn silent_for(&self, tag: &str, asked: Instant) -> Option<Duration> {
        match &self.0 {
            SourceKind::Blocking(_) | SourceKind::Deferred(_) => Some(asked.elapsed()),
            SourceKind::Pool(source) => source.silent_for(tag),
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
            SourceKind::Pool(source) => {
                let _ = catch_unwind(AssertUnwindSafe(|| source.fetch(request, completion)));
            }
        }
    }
}

impl fmt::Debug for SegmentSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            SourceKind::Blocking(_) | SourceKind::Pool(_) => "SegmentSource::callback",
            SourceKind::Deferred(_) => "SegmentSource::deferred",
        })
    }
}
