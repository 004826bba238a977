//! Ids that a source gives one by one, asked for by several threads at once.
//!
//! Each request brings one segment, mostly of one id, and takes as long as the network does. Who fetches for a tag says
//! how many it is short of, and is answered with what came in meanwhile; the requests go on while that is written down.
//!
//! All tags share so many requests at a time, and take [`Turns`]. A worker makes one request of whichever tag is next,
//! tells what came in, and stands in line again for as long as there is more to ask. What came in is told by whoever
//! fetches or has made a request, or, where all requests hang, as an answer like any other.

use super::callback::{Batch, FetchRequest, Later};
use super::completion::Completion;
use super::turns::Turns;
use crate::os::mutex::{lock, lock_signal_safe};
use crate::os::{self, PerProcess};
use crate::segments::jobs::{Helper, Job, TimerTask};
use crate::tasks::fetch_pool;
use leafid_core::{Code, Error, Result, Segment};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// While nobody waits, what comes in within so long is written down together.
const GATHERS: Duration = Duration::from_millis(20);
/// So many requests each are begun with: what is told of them asks for more, unless whoever wanted so many has gone.
const AHEAD: u64 = 16;

type Get = dyn Fn(&str) -> Result<Segment> + Send + Sync;

pub(crate) struct Singles {
    /// One request, for a tag.
    get: Box<Get>,
    /// So many ids are in one answer.
    each: u64,
    /// So many requests at the same time, for all tags together.
    most: usize,
    /// A forked child begins with nothing.
    desk: PerProcess<Mutex<Desk>>,
}

/// What is under way in one process.
struct Desk {
    turns: Turns<Arc<str>>,
    /// As [`Singles::most`].
    most: usize,
    /// Threads that make requests, or will.
    workers: usize,
    shelves: BTreeMap<Arc<str>, Shelf>,
}

/// What came in for a tag.
#[derive(Default)]
struct Shelf {
    /// Who is to be told, and from when on it is told even if more is to come.
    reply: Option<(Completion, Instant)>,
    /// When that is seen to, whatever the requests under way do until then.
    look_at: Option<Instant>,
    segments: Vec<Segment>,
    error: Option<Error>,
    /// Requests that failed and that nobody was told of.
    failed: usize,
    /// Requests under way that are counted as failed already.
    stragglers: usize,
    /// The last request failed: one at a time finds out more.
    failing: bool,
    /// Since when requests are under way and none was answered.
    silent_since: Option<Instant>,
}

/// Something to tell, to whom, and after how many requests that failed.
type Told = (Completion, Result<Batch>, usize);

impl Singles {
    pub(crate) fn new(
        each: u64,
        most: usize,
        get: impl Fn(&str) -> Result<Segment> + Send + Sync + 'static,
    ) -> Arc<Singles> {
        Arc::new(Singles { get: Box::new(get), each, most, desk: PerProcess::new() })
    }

    fn begin(self: &Arc<Self>, workers: usize) {
        for _ in 0..workers {
            let whose = Arc::as_ptr(self) as usize;
            fetch_pool::push(Job::Help(whose, Arc::clone(self) as Arc<dyn Helper>));
        }
    }

    /// Has what came in for a tag told at some time, should all requests hang until then.
    fn look_at(self: &Arc<Self>, at: Option<Instant>, tag: &Arc<str>) {
        let Some(at) = at else { return };
        let (singles, tag) = (Arc::downgrade(self), Arc::clone(tag));
        let look = move || {
            if let Some(singles) = singles.upgrade() {
                let (told, look_at) = singles.at(&tag, |desk, tag| desk.look(tag));
                if let Some((reply, answer, requests)) = told {
                    reply.of_requests(requests).hand_over(answer.map(Some));
                }
                singles.look_at(look_at, &tag);
            }
        };
        fetch_pool::schedule(at, TimerTask::Call(Box::new(look)));
    }

    fn tell(told: Option<Told>) {
        if let Some((reply, answer, requests)) = told {
            reply.of_requests(requests).accept(answer.map(Some));
        }
    }

