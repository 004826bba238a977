//! Segments and forks: a child issues nothing of what its parent had at hand, and fetches its own.
#![allow(clippy::unwrap_used)]

#[cfg(target_os = "linux")]
#[path = "common/bump_malloc.rs"]
mod bump_malloc;
mod common;
use common::forks::{alone, in_child, plain_fork, raw_clone};
use common::{HANG, PATIENT_MS, Place, sorted_and_distinct, until};
use leafid::{Code, FileTag, Segments, SegmentsBuilder};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

fn counters(place: &Place) -> SegmentsBuilder {
    Segments::builder()
        .servers([format!("file:{}", place.dir.path().join("counters").display())])
        .state_dir(place.dir.path())
        .create(true)
        .tags([("order", FileTag { start: 1, step: 100 })])
        .timeout_ms(PATIENT_MS)
}

#[test]
fn children_and_grandchildren_fetch_their_own() {
    let place = Place::new();
    let ids = counters(&place).open().unwrap();
    let order = ids.tag("order").unwrap();
    let some = || {
        let mut some: Vec<i64> = (0..50).map(|_| order.next().unwrap()).collect();
        some.extend(order.take(500).unwrap());
        some
    };
    let mut all = some();
    for _ in 0..5 {
        all.extend(in_child(plain_fork, |say| {
            some().into_iter().for_each(&mut *say);
            in_child(plain_fork, |say| some().into_iter().for_each(say)).into_iter().for_each(&mut *say);
            some().into_iter().for_each(&mut *say);
        }));
        all.extend(some());
    }
    assert_eq!(all.len(), 550 * 21);
    assert!(sorted_and_distinct(all));
}

#[test]
fn a_run_held_outside_is_the_parent_s() {
    let place = Place::new();
    let ids = counters(&place).open().unwrap();
    let order = ids.tag("order").unwrap();
    let mut all = vec![order.next().unwrap()];
    let held = order.take_run(5).unwrap().unwrap();
    let said = in_child(plain_fork, |say| {
        say(held.is_ours().into());
        order.put_back(held);
        order.take(300).unwrap().into_iter().for_each(say);
    });
    assert_eq!(said[0], 0);
    all.extend(&said[1..]);
    assert!(held.is_ours());
    order.put_back(held);
    all.extend(order.take(300).unwrap());
    assert!(sorted_and_distinct(all));
}

#[test]
fn what_a_call_under_way_has_is_the_parent_s() {
    let place = Place::new();
    let ids = counters(&place).open().unwrap();
    let order = ids.tag("order").unwrap();
    let mut pending = Some(order.pending_take(50, None).unwrap());
    while !pending.as_mut().unwrap().poll(|| {}).unwrap() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let mut all = vec![0; 50];
    let said = in_child(plain_fork, |say| {
        say(pending.as_mut().unwrap().write(&mut all).into());
        // It puts back what it has.
        drop(pending.take());
        order.take(300).unwrap().into_iter().for_each(say);
    });
    assert_eq!(said[0], 0);
    assert!(pending.unwrap().write(&mut all));
    all.extend(&said[1..]);
    all.extend(order.take(300).unwrap());
    assert!(sorted_and_distinct(all));
}

#[test]
fn forks_while_threads_take_and_wait_repeat_nothing() {
    let place = Place::new();
    let ids = counters(&place).adaptive(false).open().unwrap();
    let order = ids.tag("order").unwrap();
    let done = AtomicBool::new(false);
    let all = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    let mut mine = Vec::new();
                    while !done.load(SeqCst) {
                        mine.push(order.next().unwrap());
                    }
                    mine
                })
            })
            .collect();
        let mut all = Vec::new();
        for _ in 0..40 {
            all.extend(in_child(plain_fork, |say| {
                (0..150).map(|_| order.next().unwrap()).for_each(say);
            }));
            std::thread::sleep(Duration::from_millis(2));
        }
        done.store(true, SeqCst);
        threads.into_iter().for_each(|thread| all.extend(thread.join().unwrap()));
        all
    });
    assert!(sorted_and_distinct(all));
}

#[test]
fn a_child_may_close_what_it_inherited_and_the_parent_goes_on() {
    let place = Place::new();
    let ids = counters(&place).open().unwrap();
    let order = ids.tag("order").unwrap();
    let first = order.next().unwrap();
    let said = in_child(plain_fork, |say| {
        ids.close().unwrap();
        say(order.next().unwrap_err().code().number().into());
    });
    assert_eq!(said, [i64::from(Code::Closed.number())]);
    assert_eq!(order.next().unwrap(), first + 1);
}

