//! Each model says what it claims. tests/mutations/breaks-threads.toml says which model must notice what.
//!
//! The source gives ranges of two ids unless said otherwise, and none twice. A call that takes no time waited for no
//! timer: whatever it waited for woke it.

use crate::segments::handle::Segments;
use crate::segments::settings::SegmentsSettings;
use crate::segments::source::callback::SegmentSource;
use crate::segments::source::completion::Completion;
use crate::segments::source::fetch_request::{FetchRequest, Fetched};
use crate::segments::source::host_source::HostSource;
use crate::segments::tag::Tag;
use crate::tasks::fetch_pool;
use crate::world::{self, now, wrong};
use leafid_core::options::{Prewarm, SupplyFrom, SupplyOptions};
use leafid_core::supply;
use leafid_core::{Code, Error, IdOrder, Result, Segment};
use shuttle::future::block_on;
use shuttle::sync::{Condvar, Mutex};
use shuttle::thread::{JoinHandle, spawn};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

const ZERO: Duration = Duration::ZERO;
const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}
/// How long a waiting call sleeps at most before it looks by itself.
const SLICE: Duration = ms(50);
/// How long a call waits here, unless said otherwise.
const TIMEOUT: Duration = ms(2_000);
/// After this threads without work go.
const IDLE: Duration = ms(10_000);

/// Answers each question of the pool's threads, and counts them.
#[derive(Default)]
struct Source {
    state: Mutex<Asked>,
    opened: Condvar,
}

#[derive(Default)]
struct Asked {
    /// The next id, and how many were given, by tag.
    given: BTreeMap<String, i64>,
    under_way: BTreeMap<String, usize>,
    at_work: usize,
    most_at_work: usize,
    asked: usize,
    /// Who hangs continues.
    is_open: bool,
}

impl Source {
    /// Asked for a tag; `action` says what comes of it, by how often the source was asked before.
    fn ask(
        &self,
        tag: &str,
        action: impl FnOnce(&Source, usize) -> Result<Option<i64>>,
    ) -> Result<Option<Fetched>> {
        let before = {
            let mut asked = self.state.lock().unwrap();
            let under_way = asked.under_way.entry(tag.into()).or_default();
            *under_way += 1;
            if *under_way > 1 {
                wrong(format!("the source was asked twice at once for the tag {tag}"));
            }
            asked.at_work += 1;
            asked.most_at_work = asked.most_at_work.max(asked.at_work);
            asked.asked += 1;
            asked.asked - 1
        };
        let count = action(self, before);
        let mut asked = self.state.lock().unwrap();
        asked.at_work -= 1;
        *asked.under_way.get_mut(tag).unwrap() -= 1;
        let Some(count) = count? else { return Ok(None) };
        let given = asked.given.entry(tag.into()).or_default();
        let start = *given + 1;
        *given += count;
        let segment = Segment::new(start, start + count, 1)?;
        Ok(Some(segment.into()))
    }

    /// Hangs until [`Source::open`].
    fn hang(&self) {
        let mut asked = self.state.lock().unwrap();
        while !asked.is_open {
            asked = self.opened.wait(asked).unwrap();
        }
    }

    fn open(&self) {
        self.state.lock().unwrap().is_open = true;
        self.opened.notify_all();
    }

    fn asked(&self) -> usize {
        self.state.lock().unwrap().asked
    }
}

fn options(source: SegmentSource, threads: usize) -> SegmentsSettings {
    let options = SupplyOptions {
        name: "default".into(),
        persist: false,
        state_dir: None,
        shared_fs: false,
        shared_group: false,
        from: SupplyFrom::Callback,
        any_tag: false,
        order: IdOrder::Ascending,
        step: Some(2),
        adaptive: false,
        prefetch: 10,
        timeout: TIMEOUT,
        keep_unused: false,
        prewarm: Prewarm::None,
    };
    SegmentsSettings {
        options,
        directory: None,
        source: supply::Source::Callback { is_deferred: source.is_deferred() },
        host: HostSource::Callback(source),
        max_wait: None,
        threads,
    }
}

