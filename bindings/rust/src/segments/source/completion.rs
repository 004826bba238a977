//! Completion of a fetch: how a source returns its result.

use super::fetch_request::Fetched;
use crate::os;
use crate::tasks::user_calls::{Answer, guarded};
use leafid_core::run::SourceFailure;
use leafid_core::supply::{CallEnd, FetchCall, FetchCallEnd};

/// Completes one fetch. If it is dropped without a result, the fetch has failed.
pub struct Completion(Option<RunningFetch>);

/// Ends a call, without a wait.
type EndsCall = Box<dyn FnOnce(CallEnd) + Send>;

struct RunningFetch {
    generation: u64,
    fetch: FetchCall,
    end: EndsCall,
}

impl Completion {
    pub(crate) fn new(fetch: FetchCall, generation: u64, end: EndsCall) -> Completion {
        Completion(Some(RunningFetch { generation, fetch, end }))
    }

    /// Completes the fetch from any thread, without a wait. `None` means that the source does not know the tag.
    pub fn answer(mut self, answer: Answer<Option<Fetched>>) {
        if let Some(RunningFetch { fetch, end, .. }) = self.take() {
            end(end_of(fetch, || answer).into());
        }
    }

    /// `None` if it was completed already. A user callback may have forked, and also returned in the child: there the
    /// fetch belongs to the parent.
    fn take(&mut self) -> Option<RunningFetch> {
        let fetch = self.0.take()?;
        if fetch.generation != os::process::generation() {
            std::mem::forget(fetch);
            return None;
        }
        Some(fetch)
    }
}

impl Drop for Completion {
    fn drop(&mut self) {
        if let Some(RunningFetch { fetch, end, .. }) = self.take() {
            end(fetch.dropped().into());
        }
    }
}

/// The end of a call to the user's code. Of an error its own text comes last, unchanged.
pub(crate) fn end_of(fetch: FetchCall, code: impl FnOnce() -> Answer<Option<Fetched>>) -> FetchCallEnd {
    match guarded(code) {
        Ok(fetched) => fetch.end(Ok(fetched)),
        Err(SourceFailure::Coded(error)) => fetch.end(Err(error)),
        Err(SourceFailure::Text(text)) => fetch.failed(&text),
        Err(SourceFailure::Panicked | SourceFailure::NotBegun(_)) => fetch.panicked(),
    }
}
