//! Tags of one source beside each other, counted in round trips: it answers when the test says so.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;
#[path = "common/leaf.rs"]
mod leaf;

use common::{HANG, unique_name};
use leaf::Leaf;
use leafid::{FetchRequest, Protocol, Segments, SegmentsBuilder, Tag};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

const CONNECTIONS: usize = 4;

/// One test at a time: what is held of one keeps threads of the process from the others.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn builder(leaf: &Leaf) -> SegmentsBuilder {
    let builder = Segments::builder().persist(false).name(unique_name()).servers([&leaf.url]);
    builder.timeout_ms(60_000).request_timeout_ms(60_000).connect_timeout_ms(60_000)
}

/// Runs `test` while this many tags want more ids. Each needs a stock of 1,000 ids and so plans 64 requests
/// at once, however slowly the threads of the process run.
fn beside(busy: usize, leaf: &Leaf, test: impl FnOnce(&Segments)) {
    let ids = builder(leaf).adaptive(false).step(1_000).open().unwrap();
    for number in 0..busy {
        assert_eq!(ids.tag(&format!("busy{number}")).unwrap().try_next().unwrap(), None);
    }
    // Until each has begun, and some more.
    while leaf.answered().len() < busy {
        leaf.round_trip(CONNECTIONS);
    }
    (0..5).for_each(|_| drop(leaf.round_trip(CONNECTIONS)));
    let done = catch_unwind(AssertUnwindSafe(|| test(&ids)));
    leaf.release_all();
    done.unwrap();
    assert!(leaf.most_at_once() <= CONNECTIONS, "{} at once", leaf.most_at_once());
}

#[test]
fn the_first_id_of_a_quiet_tag_comes_within_three_round_trips() {
    let _alone = alone();
    for busy in [1, 3, 5, 11] {
        let leaf = Leaf::holding();
        beside(busy, &leaf, |ids| {
            for name in ["quiet", "another", "third"] {
                leaf.held(CONNECTIONS);
                let tag = ids.tag(name).unwrap();
                // Its fetch is queued when this returns.
                assert_eq!(tag.try_next().unwrap(), None);
                let mut trips = 0;
                while !leaf.answered().contains_key(name) {
                    trips += 1;
                    leaf.round_trip(CONNECTIONS);
                    leaf.held(CONNECTIONS);
                }
                assert!(trips <= 3, "{trips} round trips beside {busy}");
                arrived(&tag);
            }
        });
    }
}

/// Takes an id that is on its way.
fn arrived(tag: &Tag) {
    let deadline = Instant::now() + HANG;
    while tag.try_next().unwrap().is_none() {
        assert!(Instant::now() < deadline, "{:?}", tag.stats());
        std::thread::yield_now();
    }
}

/// A callback that answers when it is released: the tags that it was asked for.
#[derive(Default)]
struct Calls {
    held: Mutex<Vec<String>>,
    changed: Condvar,
    is_open: AtomicBool,
    given: AtomicI64,
}

impl Calls {
    fn answer(&self, request: &FetchRequest) -> leafid::Segment {
        let mut held = self.held.lock().unwrap();
        held.push(request.tag.clone());
        self.changed.notify_all();
        while !self.is_open.load(SeqCst) && held.contains(&request.tag) {
            held = self.changed.wait(held).unwrap();
        }
        let start = self.given.fetch_add(request.step, SeqCst) + 1;
        leafid::Segment::new(start, start + request.step, 1).unwrap()
    }

    /// Releases the calls under way, once there are this many; whose they were.
    fn round_trip(&self, count: usize) -> Vec<String> {
        let held = self.held.lock().unwrap();
        let mut held = self.changed.wait_while(held, |held| held.len() < count).unwrap();
        self.changed.notify_all();
        std::mem::take(&mut held)
    }
}

/// Eleven busy tags, and one that begins beside them, of a source that gives one id a call; `round_trip` answers the calls
/// under way, once there are four. At its beginning each tag has a call that is under way or waits for a thread.
fn each_has_its_turn(ids: SegmentsBuilder, round_trip: impl Fn() -> Vec<String>, answer_all: impl Fn()) {
    let ids = ids.persist(false).name(unique_name()).timeout_ms(60_000).adaptive(false).open().unwrap();
    let queue = |name: &str| assert_eq!(ids.tag(name).unwrap().try_next().unwrap(), None);
    let round_trip = || {
        let answered = round_trip();
        for name in &answered {
            arrived(&ids.tag(name).unwrap());
            queue(name);
        }
        answered
    };
    (0..11).for_each(|number| queue(&format!("busy{number}")));
    let done = catch_unwind(AssertUnwindSafe(|| {
        let mut asked = BTreeMap::<String, usize>::new();
        (0..33).flat_map(|_| round_trip()).for_each(|tag| *asked.entry(tag).or_default() += 1);
        queue("quiet");
        let trips = (1..20).find(|_| round_trip().iter().any(|tag| tag == "quiet"));
        assert!(trips.is_some_and(|trips| trips <= 4), "{trips:?}");
        let most = asked.values().max().unwrap();
        assert!(
            asked.len() == 11 && asked.values().all(|calls| calls * 2 >= *most),
            "twelve calls each: {asked:?}"
        );
    }));
    answer_all();
    done.unwrap();
}

#[test]
fn a_callback_is_asked_for_each_tag_in_turn() {
    let _alone = alone();
    let calls = Arc::<Calls>::default();
    let answers = Arc::clone(&calls);
    let ids = Segments::builder().step(1).fetch(move |request| Ok(Some(answers.answer(request).into())));
    each_has_its_turn(
        ids,
        || calls.round_trip(4),
        || {
            calls.is_open.store(true, SeqCst);
            calls.round_trip(0);
        },
    );
}

#[test]
fn a_server_that_gives_many_ids_is_asked_for_each_tag_in_turn() {
    let _alone = alone();
    for (protocol, step) in [(Protocol::Range, Some(1)), (Protocol::Tinyid, None)] {
        let server = Leaf::holding();
        let ids = Segments::builder().protocol(protocol).servers([&server.url]).request_timeout_ms(60_000);
        let ids = step.into_iter().fold(ids, SegmentsBuilder::step);
        each_has_its_turn(ids, || server.round_trip(4), || server.release_all());
    }
}

/// With more round trips than tags, or fewer, a tag may have a request more than the others in each: which one, is a
/// matter of the order in which the threads run.
#[test]
fn tags_that_are_equally_busy_get_equally_many_ids() {
    let _alone = alone();
    for (busy, percent) in [(2, 100), (3, 200), (5, 150), (11, 120)] {
        let leaf = Leaf::holding();
        beside(busy, &leaf, |_| {
            // All that was answered has arrived once as many are held again.
            let answered = || {
                leaf.held(CONNECTIONS);
                leaf.answered()
            };
            let before = answered();
            (0..busy * 10).for_each(|_| drop(leaf.round_trip(CONNECTIONS)));
            let more: Vec<usize> = answered().iter().map(|(tag, all)| all - before[tag]).collect();
            let (least, most) = (*more.iter().min().unwrap(), *more.iter().max().unwrap());
            assert!(most * 100 <= least * percent, "{more:?}");
        });
    }
}