    fn at<R>(&self, tag: &Arc<str>, action: impl FnOnce(&mut Desk, &Arc<str>) -> R) -> R {
        action(&mut lock(self.desk()), tag)
    }

    fn desk(&self) -> &Mutex<Desk> {
        self.desk.get_or_install(|| Mutex::new(Desk::new(self.most)))
    }
}

impl Later for Arc<Singles> {
    /// Has ids fetched; `reply` is answered with the first of them.
    fn fetch(&self, request: FetchRequest, reply: Completion) {
        let short = (request.step.max(1) as u64).div_ceil(self.each);
        let tell_at = Instant::now() + if request.urgent { Duration::ZERO } else { GATHERS };
        let tag = request.tag.as_str().into();
        let (told, look_at, begins) = self.at(&tag, |desk, tag| {
            let shelf = desk.shelves.entry(Arc::clone(tag)).or_default();
            shelf.reply = Some((reply, tell_at));
            shelf.error = None;
            desk.want(tag, short);
            (desk.tell(tag), desk.look_at(tag), desk.more_workers())
        });
        self.begin(begins);
        self.look_at(look_at, &tag);
        Singles::tell(told);
    }

    fn silent_for(&self, tag: &str) -> Option<Duration> {
        let since = |desk: &mut Desk| desk.shelves.get(tag)?.silent_since;
        lock_signal_safe(self.desk.get()?, os::process::generation(), since)?.map(|since| since.elapsed())
    }
}

impl Helper for Singles {
    /// Makes one request of the tag that is next. `ready`: an error where there is no thread to do it on.
    fn help(self: Arc<Self>, ready: Result<()>) -> bool {
        let next = {
            let mut desk = lock(self.desk());
            let next = desk.turns.next();
            match &next {
                Some(tag) => desk.begun(tag),
                None => desk.workers -= 1,
            }
            next
        };
        let Some(tag) = next else { return false };
        let panicked = |_| Err(Error::new(Code::Internal, "a request to a server panicked; report this"));
        let came =
            ready.and_then(|()| catch_unwind(AssertUnwindSafe(|| (self.get)(&tag))).unwrap_or_else(panicked));
        let (told, look_at, goes_on, begins) = self.at(&tag, |desk, tag| {
            desk.turns.ended(tag);
            desk.take_in(tag, came);
            let told = desk.tell(tag);
            let goes_on = desk.workers <= desk.turns.workers();
            desk.workers -= usize::from(!goes_on);
            (told, desk.look_at(tag), goes_on, desk.more_workers())
        });
        self.begin(begins);
        self.look_at(look_at, &tag);
        Singles::tell(told);
        goes_on
    }
}

impl Desk {
    fn new(most: usize) -> Desk {
        Desk { turns: Turns::new(most), most, workers: 0, shelves: BTreeMap::new() }
    }

    /// Has requests made for a tag that is short of so many answers.
    fn want(&mut self, tag: &Arc<str>, short: u64) {
        let shelf = self.shelves.entry(Arc::clone(tag)).or_default();
        // What came in since, or will, is told first.
        let coming = self.turns.under_way(tag) as u64 + shelf.segments.len() as u64;
        let least = u64::from(coming == 0);
        let most = if shelf.failing { 1 } else { self.most };
        let wanted = short.saturating_sub(coming).clamp(least, AHEAD * self.most as u64);
        self.turns.want(tag, wanted, most);
    }

    /// How many threads are to join; they count from here on.
    fn more_workers(&mut self) -> usize {
        let more = self.turns.workers().saturating_sub(self.workers);
        self.workers += more;
        more
    }

    fn begun(&mut self, tag: &Arc<str>) {
        let shelf = self.shelves.entry(Arc::clone(tag)).or_default();
        shelf.silent_since.get_or_insert_with(Instant::now);
    }

