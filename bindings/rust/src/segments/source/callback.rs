//! A source of segments: a user callback, or one of leafid's own.

use super::completion::{Completion, end_of};
use super::fetch_request::{FetchRequest, Fetched};
use crate::tasks::user_calls::Answer;
use leafid_core::supply::{CallEnd, FetchCall};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

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
}

type Blocking = dyn Fn(&FetchRequest) -> Answer<Option<Fetched>> + Send + Sync;
type Deferred = dyn Fn(FetchRequest, Completion) + Send + Sync;

impl SegmentSource {
    /// A callback that returns a range of ids that was never given before, or `None` for an unknown tag.
    ///
    /// An error of the callback becomes `segment_unavailable` with its text, and leafid calls it again later. A
    /// [`leafid_core::Error`] in the box keeps its code.
    pub fn callback(
        fetch: impl Fn(&FetchRequest) -> Answer<Option<Fetched>> + Send + Sync + 'static,
    ) -> SegmentSource {
        SegmentSource(SourceKind::Blocking(Arc::new(fetch)))
    }

    /// For event loops: a callback that returns at once and completes later.
    #[doc(hidden)]
    pub fn deferred(fetch: impl Fn(FetchRequest, Completion) + Send + Sync + 'static) -> SegmentSource {
        SegmentSource(SourceKind::Deferred(Arc::new(fetch)))
    }

    /// Whether it completes on threads that are not leafid's.
    pub(crate) fn is_deferred(&self) -> bool {
        matches!(self.0, SourceKind::Deferred(_))
    }

    /// Carries out a call for ids. A panic is a result too. `None`: its completion, which `later` makes, ends it.
    pub(crate) fn ask(
        &self,
        call: FetchCall,
        later: impl FnOnce(FetchCall) -> Completion,
    ) -> Option<CallEnd> {
        let request = FetchRequest { tag: call.tag.as_ref().into(), step: call.step, after: call.after };
        match &self.0 {
            SourceKind::Blocking(fetch) => Some(end_of(call, || fetch(&request)).into()),
            // If it drops the completion, the drop completes the fetch with an error.
            SourceKind::Deferred(fetch) => {
                let _ = catch_unwind(AssertUnwindSafe(|| fetch(request, later(call))));
                None
            }
        }
    }
}

impl fmt::Debug for SegmentSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            SourceKind::Blocking(_) => "SegmentSource::callback",
            SourceKind::Deferred(_) => "SegmentSource::deferred",
        })
    }
}
