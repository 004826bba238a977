//! The cost of an id, and memory, as work grows: more tags, more generators.

use crate::footprint::{raise_open_files, rss_bytes, threads};
use crate::goals::ns_each;
use crate::harness::{measured, used};
use crate::open::segments;
use crate::ours::wide;
use leafid::{Snowflake, Tag};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const TAGS: [usize; 5] = [1, 100, 1_000, 5_000, 10_000];
const GENERATORS: [usize; 4] = [1, 100, 500, 1_000];
const WINDOWS: usize = 301;
const IN_A_ROW: usize = 10_000;

/// A counter on cache lines of its own.
#[repr(align(128))]
#[derive(Default)]
struct Counter(AtomicU64);

pub fn measure() {
    tags();
    generators();
}

fn tags() {
    let (lone, segments, counters) = (segments().tag("order").expect("a tag"), segments(), counters());
    lone.next().expect("an id");
    let (mut tags, mut memory): (Vec<Tag>, _) = (Vec::with_capacity(TAGS[4]), Vec::new());
    for count in TAGS {
        for n in tags.len()..count {
            let tag = segments.tag(&format!("order-{n}")).expect("a tag");
            tag.next().expect("an id");
            tags.push(tag);
        }
        memory.push((count, rss_bytes()));
        cost("tags", &lone, &tags, &counters, |tag| used(tag.next().expect("an id")));
    }
    slope("tag", &memory);
    if let Some(threads) = threads() {
        // Besides this one.
        measured("threads with 10000 tags", threads as f64 - 1.0, 0.0);
    }
    // Nor is what they had to be found again by generators.
    std::mem::forget(tags);
}

fn generators() {
    // A file and a socket for each, and what the process has besides.
    raise_open_files(GENERATORS[3] as u64 * 2 + 100);
    let opened = || {
        let flake = wide().open().expect("open");
        flake.next().expect("an id");
        flake
    };
    let (lone, counters) = (opened(), counters());
    let (mut flakes, mut memory): (Vec<Snowflake>, _) = (Vec::with_capacity(GENERATORS[3]), Vec::new());
    for count in GENERATORS {
        flakes.resize_with(count, opened);
        memory.push((count, rss_bytes()));
        cost("generators", &lone, &flakes, &counters, |flake| used(flake.next().expect("an id")));
    }
    slope("generator", &memory);
}

/// An id of one among so many, beside one of `lone`, which has no others; and an id of each in turn, beside an addition to
/// each of as many counters. Medians of windows in turn.
fn cost<T>(what: &str, lone: &T, all: &[T], counters: &[Counter], next: impl Fn(&T)) {
    let [mut one, mut floor, mut in_turn, mut in_turn_floor] = [const { Vec::new() }; 4];
    let (mut turn, mut floor_turn) = (0, 0);
    for _ in 0..WINDOWS {
        one.push(ns_each(IN_A_ROW, || next(&all[0])));
        floor.push(ns_each(IN_A_ROW, || next(lone)));
        in_turn.push(ns_each(IN_A_ROW, || next(&all[following(&mut turn, all.len())])));
        in_turn_floor.push(ns_each(IN_A_ROW, || {
            used(counters[following(&mut floor_turn, all.len())].0.fetch_add(1, Relaxed))
        }));
    }
    let count = all.len();
    measured(&format!("cost_{what}_{count}"), median(one), median(floor));
    measured(&format!("cost_{what}_{count}_in_turn"), median(in_turn), median(in_turn_floor));
}

/// As many as may be needed, made first: memory that was given back would be found again by what is measured.
fn counters() -> Vec<Counter> {
    TAGS.iter().max().into_iter().flat_map(|&most| 0..most).map(|_| Counter::default()).collect()
}

fn following(turn: &mut usize, count: usize) -> usize {
    *turn = if *turn + 1 == count { 0 } else { *turn + 1 };
    *turn
}

/// KiB for each more between the last two counts, beside those between the two before: alike where memory grows linearly.
fn slope(what: &str, memory: &[(usize, u64)]) {
    let kib = |from: (usize, u64), to: (usize, u64)| {
        to.1.saturating_sub(from.1) as f64 / 1024.0 / (to.0 - from.0) as f64
    };
    if let [.., first, middle, last] = memory {
        measured(&format!("memory_{what}"), kib(*middle, *last), kib(*first, *middle));
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
