//! Tags of one Leaf beside each other, counted in round trips: the server answers when the test says so.
#![cfg(feature = "http")]
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;
#[path = "common/leaf.rs"]
mod leaf;

use common::unique_name;
use leaf::Leaf;
use leafid::{Segments, SegmentsBuilder};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

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