/// Opened over a source of which each question has this outcome: this many ids, none for a tag that it does not know.
fn opened(
    action: impl Fn(&Source, &str, usize) -> Result<Option<i64>> + Send + Sync + 'static,
) -> (Arc<Source>, Segments) {
    opened_for(1, action)
}

/// With this many `connections`.
fn opened_for(
    threads: usize,
    action: impl Fn(&Source, &str, usize) -> Result<Option<i64>> + Send + Sync + 'static,
) -> (Arc<Source>, Segments) {
    let source = Arc::new(Source::default());
    let asked = Arc::clone(&source);
    let ask = move |request: &FetchRequest| {
        Ok(asked.ask(&request.tag, |source, before| action(source, &request.tag, before))?)
    };
    let segments = Segments::open(options(SegmentSource::callback(ask), threads));
    (source, segments.expect("opened"))
}

fn unavailable() -> Error {
    Error::new(Code::SegmentUnavailable, "it failed")
}

/// How a thread asks for ids.
#[derive(Clone, Copy)]
enum By {
    Next,
    Take(usize),
    Future,
    Futures(usize),
}

impl By {
    fn ids(self, tag: &Tag) -> Result<Vec<i64>> {
        match self {
            By::Next => tag.next().map(|id| vec![id]),
            By::Take(n) => tag.take(n),
            By::Future => block_on(tag.next_async()).map(|id| vec![id]),
            By::Futures(n) => block_on(tag.take_async(n)),
        }
    }
}

/// A thread that asks in these ways, one after the other, and until the first error.
fn asking(tag: &Tag, ways: &'static [By]) -> JoinHandle<(Vec<i64>, Option<Error>)> {
    let tag = tag.clone();
    spawn(move || {
        let mut all = Vec::new();
        for by in ways {
            match by.ids(&tag) {
                Ok(ids) => all.extend(ids),
                Err(error) => return (all, Some(error)),
            }
        }
        (all, None)
    })
}

fn join<T>(thread: JoinHandle<T>) -> T {
    let ended = thread.join().expect("no panic");
    world::check();
    ended
}

/// Of calls that all ended well; where threads are slow their time may be over before.
fn ids_of((ids, error): (Vec<i64>, Option<Error>)) -> Vec<i64> {
    assert!(error.as_ref().is_none_or(may_be_late), "a call failed: {error:?}");
    // What such a call puts back is issued later.
    let rise = ids.windows(2).all(|pair| pair[0] < pair[1]);
    assert!(world::is_slow() || rise, "a thread's ids do not increase: {ids:?}");
    ids
}

fn may_be_late(error: &Error) -> bool {
    world::is_slow() && error.code() == Code::SegmentUnavailable
}

/// No id twice, and none that was not given; those that were and are not issued are still there.
fn whole(source: &Source, tag: &Tag, mut ids: Vec<i64>) {
    ids.sort_unstable();
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "an id came twice: {ids:?}");
    source.open();
    while tag.stats().expect("open").fetching {
        world::thread::sleep(ms(1));
    }
    let left = tag.stats().expect("open").left as i64;
    let given = source.state.lock().unwrap().given.get(tag.name()).copied().unwrap_or_default();
    assert!(ids.iter().all(|id| (1..=given).contains(id)), "an id that was not given: {ids:?}");
    assert!(
        given == ids.len() as i64 + left,
        "ids were lost: {given} given, {} issued, {left} left",
        ids.len()
    );
}

/// Where no thread is slow.
fn within(bound: Duration) {
    assert!(world::is_slow() || now() <= bound, "it took {:?}: a wake-up was lost", now());
}

/// Closes, and sees that no thread is left but for those that hang, and that those end when they hang no longer.
fn close(source: &Source, segments: Segments) {
    let before = now();
    segments.close().expect("closed");
    source.open();
    loop {
        let left = (world::alive(c"leafid-fetch"), world::alive(c"leafid-time"));
        if left == (0, 0) {
            break;
        }
        assert!(
            world::is_slow() || now() < before + ms(3_000),
            "threads outlive the close: {left:?}, those that fetch and the timer"
        );
        world::thread::sleep(ms(1));
    }
}

