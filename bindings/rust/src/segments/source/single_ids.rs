//! The threads of a source that returns ids one by one. Several threads send requests concurrently.
//!
//! Each request returns one segment, mostly of one id, and takes one round trip. A fetch states how many ids the tag
//! needs, and gets those that arrived meanwhile. The requests continue while these ids are stored.
//!
//! All tags share a number of concurrent requests, and take turns. A worker sends one request for the next tag, and is
//! queued again while more ids are wanted. [`SingleIds`] makes the decisions.

use super::callback::PoolSource;
use super::completion::Completion;
use super::fetch_request::{Batch, FetchRequest};
use crate::os::mutex::{lock, lock_signal_safe};
use crate::os::{self, PerProcess};
use crate::tasks::fetch_pool::{self, Job, STUCK};
use leafid_core::{Code, Error, Result, Segment, SingleIds, SingleIdsActions, SingleIdsAnswer};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

type Get = dyn Fn(&str) -> Result<Segment> + Send + Sync;

pub(crate) struct SingleIdSource {
    /// Sends one request for a tag.
    get: Box<Get>,
    /// The number of ids in one response.
    each: u64,
    /// The number of concurrent requests, for all tags together.
    most: usize,
    /// A forked child starts with none.
    ids: PerProcess<Mutex<SingleIds<Arc<str>, Completion>>>,
    origin: Instant,
}

impl SingleIdSource {
    pub(crate) fn new(
        each: u64,
        most: usize,
        get: impl Fn(&str) -> Result<Segment> + Send + Sync + 'static,
    ) -> Arc<SingleIdSource> {
        Arc::new(SingleIdSource {
            get: Box::new(get),
            each,
            most,
            ids: PerProcess::new(),
            origin: Instant::now(),
        })
    }

    fn begin(self: &Arc<Self>, workers: usize) {
        (0..workers).for_each(|_| fetch_pool::push(Arc::clone(self).worker()));
    }

    /// Sends one request for the next tag, and is queued again while more ids are wanted.
    fn worker(self: Arc<Self>) -> Job {
        let owner = Arc::as_ptr(&self) as usize;
        Job::new(owner, STUCK, move |ready| self.request_next(ready).then(|| self.worker()))
    }

    /// Sends one request for the next tag; returns whether more ids are wanted. `ready` is an error if there is no
    /// thread for it.
    fn request_next(self: &Arc<Self>, ready: Result<()>) -> bool {
        let Some(tag) = self.ids(SingleIds::begin) else { return false };
        let panicked = |_| Err(Error::new(Code::Internal, "a request to a server panicked; report this"));
        let came =
            ready.and_then(|()| catch_unwind(AssertUnwindSafe(|| (self.get)(&tag))).unwrap_or_else(panicked));
        let (actions, continues) = self.ids(|ids, now| ids.ended(&tag, came, now));
        self.act(&tag, actions, Completion::accept);
        continues
    }

    /// Starts workers, sets the timer of a tag and completes its fetch with `answer`.
    fn act(
        self: &Arc<Self>,
        tag: &Arc<str>,
        actions: SingleIdsActions<Completion>,
        answer: impl FnOnce(Completion, Result<Option<Batch>>),
    ) {
        self.begin(actions.workers);
        if let Some(at) = actions.wake_at {
            let (source, tag) = (Arc::downgrade(self), Arc::clone(tag));
            let timer = move || {
                if let Some(source) = source.upgrade() {
                    let actions = source.ids(|ids, now| ids.timer(&tag, now));
                    source.act(&tag, actions, Completion::hand_over);
                }
            };
            fetch_pool::schedule(self.origin + at, Box::new(timer));
        }
        if let Some(SingleIdsAnswer { reply, result, requests }) = actions.answer {
            let batch = result.map(|segments| Some(Batch { segments: segments.into(), step: None }));
            answer(reply.of_requests(requests), batch);
        }
    }

    fn ids<R>(&self, action: impl FnOnce(&mut SingleIds<Arc<str>, Completion>, Duration) -> R) -> R {
        let ids = self.ids.get_or_install(|| Mutex::new(SingleIds::new(self.most)));
        action(&mut lock(ids), self.origin.elapsed())
    }
}

impl PoolSource for Arc<SingleIdSource> {
    /// Fetches ids, and completes `reply` with the first of them.
    fn fetch(&self, request: FetchRequest, reply: Completion) {
        let short = (request.step.max(1) as u64).div_ceil(self.each);
        let tag = request.tag.as_str().into();
        let actions = self.ids(|ids, now| ids.fetch(&tag, short, request.urgent, reply, now));
        self.act(&tag, actions, Completion::accept);
    }

    fn silent_for(&self, tag: &str) -> Option<Duration> {
        let since = |ids: &mut SingleIds<Arc<str>, Completion>| ids.silent_since(tag);
        let since = lock_signal_safe(self.ids.get()?, os::process::generation(), since)??;
        Some(self.origin.elapsed().saturating_sub(since))
    }
}
