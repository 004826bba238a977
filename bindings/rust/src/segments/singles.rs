//! Ids that a source gives one by one, asked for by several threads at once.
//!
//! Each request brings one segment, mostly of one id, and takes as long as the network does. Who fetches for a tag says
//! how many it is short of, and is answered with what came in meanwhile; the requests go on while that is written down.

use super::pool::{self, Job, Timed};
use super::queue::merged;
use super::reply::Reply;
use super::source::{Batch, FetchRequest};
use crate::fork::PerProcess;
use crate::sync::lock;
use leafid_core::{Code, Error, Result, Segment};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// While nobody waits, what comes in within so long is written down together.
const GATHERS: Duration = Duration::from_millis(20);
/// So many requests each are begun with: what is told of them asks for more, unless whoever wanted so many has gone.
const AHEAD: u64 = 16;
/// A thread that has worked for one tag for so long lets others go first.
const TURN: Duration = Duration::from_millis(10);

type Get = dyn Fn(&str) -> Result<Segment> + Send + Sync;

pub(crate) struct Singles {
    /// One request, for a tag.
    get: Box<Get>,
    /// So many ids are in one answer.
    each: u64,
    /// So many requests for one tag at the same time.
    most: usize,
    /// A forked child begins with nothing.
    shelves: PerProcess<Mutex<BTreeMap<Box<str>, Shelf>>>,
}

/// What is under way for a tag, and what came in.
#[derive(Default)]
struct Shelf {
    /// Who is to be told, and from when on it is told even if more is to come.
    reply: Option<(Reply, Instant)>,
    /// When that is seen to, whatever the requests under way do until then.
    look_at: Option<Instant>,
    segments: Vec<Segment>,
    error: Option<Error>,
    /// Requests that failed and that nobody was told of.
    failed: usize,
    /// Requests under way that are counted as failed already.
    stragglers: u64,
    /// The last request failed: one at a time finds out more.
    failing: bool,
    /// Requests to be made, and those under way.
    wanted: u64,
    under_way: u64,
    /// Threads that make them, or will.
    workers: usize,
}

impl Singles {
    pub(crate) fn new(
        each: u64,
        most: usize,
        get: impl Fn(&str) -> Result<Segment> + Send + Sync + 'static,
    ) -> Arc<Singles> {
        Arc::new(Singles { get: Box::new(get), each, most, shelves: PerProcess::new() })
    }

    /// Has ids fetched; `reply` is answered with the first of them.
    pub(crate) fn fetch(self: &Arc<Self>, request: FetchRequest, reply: Reply) {
        let short = (request.step.max(1) as u64).div_ceil(self.each);
        let begins = self.with(&request.tag, |shelf| {
            let tell_at = Instant::now() + if request.urgent { Duration::ZERO } else { GATHERS };
            shelf.reply = Some((reply, tell_at));
            shelf.error = None;
            // What came in since is told first.
            let coming = shelf.under_way + shelf.segments.len() as u64;
            shelf.wanted = short.saturating_sub(coming).clamp(1, AHEAD * self.most as u64);
            let more = shelf.more_workers(self.most);
            // Somebody has to tell what is there already.
            let tells = usize::from(more == 0 && !shelf.segments.is_empty());
            shelf.workers += tells;
            more + tells
        });
        self.begin(begins, &request.tag.as_str().into());
    }

    fn begin(self: &Arc<Self>, workers: usize, tag: &Arc<str>) {
        for _ in 0..workers {
            let (singles, tag, whose) = (Arc::clone(self), Arc::clone(tag), Arc::as_ptr(self) as usize);
            pool::push(Job::Help(whose, Box::new(move |ready: Result<()>| singles.work(tag, ready))));
        }
    }

    /// Makes requests for a tag until there are enough. `ready`: an error where there is no thread to do it on.
    fn work(self: Arc<Self>, tag: Arc<str>, ready: Result<()>) {
        let begun = Instant::now();
        let mut came = ready.map(|()| None);
        let mut asked = false;
        loop {
            let (told, look_at, turn, more) = self.with(&tag, |shelf| {
                shelf.under_way -= u64::from(asked);
                shelf.take_in(came);
                let (told, look_at) = (shelf.tell(), shelf.look_at());
                (told, look_at, shelf.turn(begun, self.most), shelf.more_workers(self.most))
            });
            self.begin(more, &tag);
            if let Some(at) = look_at {
                self.look_at(at, &tag);
            }
            if let Some((reply, answer, requests)) = told {
                reply.of_requests(requests).accept(answer.map(Some));
            }
            match turn {
                Turn::Ask => {
                    let panicked =
                        |_| Err(Error::new(Code::Internal, "a request to a server panicked; report this"));
                    let get = AssertUnwindSafe(|| (self.get)(&tag).map(Some));
                    (came, asked) = (catch_unwind(get).unwrap_or_else(panicked), true);
                }
                Turn::Later => return self.begin(1, &tag),
                Turn::Over => return,
            }
        }
    }