/// Claim: three threads that take ids of one tag one by one, several at once, and as futures, while its segments change
/// over and are fetched, get each id once and each thread's increase. None waits longer than the source does. One fetch is
/// under way at a time. A close ends all threads.
pub fn threads_share_a_tag() {
    let (source, segments) = opened(|_, _, _| Ok(Some(2)));
    let tag = segments.tag("t").unwrap();
    let threads = [
        asking(&tag, &[By::Next, By::Next, By::Next]),
        asking(&tag, &[By::Take(3)]),
        asking(&tag, &[By::Future, By::Futures(2)]),
    ];
    let ids = threads.into_iter().flat_map(|thread| ids_of(join(thread))).collect::<Vec<_>>();
    within(ZERO);
    assert!(world::is_slow() || ids.len() == 9);
    whole(&source, &tag, ids);
    close(&source, segments);
}

/// Claim: all that wait for a fetch that is refused for certain get the error at once, each once, and no caller waits for
/// ever.
pub fn a_refusal_is_told_to_all() {
    let (source, segments) = opened(|_, _, _| Ok(None));
    let tag = segments.tag("t").unwrap();
    let threads = [asking(&tag, &[By::Next]), asking(&tag, &[By::Take(3)]), asking(&tag, &[By::Future])];
    for thread in threads {
        let (ids, error) = join(thread);
        assert_eq!((ids, error.map(|error| error.code())), (vec![], Some(Code::UnknownTag)), "no error");
    }
    within(ZERO);
    close(&source, segments);
}

/// Claim: after a fetch that failed the source is asked again once its rest of 200 ms is over, and all that wait have
/// their ids then, futures too, whom nothing else would wake.
pub fn what_failed_is_tried_again() {
    let (source, segments) =
        opened(|_, _, before| if before == 0 { Err(unavailable()) } else { Ok(Some(2)) });
    let tag = segments.tag("t").unwrap();
    let threads = [asking(&tag, &[By::Future]), asking(&tag, &[By::Futures(2)])];
    let ids = threads.into_iter().flat_map(|thread| ids_of(join(thread))).collect::<Vec<_>>();
    within(ms(201));
    assert!(now() >= ms(200), "it was asked too early");
    whole(&source, &tag, ids);
    close(&source, segments);
}

/// Claim: whoever waits as its tag is closed, while a fetch hangs, gets an error at once.
pub fn closed_while_they_wait() {
    let (source, segments) = opened(|source, _, _| {
        source.hang();
        Ok(Some(2))
    });
    let tag = segments.tag("t").unwrap();
    let threads = [asking(&tag, &[By::Next]), asking(&tag, &[By::Future])];
    let closing = {
        let segments = segments.clone();
        spawn(move || segments.close().expect("closed"))
    };
    for thread in threads {
        let (ids, error) = join(thread);
        let told = error.is_some_and(|error| error.code() == Code::Closed || may_be_late(&error));
        assert!(ids.is_empty() && told, "no error");
    }
    within(SLICE - ms(1));
    join(closing);
    close(&source, segments);
}

/// Claim: a close beside calls that have ids at hand ends them with ids or with `closed`, and no id comes twice.
pub fn closed_while_they_take() {
    let (source, segments) = opened(|_, _, _| Ok(Some(2)));
    let tag = segments.tag("t").unwrap();
    let threads = [asking(&tag, &[By::Next, By::Next]), asking(&tag, &[By::Futures(3)])];
    let closing = {
        let segments = segments.clone();
        spawn(move || segments.close().expect("closed"))
    };
    let mut all = Vec::new();
    for thread in threads {
        let (ids, error) = join(thread);
        let may_be = |error: &Error| error.code() == Code::Closed || may_be_late(error);
        assert!(error.as_ref().is_none_or(may_be), "{error:?}");
        all.extend(ids);
    }
    within(SLICE - ms(1));
    all.sort_unstable();
    assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "an id came twice: {all:?}");
    join(closing);
    assert_eq!(tag.next().map_err(|error| error.code()), Err(Code::Closed), "an id after the close");
    close(&source, segments);
}

