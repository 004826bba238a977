//! Forks where the system wipes no page in a child: on a kernel before 4.14, and under qemu-user, which accepts every
//! advice. Both are played by `madvise`, which this program has of its own.
#![allow(clippy::unwrap_used)]

#[cfg(target_os = "linux")]
#[path = "common/bump_malloc.rs"]
mod bump_malloc;
mod common;
use common::forks::{alone_where, in_child, in_shared_memory, plain_fork, raw_clone};
use common::{PATIENT_MS, Place, sorted_and_distinct};
use leafid::{Code, Error, Layout, Snowflake};

const ACCEPTS_ALL: &str = "LEAFID_TEST_ACCEPTS_ALL";

/// In place of the C library's, for the calls of this program.
#[unsafe(no_mangle)]
extern "C" fn madvise(_: *mut libc::c_void, _: libc::size_t, _: libc::c_int) -> libc::c_int {
    if std::env::var_os(ACCEPTS_ALL).is_some() { 0 } else { -1 }
}

/// Runs a test in a process for each kind of system. True in these processes.
fn on_each(test: &str) -> bool {
    alone_where(test, &[]) || alone_where(test, &[(ACCEPTS_ALL, "1")])
}

fn ids(flake: &Snowflake) -> Vec<i64> {
    let mut ids: Vec<i64> = (0..2_000).map(|_| flake.next().unwrap()).collect();
    ids.extend(flake.take(9_000).unwrap());
    ids
}

fn refused(error: Option<Error>) {
    let error = error.unwrap();
    assert_eq!(error.code(), Code::StateIo, "{error}");
    assert!(error.message().contains("this system cannot tell which"), "{error}");
}

#[test]
fn forked_children_get_ids_of_their_own() {
    if !on_each("forked_children_get_ids_of_their_own") {
        return;
    }
    let place = Place::new();
    let flake = place.builder().worker(0..=31).open().unwrap();
    let mut all = ids(&flake);
    all.extend(in_child(plain_fork, |say| {
        ids(&flake).into_iter().for_each(&mut *say);
        in_child(plain_fork, |say| ids(&flake).into_iter().for_each(say)).into_iter().for_each(&mut *say);
        ids(&flake).into_iter().for_each(&mut *say);
    }));
    all.extend(ids(&flake));
    let mut workers: Vec<u32> = all.iter().map(|&id| Layout::LEAF.decode(id).unwrap().worker_id).collect();
    workers.dedup();
    assert_eq!(workers, [0, 1, 2, 1, 0]);
    assert!(sorted_and_distinct(all));
}

#[test]
fn children_of_unknown_kind_are_refused_and_their_parent_goes_on() {
    if !on_each("children_of_unknown_kind_are_refused_and_their_parent_goes_on") {
        return;
    }
    let place = Place::new();
    let flake = place.builder().worker(7).open().unwrap();
    let mut all = ids(&flake);
    let in_such_a_child = || {
        refused(flake.next().err());
        refused(flake.take(10).err());
        refused(flake.stats().err());
        refused(place.builder().worker(8).open().err());
        refused(flake.close().err());
    };
    assert_eq!(in_shared_memory(&mut || in_such_a_child()), 0);
    all.extend(ids(&flake));
    in_child(raw_clone, |_| in_such_a_child());
    // A child that a handler prepared is known, also as a child of one that is not.
    in_child(raw_clone, |_| {
        in_child(plain_fork, |_| drop(place.builder().worker(8).open().unwrap()));
    });
    // Over the ends of several spans, with threads of its own.
    let begun = std::time::Instant::now();
    while begun.elapsed() < std::time::Duration::from_millis(1_500) {
        all.push(flake.next().unwrap());
    }
    assert!(sorted_and_distinct(all));
    flake.close().unwrap();
    place.builder().worker(7).open().unwrap();
}

#[test]
fn a_tag_issues_what_is_in_memory() {
    if !on_each("a_tag_issues_what_is_in_memory") {
        return;
    }
    let place = Place::new();
    let fetch = |request: &leafid::FetchRequest| {
        let start = request.after.max(1);
        Ok(Some(leafid::Segment::new(start, start + request.step, 1)?.into()))
    };
    let segments = leafid::Segments::builder().state_dir(place.dir.path()).name(&place.name).fetch(fetch);
    let order = segments.timeout_ms(PATIENT_MS).open().unwrap().tag("order").unwrap();
    assert_eq!((order.next().unwrap(), order.try_next().unwrap()), (1, Some(2)));
    assert_eq!(in_child(plain_fork, |say| say(order.next().unwrap())).len(), 1);
    assert_eq!(order.take(3).unwrap(), [3, 4, 5]);
}
