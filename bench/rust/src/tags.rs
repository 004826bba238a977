//! Segments: a tag's ids from memory, beside an atomic add and a write.

use crate::footprint::rss_bytes;
use crate::goals::{CALLS, WINDOWS, ns_each};
use crate::line::{compared, measured};
use crate::open::segments;
use crate::together::two_compared;
use leafid::{Segments, Tag};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const TAGS: usize = 10_000;
const MILLION: usize = 1_000_000;

pub fn measure() {
    let segments = segments();
    let order = segments.tag("order").expect("a tag");
    order.next().expect("an id");
    call(&order);
    bulk(&order);
    footprint(&segments);
}

/// One call, of the tag and of a thread's own handle, in turn with an atomic add; and two threads with one tag, in turn with two that add to one counter.
fn call(order: &Tag) {
    let counter = AtomicU64::new(0);
    let mut local = order.local();
    let mut floor = || {
        ns_each(CALLS, || {
            black_box(counter.fetch_add(1, Relaxed));
        })
    };
    let figure = || {
        ns_each(CALLS, || {
            black_box(order.next().expect("an id"));
        })
    };
    compared("tag", WINDOWS, &mut floor, figure);
    let of_local = || {
        ns_each(CALLS, || {
            black_box(local.next().expect("an id"));
        })
    };
    compared("tag_local", WINDOWS, &mut floor, of_local);
    two_compared("tag_two", || || counter.fetch_add(1, Relaxed), || || order.next().expect("an id"));
}

/// A million ids into memory that was touched, in turn with writing as many numbers; and into memory of the call's own.
fn bulk(order: &Tag) {
    let (mut numbers, mut out) = (vec![0i64; MILLION], vec![0i64; MILLION]);
    let mut write = || {
        ns_each(1, || {
            for (at, slot) in black_box(&mut numbers).iter_mut().enumerate() {
                *slot = at as i64;
            }
        }) / 1e6
    };
    let fill = || ns_each(1, || order.fill(black_box(&mut out)).expect("a million ids")) / 1e6;
    compared("tag_fill", 25, &mut write, fill);
    // As much as the allocator gives again without a page fault.
    let thousand = || drop(black_box(order.take(MILLION / 1_000).expect("a thousand ids")));
    compared("tag_take", 25, &mut write, || ns_each(1_000, thousand) / 1e3);
}

/// What a tag costs at rest, with its handle and a segment.
fn footprint(segments: &Segments) {
    let before = rss_bytes();
    let tags: Vec<Tag> = (0..TAGS).map(|n| segments.tag(&format!("tag-{n}")).expect("a tag")).collect();
    for tag in &tags {
        tag.next().expect("an id");
    }
    measured("KiB a tag", (rss_bytes() - before) as f64 / 1024.0 / TAGS as f64, 0.0);
}