/// Claim: calls whose source hangs end when their time is over, a future too, and not before.
pub fn a_source_that_hangs() {
    let (source, segments) = opened(|source, _, _| {
        source.hang();
        Ok(Some(2))
    });
    let tag = segments.tag("t").unwrap();
    let threads = [asking(&tag, &[By::Take(2)]), asking(&tag, &[By::Future]), asking(&tag, &[By::Future])];
    for thread in threads {
        let (ids, error) = join(thread);
        assert_eq!(
            (ids, error.map(|error| error.code())),
            (vec![], Some(Code::SegmentUnavailable)),
            "no error"
        );
        assert!(now() >= TIMEOUT, "too early");
    }
    within(TIMEOUT);
    close(&source, segments);
}

/// Claim: a call that is given up puts back what it has, and who waits for ids has those at once.
pub fn what_is_put_back_wakes_who_waits() {
    let (source, segments) = opened(|source, _, before| {
        if before > 0 {
            source.hang();
        }
        Ok(Some(4))
    });
    let tag = segments.tag("t").unwrap();
    let gives_up = {
        let tag = tag.clone();
        spawn(move || {
            let mut pending = tag.pending_take(6, None).unwrap();
            // Until it has some, or others have them.
            while tag.stats().unwrap().fetches == 0 {
                pending.poll(|| ()).expect("no error");
                world::thread::sleep(ms(1));
            }
            pending.poll(|| ()).expect("no error");
        })
    };
    let threads = [asking(&tag, &[By::Futures(2)]), asking(&tag, &[By::Take(2)])];
    let ids = threads.into_iter().flat_map(|thread| ids_of(join(thread))).collect::<Vec<_>>();
    within(ms(20));
    join(gives_up);
    whole(&source, &tag, ids);
    close(&source, segments);
}

/// Claim: where the source is slow, and others take all that it gives, a call for many ids is served in the end; no id
/// comes twice or is lost, also when such a call is given up.
pub fn one_that_waits_for_long() {
    let (source, segments) = opened(|_, _, _| {
        world::thread::sleep(ms(60));
        Ok(Some(2))
    });
    let tag = segments.tag("t").unwrap();
    let given_up = {
        let tag = tag.clone();
        spawn(move || {
            let mut pending = tag.pending_take(5, None).unwrap();
            for _ in 0..4 {
                match pending.poll(|| ()) {
                    Ok(true) => break,
                    Ok(false) => world::thread::sleep(ms(55)),
                    Err(error) => {
                        assert!(may_be_late(&error), "{error:?}");
                        break;
                    }
                }
            }
        })
    };
    let threads = [asking(&tag, &[By::Next; 4]), asking(&tag, &[By::Take(5)])];
    let mut ids = Vec::new();
    for thread in threads {
        let (theirs, error) = join(thread);
        assert!(error.as_ref().is_none_or(may_be_late), "a call failed: {error:?}");
        ids.extend(theirs);
    }
    join(given_up);
    whole(&source, &tag, ids);
    close(&source, segments);
}

/// Claim: an answer that comes later, from a thread of the user's, reaches who waits at once, also where it is an error,
/// or none.
pub fn answers_that_come_later() {
    let asked = Arc::new(Source::default());
    let source = Arc::clone(&asked);
    let ask = move |request: FetchRequest, reply: Completion| {
        let source = Arc::clone(&source);
        spawn(move || {
            let mut dropped = false;
            let answer = source.ask(&request.tag, |_, before| {
                dropped = before == 0;
                Ok(Some(2))
            });
            if !dropped {
                reply.answer(Ok(answer.unwrap()));
            }
        });
    };
    let segments = Segments::open(options(SegmentSource::deferred(ask), 1)).unwrap();
    let tag = segments.tag("t").unwrap();
    let threads = [asking(&tag, &[By::Future, By::Future]), asking(&tag, &[By::Futures(3)])];
    let mut ids = Vec::new();
    for thread in threads {
        ids.extend(ids_of(join(thread)));
    }
    within(ms(201));
    // The first two were never answered.
    assert!(ids.iter().all(|id| *id > 2), "an id that was not given: {ids:?}");
    whole(&asked, &tag, {
        ids.extend([1, 2]);
        ids
    });
    close(&asked, segments);
}

