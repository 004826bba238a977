//! Handles of one thread's on a tag: each id once, given back or issued, in no child twice.
#![allow(clippy::unwrap_used)]

#[cfg(target_os = "linux")]
#[path = "common/bump_malloc.rs"]
mod bump_malloc;
mod common;
use common::forks::{alone, in_child, plain_fork, raw_clone};
use common::{PATIENT_MS, sorted_and_distinct, unique_name};
use leafid::{Code, FetchRequest, LocalTag, Segment, Segments, SegmentsBuilder, Tag};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::time::Duration;

/// Segments of this many ids from a counter, which starts at 1.
fn counter(length: i64) -> SegmentsBuilder {
    let next = Arc::new(AtomicI64::new(1));
    let fetch = move |_: &FetchRequest| {
        let start = next.fetch_add(length, SeqCst);
        Ok(Some(Segment::new(start, start + length, 1)?.into()))
    };
    Segments::builder().persist(false).name(unique_name()).timeout_ms(PATIENT_MS).adaptive(false).fetch(fetch)
}

fn some(local: &mut LocalTag, n: usize) -> Vec<i64> {
    (0..n).map(|_| local.next().unwrap()).collect()
}

/// What is at hand once the fetch under way has ended.
fn left(order: &Tag) -> u64 {
    while order.stats().unwrap().fetching {
        std::thread::sleep(Duration::from_millis(1));
    }
    order.stats().unwrap().left
}

#[test]
fn a_handle_takes_256_ids_or_a_sixteenth_of_a_segment() {
    for (length, takes) in [(1_000_000, 256), (1_600, 100)] {
        let order = counter(length).open().unwrap().tag("order").unwrap();
        order.next().unwrap();
        let (mut one, mut other) = (order.local(), order.local());
        let first = one.next().unwrap();
        assert_eq!(other.next().unwrap(), first + takes, "of {length}");
    }
}

#[test]
fn threads_of_all_kinds_share_no_id_and_lose_none() {
    let order = counter(1_000).open().unwrap().tag("order").unwrap();
    let mut all: Vec<i64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..6)
            .map(|kind| {
                let order = &order;
                scope.spawn(move || match kind {
                    0 => (0..20_000).map(|_| order.next().unwrap()).collect(),
                    1 => (0..200).flat_map(|_| order.take(100).unwrap()).collect(),
                    // Handles that live for a few ids each: most of what they take goes back.
                    2 => (0..2_000).flat_map(|_| some(&mut order.local(), 10)).collect(),
                    _ => {
                        let mut local = order.local();
                        some(&mut local, 20_000)
                    }
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(all.len(), 120_000);
    match left(&order) {
        0 => {}
        rest => all.extend(order.take(rest as usize).unwrap()),
    }
    assert!(sorted_and_distinct(all.clone()));
    assert_eq!(all.iter().max(), Some(&(all.len() as i64)), "none is lost: what was not issued was put back");
}

#[test]
fn the_ids_of_a_handle_rise() {
    let order = counter(5_000).open().unwrap().tag("order").unwrap();
    // One that is dropped puts lower ids back.
    let mut handles: Vec<LocalTag> = (0..4).map(|_| order.local()).collect();
    std::thread::scope(|scope| {
        for local in &mut handles {
            scope.spawn(|| assert!(some(local, 50_000).is_sorted()));
        }
    });
}

#[test]
fn what_is_left_goes_back_once() {
    let order = counter(1_000).open().unwrap().tag("order").unwrap();
    let (mut one, mut other) = (order.local(), order.local());
    // The first one is waited for; then a sixteenth of a thousand is taken.
    assert_eq!(some(&mut one, 3), [1, 2, 3]);
    assert_eq!(some(&mut other, 2), [65, 66]);
    drop(one);
    let mut all = order.take(3_000).unwrap();
    assert!((4..65).all(|id| all.contains(&id)), "others issue what it had left");
    all.extend(some(&mut other, 61));
    drop(other);
    all.extend(order.take(1_000).unwrap());
    all.extend([1, 2, 3, 65, 66]);
    assert!(sorted_and_distinct(all));
}

#[test]
fn a_small_segment_is_not_held_by_a_few() {
    let order = counter(160).open().unwrap().tag("order").unwrap();
    let mut handles: Vec<LocalTag> = (0..10).map(|_| order.local()).collect();
    let firsts: Vec<i64> = handles.iter_mut().map(|local| local.next().unwrap()).collect();
    assert!(*firsts.last().unwrap() <= 100, "{firsts:?}");
}

#[test]
fn a_handle_waits_as_next_does_and_tells_of_the_end() {
    let next = AtomicI64::new(1);
    let slow = move |_: &FetchRequest| {
        std::thread::sleep(Duration::from_millis(30));
        let start = next.fetch_add(10, SeqCst);
        Ok(Some(Segment::new(start, start + 10, 1)?.into()))
    };
    let ids = Segments::builder().persist(false).name(unique_name()).timeout_ms(PATIENT_MS);
    let ids = ids.fetch(slow).open().unwrap();
    let mut local = ids.tag("order").unwrap().local();
    assert_eq!(some(&mut local, 100), (1..=100).collect::<Vec<_>>());
    ids.close().unwrap();
    assert_eq!(local.next().unwrap_err().code(), Code::Closed);
    drop(local);

    let known = Segments::builder().persist(false).name(unique_name()).timeout_ms(PATIENT_MS);
    let known = known.fetch(|_| Ok(None)).open().unwrap();
    assert_eq!(known.tag("order").unwrap().local().next().unwrap_err().code(), Code::UnknownTag);
}

#[test]
fn nothing_of_a_run_is_issued_in_a_forked_child() {
    if !alone("nothing_of_a_run_is_issued_in_a_forked_child") {
        return;
    }
    let place = common::Place::new();
    let counters = format!("file:{}", place.dir.path().join("counters").display());
    let tag = leafid::FileTag { start: 1, step: 1_000 };
    let ids = Segments::builder()
        .servers([counters])
        .state_dir(place.dir.path())
        .create(true)
        .timeout_ms(PATIENT_MS);
    let order = ids.tags([("order", tag)]).open().unwrap().tag("order").unwrap();
    let mut local = order.local();
    let mut all = some(&mut local, 5);
    // A raw clone has no threads to fetch on, and so no ids.
    for (fork, calls) in [(plain_fork as fn() -> i32, 200), (raw_clone, 1)] {
        let mut dropped = order.local();
        all.push(dropped.next().unwrap());
        all.extend(in_child(fork, |say| {
            // The parent's run, which is not the child's to give back.
            drop(dropped);
            (0..calls).filter_map(|_| local.next().ok()).for_each(&mut *say);
            order.take(300).into_iter().flatten().for_each(say);
        }));
    }
    assert!(all.len() > 500, "the plain child has ids of its own: {}", all.len());
    all.extend(some(&mut local, 200));
    all.extend(order.take(1_500).unwrap());
    assert!(sorted_and_distinct(all));
}
