//! Completion of a fetch: how a source returns its result.

use super::callback::{Batch, Fetched};
use crate::os;
use crate::segments::fetcher::Fetcher;
use crate::segments::jobs::FetchJob;
use crate::segments::tag_state::TagState;
use crate::tasks::fetch_pool;
use crate::tasks::user_calls::Answer;
use leafid_core::{Code, Error, Result};
use std::sync::Arc;

/// Completes one fetch. If it is dropped without a result, the fetch has failed.
pub struct Completion(Option<Pending>);

pub(crate) struct Pending {
    pub(crate) fetcher: Arc<Fetcher>,
    pub(crate) tag_state: Arc<TagState>,
    /// The mark before the request was sent.
    pub(crate) after: i64,
    /// The step that follows from the use of the tag alone.
    pub(crate) wanted: i64,
    /// The number of requests that were sent.
    pub(crate) requests: usize,
}

impl Pending {
    /// Accepts a result. It does not use ids that were given before, and uses no id before the mark above it is
    /// durable.
    pub(crate) fn accept(self, answer: Result<Option<Batch>>) {
        let Pending { fetcher, tag_state, after, wanted, requests } = self;
        let unknown = || {
            let message =
                format!("the source knows no tag {:?}; make it there, or correct the name", tag_state.name);
            Error::new(Code::UnknownTag, message)
        };
        let outcome = answer.and_then(|batch| {
            let batch = batch.ok_or_else(unknown)?;
            Ok((fetcher.marks.accept(&tag_state.name, &batch.segments, after)?, batch.step))
        });
        fetcher.ended(&tag_state, outcome, wanted, requests);
    }
}

impl Completion {
    pub(crate) fn new(pending: Pending) -> Completion {
        Completion(Some(pending))
    }

    /// Completes the fetch from any thread, without a wait. `None` means that the source does not know the tag.
    pub fn answer(mut self, answer: Answer<Option<Fetched>>) {
        let answer = answer.map(|fetched| fetched.map(Batch::from));
        self.leave(answer.map_err(super::callback::failed));
    }

    /// Sets how many requests the fetch needed.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "servers do"))]
    pub(crate) fn of_requests(mut self, requests: usize) -> Completion {
        if let Some(pending) = &mut self.0 {
            pending.requests = requests;
        }
        self
    }

    /// Completes the fetch on a fetching thread, which may wait for the disk.
    pub(crate) fn accept(mut self, answer: Result<Option<Batch>>) {
        let Some(pending) = self.0.take() else { return };
        // A user callback may have forked and also returned in the child: there the fetch belongs to the parent.
        if pending.fetcher.generation == os::process::generation() {
            pending.accept(answer);
        } else {
            std::mem::forget(pending);
        }
    }

    /// Completes the fetch from a thread that must not wait for the disk.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "servers do"))]
    pub(crate) fn hand_over(mut self, answer: Result<Option<Batch>>) {
        self.leave(answer);
    }

    fn leave(&mut self, answer: Result<Option<Batch>>) {
        let Some(pending) = self.0.take() else { return };
        // In a forked child the fetch belongs to the parent.
        if pending.fetcher.generation == os::process::generation() {
            fetch_pool::push(Box::new(FetchJob::Accept(pending, answer)));
        } else {
            std::mem::forget(pending);
        }
    }
}

impl Drop for Completion {
    fn drop(&mut self) {
        let message = "the fetch of a segment ended without an answer; see the code that gives segments";
        self.leave(Err(Error::new(Code::SegmentUnavailable, message)));
    }
}