    /// Takes what a request that has ended brought.
    fn take_in(&mut self, tag: &Arc<str>, came: Result<Segment>) {
        let under_way = self.turns.under_way(tag);
        let shelf = self.shelves.entry(Arc::clone(tag)).or_default();
        shelf.silent_since = (under_way > 0).then(Instant::now);
        match came {
            Ok(segment) => {
                shelf.segments.push(segment);
                match shelf.stragglers {
                    0 => (shelf.failing, shelf.failed) = (false, 0),
                    _ => shelf.stragglers -= 1,
                }
            }
            Err(error) => {
                shelf.error = Some(error);
                self.turns.want(tag, 0, 1);
                if !std::mem::replace(&mut shelf.failing, true) {
                    // Those under way count too: how they end says nothing new.
                    (shelf.failed, shelf.stragglers) = (1 + under_way, under_way);
                } else if shelf.stragglers > 0 {
                    shelf.stragglers -= 1;
                } else {
                    shelf.failed += 1;
                }
            }
        }
    }

    /// What is to be told now.
    fn tell(&mut self, tag: &Arc<str>) -> Option<Told> {
        let is_all = self.turns.wanted(tag) == 0 && self.turns.under_way(tag) == 0;
        self.shelves.get_mut(tag)?.tell(is_all)
    }

    /// When what came in is to be told, where nothing sees to that yet.
    fn look_at(&mut self, tag: &Arc<str>) -> Option<Instant> {
        self.shelves.get_mut(tag)?.look_at()
    }

    /// It is time to: what is to be told, and when to look again.
    fn look(&mut self, tag: &Arc<str>) -> (Option<Told>, Option<Instant>) {
        if let Some(shelf) = self.shelves.get_mut(tag) {
            shelf.look_at = None;
        }
        (self.tell(tag), self.look_at(tag))
    }
}

impl Shelf {
    /// `is_all`: nothing more comes.
    fn tell(&mut self, is_all: bool) -> Option<Told> {
        let (_, tell_at) = self.reply.as_ref()?;
        let answer = match self.segments.is_empty() {
            false if is_all || self.error.is_some() || *tell_at <= Instant::now() => {
                let segments = Segment::merged(std::mem::take(&mut self.segments)).into();
                Ok(Batch { segments, step: None })
            }
            true => Err(self.error.take()?),
            false => return None,
        };
        let failed = if answer.is_err() { std::mem::take(&mut self.failed) } else { 0 };
        self.reply.take().map(|(reply, _)| (reply, answer, failed))
    }

