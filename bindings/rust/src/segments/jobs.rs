//! The jobs of the pool's threads for segments.

use super::fetcher::Fetcher;
use super::source::callback::Batch;
use super::source::completion::Pending;
use super::tag_state::TagState;
use crate::tasks::fetch_pool::{Job, STUCK, STUCK_IN_CODE};
use leafid_core::{Error, Result};
use std::sync::Arc;
use std::time::Duration;

/// A job of a fetching thread.
pub(crate) enum FetchJob {
    /// Requests a tag's next segment from the source.
    Fetch(Arc<Fetcher>, Arc<TagState>, bool),
    /// Accepts the result of a fetch.
    Accept(Pending, Result<Option<Batch>>),
    /// Sends requests for a source, or fails. The number is the address of its fetcher, to compare.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "servers need it"))]
    Help(usize, Arc<dyn Helper>),
}

/// Work that is repeated, with a turn for other work in between.
pub(crate) trait Helper: Send + Sync {
    /// Does one part of the work and returns whether there is more. `ready` is an error if there is no thread for it.
    fn help(self: Arc<Self>, ready: Result<()>) -> bool;
}

impl Job for FetchJob {
    fn may_take(&self) -> Duration {
        match self {
            FetchJob::Fetch(fetcher, ..) if !fetcher.settings.origin.native => STUCK_IN_CODE,
            _ => STUCK,
        }
    }

    fn owner(&self) -> usize {
        match self {
            FetchJob::Fetch(fetcher, ..) => Arc::as_ptr(fetcher) as usize,
            FetchJob::Accept(pending, _) => Arc::as_ptr(&pending.fetcher) as usize,
            FetchJob::Help(whose, _) => *whose,
        }
    }

    fn run(self: Box<Self>) -> Option<Box<dyn Job>> {
        match *self {
            FetchJob::Fetch(fetcher, tag_state, tries) => fetcher.fetch(tag_state, tries),
            FetchJob::Accept(pending, answer) => pending.accept(answer),
            FetchJob::Help(whose, helper) => {
                let more = Arc::clone(&helper).help(Ok(()));
                return more.then(|| Box::new(FetchJob::Help(whose, helper)) as Box<dyn Job>);
            }
        }
        None
    }

    fn fail(self: Box<Self>, error: Error) {
        match *self {
            FetchJob::Fetch(fetcher, tag_state, _) => fetcher.failed_to_ask(&tag_state, error),
            FetchJob::Accept(pending, _) => pending.accept(Err(error)),
            FetchJob::Help(_, helper) => while Arc::clone(&helper).help(Err(error.clone())) {},
        }
    }
}
