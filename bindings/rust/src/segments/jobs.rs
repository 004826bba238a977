//! What the pool's threads do for segments.

use super::fetcher::Fetcher;
use super::source::callback::Batch;
use super::source::completion::Pending;
use super::tag_state::TagState;
use crate::tasks::fetch_pool::{Job, STUCK, STUCK_IN_CODE};
use leafid_core::{Error, Result};
use std::sync::Arc;
use std::time::Duration;

/// What a fetching thread does.
pub(crate) enum FetchJob {
    /// Asks the source for a tag's next segment.
    Fetch(Arc<Fetcher>, Arc<TagState>, bool),
    /// Takes an answer.
    Accept(Pending, Result<Option<Batch>>),
    /// Makes requests for a source, or fails; whose it is: an address, to compare.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "servers need it"))]
    Help(usize, Arc<dyn Helper>),
}

/// What is done again and again, with a turn for others in between.
pub(crate) trait Helper: Send + Sync {
    /// Does one part of it; whether there is more. `ready`: an error where there is no thread to do it on.
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