#[test]
fn a_child_of_a_raw_clone_is_refused_for_it_has_no_threads() {
    if !alone("a_child_of_a_raw_clone_is_refused_for_it_has_no_threads") {
        return;
    }
    let place = Place::new();
    let ids = counters(&place).timeout_ms((2 * HANG).as_millis() as i64).open().unwrap();
    let order = ids.tag("order").unwrap();
    order.next().unwrap();
    let said = in_child(raw_clone, |say| {
        let begun = std::time::Instant::now();
        say(order.next().unwrap_err().code().number().into());
        say((begun.elapsed() < HANG).into());
    });
    assert_eq!(said, [i64::from(Code::StateIo.number()), 1], "at once");
}

/// The threads of leafid's that this process has.
fn threads() -> Vec<std::path::PathBuf> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().map(|task| task.unwrap().path());
    let is_ours = |task: &std::path::PathBuf| {
        std::fs::read_to_string(task.join("comm")).is_ok_and(|name| name.starts_with("leafid-"))
    };
    tasks.filter(is_ours).collect()
}

/// A thread that is not ended goes after ten seconds.
fn soon(mut done: impl FnMut() -> bool) {
    let begun = std::time::Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_secs(8));
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_fork_and_a_close_end_the_threads_and_none_begins_without_a_caller_while_they_are_held() {
    let place = Place::new();
    in_child(plain_fork, |_| {
        let ids = counters(&place).adaptive(false).open().unwrap();
        let order = ids.tag("order").unwrap();
        order.next().unwrap();
        let before = threads();
        assert!(!before.is_empty());
        // A fork continues without those that do not end in time.
        soon(|| {
            in_child(plain_fork, |_| ());
            !threads().iter().any(|thread| before.contains(thread))
        });
        order.take(500).unwrap();
        leafid::quiesce(HANG);
        assert!(threads().is_empty());
        while order.next_in_memory().is_some() {}
        std::thread::sleep(Duration::from_millis(200));
        assert!(threads().is_empty(), "no caller waits");
        order.next().unwrap();
        leafid::quiesce(HANG);
        while order.next_in_memory().is_some() {}
        leafid::resume();
        in_child(plain_fork, |_| ());
        until("the fetch", || order.stats().unwrap().left > 0);
        // The close of others leaves those that are there.
        until("threads that stay", || {
            order.take(200).unwrap();
            // Those that fetched are idle by now.
            std::thread::sleep(Duration::from_millis(50));
            let before = threads();
            assert!(!before.is_empty());
            counters(&place).open().unwrap().close().unwrap();
            std::thread::sleep(Duration::from_millis(50));
            before.iter().all(|thread| threads().contains(thread))
        });
        ids.close().unwrap();
        soon(|| threads().is_empty());
    });
}

#[test]
fn a_fork_in_a_callback_answers_in_the_parent_alone() {
    let place = Place::new();
    let next = std::sync::atomic::AtomicI64::new(1);
    let children = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let forked = std::sync::Arc::clone(&children);
    let ids = Segments::builder()
        .state_dir(place.dir.path())
        .name(&place.name)
        .step(10)
        .adaptive(false)
        .timeout_ms(PATIENT_MS)
        .fetch(move |request| {
            let start = next.fetch_add(request.step, SeqCst);
            let child = plain_fork();
            if child > 0 {
                forked.lock().unwrap().push(child);
                // The child returns first.
                std::thread::sleep(Duration::from_millis(100));
            }
            Ok(Some(leafid::Segment::new(start, start + request.step, 1)?.into()))
        })
        .open()
        .unwrap();
    let order = ids.tag("order").unwrap();
    assert_eq!(order.take(50).unwrap(), (1..=50).collect::<Vec<_>>());
    // Children have ended: none is left behind, idle.
    let begun = std::time::Instant::now();
    let children = children.lock().unwrap().clone();
    assert!(!children.is_empty());
    for child in children {
        // SAFETY: waits for a child made above, if it has ended; other tests have theirs.
        while unsafe { libc::waitpid(child, std::ptr::null_mut(), libc::WNOHANG) } == 0 {
            assert!(begun.elapsed() < HANG, "a child goes on");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
