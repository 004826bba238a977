//! What the threads do, and what is due at some time.

use super::fetcher::Fetcher;
use super::source::callback::Batch;
use super::source::completion::Pending;
use super::tag_state::TagState;
use leafid_core::{Error, Result};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// A thread that is busy with one job for so long is held up: with a request to a server, and with the user's code.
pub(crate) const STUCK: Duration = Duration::from_secs(1);
pub(crate) const STUCK_IN_CODE: Duration = Duration::from_millis(100);

/// What a fetching thread does.
pub(crate) enum Job {
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

/// What is due at some time; none of it waits for anything.
pub(crate) enum TimerTask {
    /// Sees whether a tag wants to be fetched again.
    Look(Weak<Fetcher>, Weak<TagState>, i64),
    /// Sees whether a source may be asked again.
    Breaker(Weak<Fetcher>),
    /// Does what a source wants done.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "servers need it"))]
    Call(Box<dyn FnOnce() + Send>),
    /// Wakes a subscriber whose time is over.
    Wake(Weak<TagState>, u64),
}

impl Job {
    pub(crate) fn may_take(&self) -> Duration {
        match self {
            Job::Fetch(fetcher, ..) if !fetcher.settings.origin.native => STUCK_IN_CODE,
            _ => STUCK,
        }
    }

    /// Whose it is: an address, to compare.
    pub(crate) fn fetcher(&self) -> usize {
        match self {
            Job::Fetch(fetcher, ..) => Arc::as_ptr(fetcher) as usize,
            Job::Accept(pending, _) => Arc::as_ptr(&pending.fetcher) as usize,
            Job::Help(whose, _) => *whose,
        }
    }

    /// Answers the job that is to stand in line again.
    pub(crate) fn run(self) -> Option<Job> {
        match self {
            Job::Fetch(fetcher, tag_state, tries) => fetcher.fetch(tag_state, tries),
            Job::Accept(pending, answer) => pending.accept(answer),
            Job::Help(whose, helper) => {
                return Arc::clone(&helper).help(Ok(())).then_some(Job::Help(whose, helper));
            }
        }
        None
    }

    pub(crate) fn fail(self, error: Error) {
        match self {
            Job::Fetch(fetcher, tag_state, _) => fetcher.failed_to_ask(&tag_state, error),
            Job::Accept(pending, _) => pending.accept(Err(error)),
            Job::Help(_, helper) => while Arc::clone(&helper).help(Err(error.clone())) {},
        }
    }
}

impl TimerTask {
    pub(crate) fn run(self) {
        match self {
            TimerTask::Look(fetcher, tag_state, until_ms) => {
                if let (Some(fetcher), Some(tag_state)) = (fetcher.upgrade(), tag_state.upgrade()) {
                    fetcher.look(&tag_state, until_ms);
                }
            }
            TimerTask::Breaker(fetcher) => {
                if let Some(fetcher) = fetcher.upgrade() {
                    fetcher.breaker_timer();
                }
            }
            TimerTask::Call(call) => call(),
            TimerTask::Wake(tag_state, subscriber) => {
                if let Some(tag_state) = tag_state.upgrade() {
                    tag_state.wake(subscriber);
                }
            }
        }
    }
}
