//! Completion of a fetch: how a source returns its result.

use super::fetch_request::{Batch, Fetched, batch_of};
use crate::os;
use crate::tasks::fetch_pool::{self, Job, STUCK};
use crate::tasks::user_calls::Answer;
use leafid_core::{Code, Error, Result};

/// Completes one fetch. If it is dropped without a result, the fetch has failed.
pub struct Completion(Option<RunningFetch>);

/// Accepts the result of a fetch, and how many requests it needed. It may wait for the disk.
type Accept = Box<dyn FnOnce(Result<Option<Batch>>, usize) + Send>;

struct RunningFetch {
    /// The owner of its job in the pool.
    owner: usize,
    generation: u64,
    /// The number of requests that were sent.
    requests: usize,
    accept: Accept,
}

impl Completion {
    pub(crate) fn new(owner: usize, generation: u64, accept: Accept) -> Completion {
        Completion(Some(RunningFetch { owner, generation, requests: 1, accept }))
    }

    /// Completes the fetch from any thread, without a wait. `None` means that the source does not know the tag.
    pub fn answer(self, answer: Answer<Option<Fetched>>) {
        self.hand_over(batch_of(answer));
    }

    /// Sets how many requests the fetch needed.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "servers do"))]
    pub(crate) fn of_requests(mut self, requests: usize) -> Completion {
        if let Some(fetch) = &mut self.0 {
            fetch.requests = requests;
        }
        self
    }

    /// Completes the fetch on a fetching thread, which may wait for the disk.
    pub(crate) fn accept(mut self, answer: Result<Option<Batch>>) {
        if let Some(RunningFetch { accept, requests, .. }) = self.take() {
            accept(answer, requests);
        }
    }

    /// Completes the fetch from a thread that must not wait for the disk.
    pub(crate) fn hand_over(mut self, answer: Result<Option<Batch>>) {
        self.push(answer);
    }

    fn push(&mut self, answer: Result<Option<Batch>>) {
        let Some(RunningFetch { owner, accept, requests, .. }) = self.take() else { return };
        let accept = move |ready: Result<()>| {
            accept(ready.and(answer), requests);
            None
        };
        fetch_pool::push(Job::new(owner, STUCK, accept));
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
        let message = "the fetch of a segment ended without an answer; see the code that gives segments";
        self.push(Err(Error::new(Code::SegmentUnavailable, message)));
    }
}