/// Claim: of one source as many are asked at once as there are `connections`, or four, and not more; every tag has its ids
/// as soon as it may.
fn as_many_as_may_be(connections: usize, most: usize) {
    const TAGS: [&str; 9] = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
    let (source, segments) = opened_for(connections, |_, _, _| {
        world::thread::sleep(ms(1));
        Ok(Some(2))
    });
    let threads: Vec<_> =
        TAGS.iter().map(|name| asking(&segments.tag(name).unwrap(), &[By::Future])).collect();
    threads.into_iter().for_each(|thread| assert_eq!(ids_of(join(thread)), [1]));
    within(ms(TAGS.len().div_ceil(most) as u64));
    let at_work = source.state.lock().unwrap().most_at_work;
    assert!(at_work <= most, "{at_work} at work");
    let alive = world::alive(c"leafid-fetch");
    assert!(alive <= most + 4, "{alive} threads");
    close(&source, segments);
}

pub fn four_at_work() {
    as_many_as_may_be(1, 4);
}

/// Claim: where a source hangs, another one's ids come at once; further tags of the first have theirs once those at work
/// count as held up; and a close ends all.
pub fn one_source_hangs() {
    let (hangs, first) = opened(|source, tag, _| {
        if tag != "e" {
            source.hang();
        }
        Ok(Some(2))
    });
    let (sound, second) = opened(|_, _, _| Ok(Some(2)));
    let waiting: Vec<_> =
        ["a", "b", "c", "d"].iter().map(|name| asking(&first.tag(name).unwrap(), &[By::Future])).collect();
    let fifth = asking(&first.tag("e").unwrap(), &[By::Future]);
    let other = second.tag("x").unwrap();
    let quick = asking(&other, &[By::Future, By::Futures(3)]);
    let ids = ids_of(join(quick));
    within(ZERO);
    whole(&sound, &other, ids);
    assert_eq!(ids_of(join(fifth)), [1]);
    within(ms(250));
    hangs.open();
    waiting.into_iter().for_each(|thread| assert_eq!(ids_of(join(thread)), [1]));
    within(ms(250));
    first.close().expect("closed");
    close(&sound, second);
}

/// Claim: a job that is left at the very moment that idle threads go is done at once all the same.
pub fn threads_go_as_a_job_comes() {
    let (source, segments) = opened(|_, _, _| Ok(Some(1)));
    let tag = segments.tag("t").unwrap();
    let mut ids = ids_of(join(asking(&tag, &[By::Future])));
    let began = now();
    world::thread::sleep(IDLE);
    ids.extend(ids_of(join(asking(&tag, &[By::Futures(3)]))));
    within(began + IDLE);
    whole(&source, &tag, ids);
    close(&source, segments);
}

/// Claim: threads that are ended for a fork, while calls wait, take no job along: calls of the parent continue at once, and
/// what two such forks leave is one pool that works.
pub fn forks_in_the_midst() {
    let (source, segments) = opened(|_, _, _| Ok(Some(2)));
    let tag = segments.tag("t").unwrap();
    let forks = [(); 2].map(|()| {
        spawn(|| {
            (fetch_pool::FORK_HOOKS.before)(Duration::from_millis(100));
            (fetch_pool::FORK_HOOKS.in_parent)();
        })
    });
    let threads = [asking(&tag, &[By::Future, By::Futures(2)]), asking(&tag, &[By::Futures(3)])];
    let mut ids = Vec::new();
    for thread in threads {
        ids.extend(ids_of(join(thread)));
    }
    forks.map(join);
    within(ms(100));
    whole(&source, &tag, ids);
    close(&source, segments);
}

/// Claim: tags that are closed by one thread while another opens segments again leave these with threads that work.
pub fn one_closes_as_another_opens() {
    let (source, segments) = opened(|_, _, _| Ok(Some(2)));
    let tag = segments.tag("t").unwrap();
    ids_of(join(asking(&tag, &[By::Future])));
    let closing = spawn(move || segments.close().expect("closed"));
    let (other, opened) = opened(|_, _, _| Ok(Some(2)));
    let tag = opened.tag("t").unwrap();
    let ids = ids_of(join(asking(&tag, &[By::Future, By::Futures(3)])));
    join(closing);
    within(ms(100));
    whole(&other, &tag, ids);
    close(&other, opened);
}
