//! Children of `vfork`, which share the memory of their parent: they take what is at hand, and begin nothing that would end
//! with them.
#![allow(clippy::unwrap_used)]

mod common;
use common::forks::{alone, in_child, in_shared_memory, plain_fork};
use common::{HANG, Place, sorted_and_distinct, until};
use leafid::{Code, Error, Layout, Segment, Segments};
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::time::{Duration, Instant};

fn counted(place: &Place) -> Segments {
    let next = AtomicI64::new(1);
    Segments::builder()
        .state_dir(place.dir.path())
        .name(&place.name)
        .step(10)
        .adaptive(false)
        .timeout_ms((2 * HANG).as_millis() as i64)
        .fetch(move |request| {
            let start = next.fetch_add(request.step, SeqCst);
            Ok(Some(Segment::new(start, start + request.step, 1)?.into()))
        })
        .open()
        .unwrap()
}

/// Takes ids until there is an error.
fn until_refused(mut next: impl FnMut() -> leafid::Result<i64>, ids: &mut Vec<i64>) -> Option<Error> {
    let begun = Instant::now();
    while begun.elapsed() < HANG {
        match next() {
            Ok(id) => ids.push(id),
            Err(error) => return Some(error),
        }
    }
    None
}

fn refused(error: Option<Error>) {
    let error = error.unwrap();
    assert_eq!(error.code(), Code::StateIo, "{error}");
    assert!(error.message().contains("vfork"), "{error}");
}

#[test]
fn a_child_takes_ids_of_segments_and_its_parent_goes_on() {
    if !alone("a_child_takes_ids_of_segments_and_its_parent_goes_on") {
        return;
    }
    let place = Place::new();
    let ids = counted(&place);
    let order = ids.tag("order").unwrap();
    let mut all = vec![order.next().unwrap()];
    for round in 0..4 {
        let next = || match round % 2 {
            0 => order.next(),
            _ => order.take_run(1).map(|held| held.unwrap().run.first),
        };
        until("ids at hand", || order.stats().unwrap().left > 0);
        // A fork ends the threads: whoever needs one next begins it.
        assert!(in_child(plain_fork, |_| ()).is_empty());
        let (mut error, begun) = (None, Instant::now());
        assert_eq!(in_shared_memory(&mut || error = until_refused(next, &mut all)), 0);
        assert!(begun.elapsed() < HANG, "it waited for nothing");
        refused(error);
        all.extend((0..100).map(|_| order.next().unwrap()));
    }
    assert!(all.len() > 404, "the child had those at hand");
    assert_eq!(order.stats().unwrap().failures, 0, "nothing was begun there");
    assert!(sorted_and_distinct(all));
}

#[test]
fn a_child_takes_ids_of_a_snowflake_and_its_parent_goes_on() {
    if !alone("a_child_takes_ids_of_a_snowflake_and_its_parent_goes_on") {
        return;
    }
    let place = Place::new();
    let flake = place.builder().worker(7).open().unwrap();
    let mut all = Vec::new();
    // A first span is over soon.
    until("a span of two seconds", || {
        all.push(flake.next().unwrap());
        let at = Layout::LEAF.decode(*all.last().unwrap()).unwrap().timestamp_ms;
        flake.stats().unwrap().reserved_until_ms > at + 2_000
    });
    let before = all.len();
    assert!(in_child(plain_fork, |_| ()).is_empty());
    let mut error = None;
    assert_eq!(in_shared_memory(&mut || error = until_refused(|| flake.next(), &mut all)), 0);
    refused(error);
    assert!(all.len() > before + 1_000, "the child had those of the span");
    // Over the ends of several spans.
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(1_500) {
        all.push(flake.next().unwrap());
    }
    assert!(sorted_and_distinct(all));
}

#[test]
fn a_child_opens_and_closes_nothing() {
    if !alone("a_child_opens_and_closes_nothing") {
        return;
    }
    let place = Place::new();
    let (flake, ids) = (place.builder().worker(7).open().unwrap(), counted(&place));
    let order = ids.tag("order").unwrap();
    order.next().unwrap();
    let mut errors = Vec::new();
    let status = in_shared_memory(&mut || {
        errors.push(place.builder().worker(8).open().err());
        errors.push(flake.close().err());
        errors.push(ids.close().err());
    });
    assert_eq!(status, 0);
    errors.into_iter().for_each(refused);
    order.take(50).unwrap();
    ids.close().unwrap();
    flake.next().unwrap();
    flake.close().unwrap();
    place.builder().worker(7).open().unwrap();
}