    fn look_at(&mut self) -> Option<Instant> {
        let (_, tell_at) = self.reply.as_ref().filter(|_| !self.segments.is_empty())?;
        if self.look_at.is_some_and(|at| at > Instant::now()) {
            return None;
        }
        self.look_at = Some(*tell_at);
        self.look_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segments::source::completion::Pending;

    /// A desk with so many requests under way for a tag.
    fn desk(under_way: usize) -> (Desk, Arc<str>) {
        let tag: Arc<str> = "order".into();
        let mut desk = Desk { workers: 4, ..Desk::new(4) };
        desk.turns.want(&tag, 4, 4);
        for _ in 0..under_way {
            desk.turns.next().unwrap();
            desk.begun(&tag);
        }
        (desk, tag)
    }

    fn error() -> Result<Segment> {
        Err(Error::new(Code::SegmentUnavailable, "down"))
    }

    /// A request ends; failures counted, whether one is known to fail, and whether any is silent.
    fn end(desk: &mut Desk, tag: &Arc<str>, came: Result<Segment>) -> (usize, bool, bool) {
        desk.turns.ended(tag);
        desk.take_in(tag, came);
        let shelf = &desk.shelves[tag];
        (shelf.failed, shelf.failing, shelf.silent_since.is_some())
    }

    #[test]
    fn requests_that_are_under_way_as_the_first_one_fails_fail_with_it() {
        let (mut desk, tag) = desk(3);
        assert_eq!(end(&mut desk, &tag, error()), (3, true, true));
        assert_eq!(desk.turns.wanted(&tag), 0, "one at a time finds out more");
        assert_eq!(end(&mut desk, &tag, error()), (3, true, true));
        // One of them that brings ids after all does not say that the source is back.
        assert_eq!(end(&mut desk, &tag, Segment::new(1, 2, 1)), (3, true, false));
        for (came, seen) in [(error(), 4), (error(), 5), (Segment::new(2, 3, 1), 0)] {
            desk.turns.want(&tag, 1, 1);
            desk.turns.next().unwrap();
            assert_eq!(end(&mut desk, &tag, came), (seen, seen > 0, false));
        }
        assert_eq!(desk.shelves[&tag].segments.len(), 2);
    }

    #[test]
    fn as_many_threads_join_as_have_something_to_do() {
        let (mut desk, tag) = desk(1);
        desk.workers = 1;
        // One request is under way, three more may begin.
        assert_eq!((desk.more_workers(), desk.workers), (3, 4));
        assert_eq!((desk.more_workers(), desk.workers), (0, 4));
        desk.turns.want(&tag, 0, 4);
        assert_eq!(desk.more_workers(), 0);
    }

    #[test]
    fn as_many_requests_are_begun_with_as_are_short_and_not_too_many() {
        let (mut desk, tag) = desk(1);
        for (short, wanted) in [(9, 8), (1, 0), (1_000, 64)] {
            desk.want(&tag, short);
            assert_eq!(desk.turns.wanted(&tag), wanted, "{short} with one under way");
        }
        assert_eq!(end(&mut desk, &tag, Segment::new(1, 2, 1)), (0, false, false));
        desk.want(&tag, 9);
        assert_eq!(desk.turns.wanted(&tag), 8, "one came in");
        desk.shelves.clear();
        desk.want(&tag, 0);
        assert_eq!(desk.turns.wanted(&tag), 1, "whoever asks has one made");
    }

    #[test]
    fn a_tag_is_silent_while_a_request_for_it_is_under_way() {
        let singles = Singles::new(1, 4, |_| error());
        let tag: Arc<str> = "order".into();
        assert_eq!(singles.silent_for(&tag), None);
        singles.at(&tag, |desk, tag| desk.begun(tag));
        std::thread::sleep(Duration::from_millis(2));
        assert!(singles.silent_for(&tag) >= Some(Duration::from_millis(2)));
        assert_eq!(singles.silent_for("other"), None);
    }

    #[test]
    fn what_came_in_is_told_once_it_is_all_or_time_to_and_looked_at_once_until_then() {
        let builder = crate::SegmentsBuilder::default().persist(false).name("told").fetch(|_| Ok(None));
        let ids = builder.open().unwrap();
        let (fetcher, tag_state) = ids.tag("order").unwrap().process().unwrap();
        let reply = || {
            let (fetcher, tag_state) = (Arc::clone(&fetcher), Arc::clone(&tag_state));
            Completion::new(Pending { fetcher, tag_state, after: 0, wanted: 0, requests: 1 })
        };
        let (hour, now) = (Duration::from_secs(3_600), Instant::now());
        let (mut desk, tag) = desk(2);
        let one = |desk: &mut Desk, tell_at| {
            end(desk, &tag, Segment::new(1, 2, 1));
            desk.shelves.get_mut(&tag).unwrap().reply = Some((reply(), tell_at));
            let told = desk.tell(&tag).map(|(_, answer, _)| answer.unwrap().segments.len());
            (told, desk.look_at(&tag))
        };
        desk.turns.want(&tag, 0, 4);
        assert_eq!(one(&mut desk, now + hour), (None, Some(now + hour)), "one more is under way");
        assert_eq!(desk.look_at(&tag), None, "that is seen to");
        assert_eq!(desk.look(&tag).1, Some(now + hour), "it was not time to");
        desk.turns.want(&tag, 1, 4);
        assert_eq!(one(&mut desk, now + hour), (None, None), "one more is wanted");
        desk.turns.next().unwrap();
        desk.turns.want(&tag, 0, 4);
        assert_eq!(one(&mut desk, now + hour), (Some(3), None), "that was all");
        desk.turns.want(&tag, 2, 4);
        desk.turns.next().unwrap();
        assert_eq!(one(&mut desk, now), (Some(1), None), "it is time to");
    }
}