    /// Has what came in for a tag told at some time, should all requests hang until then.
    fn look_at(self: &Arc<Self>, at: Instant, tag: &Arc<str>) {
        let (singles, tag) = (Arc::downgrade(self), Arc::clone(tag));
        let look = move || {
            if let Some(singles) = singles.upgrade() {
                singles.look(&tag);
            }
        };
        pool::at(at, Timed::Call(Box::new(look)));
    }

    fn look(self: &Arc<Self>, tag: &Arc<str>) {
        let (tells, look_at) = self.with(tag, Shelf::look);
        self.begin(tells, tag);
        if let Some(at) = look_at {
            self.look_at(at, tag);
        }
    }

    fn with<R>(&self, tag: &str, deed: impl FnOnce(&mut Shelf) -> R) -> R {
        let shelves = self.shelves.get_or_install(Mutex::default);
        let mut shelves = lock(shelves);
        let mut shelf = shelves.remove(tag).unwrap_or_default();
        let done = deed(&mut shelf);
        if shelf.workers > 0 || shelf.failing || shelf.reply.is_some() || !shelf.segments.is_empty() {
            shelves.insert(tag.into(), shelf);
        }
        done
    }
}

/// What a thread does next.
enum Turn {
    Ask,
    /// The same, after others.
    Later,
    Over,
}

impl Shelf {
    fn take_in(&mut self, came: Result<Option<Segment>>) {
        match came {
            Ok(None) => {}
            Ok(Some(segment)) => {
                self.segments.push(segment);
                match self.stragglers {
                    0 => (self.failing, self.failed) = (false, 0),
                    _ => self.stragglers -= 1,
                }
            }
            Err(error) => {
                (self.error, self.wanted) = (Some(error), 0);
                if !std::mem::replace(&mut self.failing, true) {
                    // Those under way count too: how they end says nothing new.
                    (self.failed, self.stragglers) = (1 + self.under_way as usize, self.under_way);
                } else if self.stragglers > 0 {
                    self.stragglers -= 1;
                } else {
                    self.failed += 1;
                }
            }
        }
    }

    /// Requests at the same time.
    fn most(&self, most: usize) -> usize {
        if self.failing { 1 } else { most }
    }

    /// How many threads are to join; they count from here on.
    fn more_workers(&mut self, most: usize) -> usize {
        let more = self.most(most).min((self.wanted + self.under_way) as usize).saturating_sub(self.workers);
        self.workers += more;
        more
    }

    /// What is to be told now, to whom, and after how many requests that failed.
    fn tell(&mut self) -> Option<(Reply, Result<Batch>, usize)> {
        let (_, tell_at) = self.reply.as_ref()?;
        let is_all = self.wanted + self.under_way == 0;
        let answer = match self.segments.is_empty() {
            false if is_all || self.error.is_some() || *tell_at <= Instant::now() => {
                let segments = merged(std::mem::take(&mut self.segments)).into();
                Ok(Batch { segments, step: None })
            }
            true => Err(self.error.take()?),
            false => return None,
        };
        let failed = if answer.is_err() { std::mem::take(&mut self.failed) } else { 0 };
        self.reply.take().map(|(reply, _)| (reply, answer, failed))
    }

    /// When what came in is to be told, where nothing sees to that yet.
    fn look_at(&mut self) -> Option<Instant> {
        let (_, tell_at) = self.reply.as_ref().filter(|_| !self.segments.is_empty())?;
        if self.look_at.is_some_and(|at| at > Instant::now()) {
            return None;
        }
        self.look_at = Some(*tell_at);
        self.look_at
    }

    /// How many threads are to tell what came in, or when to look again.
    fn look(&mut self) -> (usize, Option<Instant>) {
        self.look_at = None;
        match &self.reply {
            Some((_, tell_at)) if !self.segments.is_empty() && *tell_at <= Instant::now() => {
                self.workers += 1;
                (1, None)
            }
            _ => (0, self.look_at()),
        }
    }

    fn turn(&mut self, begun: Instant, most: usize) -> Turn {
        if self.wanted == 0 || self.under_way >= self.most(most) as u64 {
            self.workers = self.workers.saturating_sub(1);
            return Turn::Over;
        }
        if begun.elapsed() >= TURN {
            return Turn::Later;
        }
        (self.wanted, self.under_way) = (self.wanted - 1, self.under_way + 1);
        Turn::Ask
    }
}
