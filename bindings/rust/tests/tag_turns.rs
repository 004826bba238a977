//! Tags of one Leaf beside each other, counted in round trips: the server answers when the test says so.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;
#[path = "common/leaf.rs"]
mod leaf;

use common::unique_name;
use leaf::Leaf;
use leafid::{FetchRequest, Segments, SegmentsBuilder};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex};

const CONNECTIONS: usize = 4;

fn builder(leaf: &Leaf) -> SegmentsBuilder {
    let builder = Segments::builder().persist(false).name(unique_name()).servers([&leaf.url]);
    builder.timeout_ms(60_000).request_timeout_ms(60_000)
}

/// Answers what is under way, and waits until as much is under way again.
fn round_trip(leaf: &Leaf) -> Vec<String> {
    let held = leaf.held(CONNECTIONS);
    leaf.release();
    held
}

/// Runs `quiet` beside so many threads that take 500 ids of a tag each, again and again.
fn beside(busy: usize, leaf: &Leaf, quiet: impl FnOnce(&Segments)) {
    let ids = builder(leaf).open().unwrap();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for number in 0..busy {
            let tag = ids.tag(&format!("busy{number}")).unwrap();
            let over = &over;
            scope.spawn(move || {
                while !over.load(SeqCst) {
                    let taken = tag.take(500);
                    assert!(taken.is_ok() || over.load(SeqCst), "{taken:?}");
                }
            });
        }
        // Until each has begun, and some more.
        while leaf.answered().len() < busy {
            round_trip(leaf);
        }
        (0..5).for_each(|_| drop(round_trip(leaf)));
        let done = catch_unwind(AssertUnwindSafe(|| quiet(&ids)));
        over.store(true, SeqCst);
        leaf.release_all();
        done.unwrap();
    });
    assert!(leaf.most_at_once() <= CONNECTIONS, "{} at once", leaf.most_at_once());
}

#[test]
fn the_first_id_of_a_quiet_tag_comes_within_three_round_trips() {
    for busy in [1, 3, 5, 11] {
        let leaf = Leaf::holding();
        beside(busy, &leaf, |ids| {
            for name in ["quiet", "another", "third"] {
                leaf.held(CONNECTIONS);
                let tag = ids.tag(name).unwrap();
                let taker = std::thread::spawn(move || tag.next().unwrap());
                let waits = || ids.tag(name).unwrap().stats().unwrap().fetching;
                while !waits() {
                    std::thread::yield_now();
                }
                let mut trips = 0;
                while !leaf.answered().contains_key(name) {
                    trips += 1;
                    round_trip(&leaf);
                    leaf.held(CONNECTIONS);
                }
                assert!(trips <= 3, "{trips} round trips beside {busy}");
                taker.join().unwrap();
            }
        });
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

    /// Releases the calls under way, once there are so many; whose they were.
    fn round_trip(&self, count: usize) -> Vec<String> {
        let held = self.held.lock().unwrap();
        let mut held = self.changed.wait_while(held, |held| held.len() < count).unwrap();
        self.changed.notify_all();
        std::mem::take(&mut held)
    }
}

#[test]
fn a_callback_is_asked_for_a_quiet_tag_within_four_calls_of_each_thread() {
    let calls = Arc::<Calls>::default();
    let answers = Arc::clone(&calls);
    let ids =
        Segments::builder().persist(false).name(unique_name()).timeout_ms(60_000).step(1).adaptive(false);
    let ids = ids.fetch(move |request| Ok(Some(answers.answer(request).into()))).open().unwrap();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for number in 0..11 {
            let (tag, over) = (ids.tag(&format!("busy{number}")).unwrap(), &over);
            scope.spawn(move || while !over.load(SeqCst) && tag.take(50).is_ok() {});
        }
        (0..10).for_each(|_| drop(calls.round_trip(4)));
        let quiet = ids.tag("quiet").unwrap();
        let taker = scope.spawn({
            let quiet = quiet.clone();
            move || quiet.next()
        });
        while !quiet.stats().unwrap().fetching {
            std::thread::yield_now();
        }
        let trips = (1..).find(|_| calls.round_trip(4).iter().any(|tag| tag == "quiet")).unwrap();
        calls.is_open.store(true, SeqCst);
        over.store(true, SeqCst);
        calls.round_trip(0);
        assert!(taker.join().unwrap().is_ok());
        assert!(trips <= 4, "{trips}");
    });
}

#[test]
fn tags_that_are_equally_busy_get_equally_many_ids() {
    for busy in [2, 3, 5, 11] {
        let leaf = Leaf::holding();
        beside(busy, &leaf, |_| {
            let before = leaf.answered();
            (0..busy * 15).for_each(|_| drop(round_trip(&leaf)));
            let more: Vec<usize> = leaf.answered().iter().map(|(tag, all)| all - before[tag]).collect();
            let (least, most) = (*more.iter().min().unwrap(), *more.iter().max().unwrap());
            assert!(most * 5 <= least * 6, "{more:?}");
        });
    }
}
