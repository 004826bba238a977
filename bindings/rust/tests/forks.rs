//! Forks of every kind: a child never repeats an id of a relative, and leaves its parent's record and lock alone.
#![allow(clippy::unwrap_used)]

#[cfg(target_os = "linux")]
#[path = "common/bump_malloc.rs"]
mod bump_malloc;
mod common;
use common::forks::{alone, in_child, plain_fork, raw_clone, start_child};
use common::programs::this_program;
use common::{HANG, PATIENT_MS, Place, sorted_and_distinct};
use leafid::{Code, Layout, Snowflake};
use std::fs::TryLockError;
use std::io::Read;
use std::time::{Duration, Instant};

fn all_kinds() -> [fn() -> i32; 2] {
    [plain_fork, raw_clone]
}

fn ids(flake: &Snowflake) -> Vec<i64> {
    let mut ids: Vec<i64> = (0..2_000).map(|_| flake.next().unwrap()).collect();
    ids.extend(flake.take(9_000).unwrap());
    ids
}

#[test]
fn range_children_and_grandchildren_get_ids_of_their_own() {
    if !alone("range_children_and_grandchildren_get_ids_of_their_own") {
        return;
    }
    for fork in all_kinds() {
        let place = Place::new();
        let flake = place.builder().worker(0..=31).open().unwrap();
        let mut all = ids(&flake);
        all.extend(in_child(fork, |say| {
            ids(&flake).into_iter().for_each(&mut *say);
            in_child(fork, |say| ids(&flake).into_iter().for_each(say)).into_iter().for_each(&mut *say);
            ids(&flake).into_iter().for_each(&mut *say);
        }));
        all.extend(ids(&flake));
        let mut workers: Vec<u32> =
            all.iter().map(|&id| Layout::LEAF.decode(id).unwrap().worker_id).collect();
        workers.dedup();
        assert_eq!(workers, [0, 1, 2, 1, 0]);
        assert!(sorted_and_distinct(all));
    }
}

#[test]
fn handles_of_one_generator_become_one_child_generator() {
    let place = Place::new();
    let a = place.builder().worker(0..=31).open().unwrap();
    let b = a.clone();
    let said = in_child(plain_fork, |say| {
        let c = place.builder().worker(0..=31).open().unwrap();
        for flake in [&a, &b, &c] {
            say(flake.worker_id().unwrap().into());
            say(flake.stats().unwrap().handles as i64);
        }
    });
    assert_eq!(said, [1, 2, 1, 3, 1, 3]);
}

#[test]
fn a_clone_made_in_a_child_knows_what_the_parent_held() {
    let place = Place::new();
    let asked = |request: &leafid::ClaimRequest| -> leafid::Answer<Option<i64>> {
        Ok(Some(request.previous.map_or(5, |previous| i64::from(previous) + 10)))
    };
    let flake = place.builder().worker(leafid::WorkerSource::callback(asked)).open().unwrap();
    flake.next().unwrap();
    let said = in_child(plain_fork, |say| {
        let clone = flake.clone();
        say(Layout::LEAF.decode(clone.next().unwrap()).unwrap().worker_id.into());
        say(clone.stats().unwrap().handles as i64);
    });
    assert_eq!(said, [15, 2]);
}

#[test]
fn a_child_that_ends_leaves_the_parent_s_record_and_lock() {
    if !alone("a_child_that_ends_leaves_the_parent_s_record_and_lock") {
        return;
    }
    for fork in all_kinds() {
        let place = Place::new();
        let flake = place.builder().worker(7).open().unwrap();
        ids(&flake);
        let end_ms = place.until_ms(7);
        in_child(fork, |_| drop(flake.clone()));
        in_child(fork, |say| {
            let error = flake.next().unwrap_err();
            assert_eq!(error.code(), Code::WorkerInUse);
            say(0);
            flake.close().unwrap();
        });
        assert!(place.until_ms(7) >= end_ms);
        // Besides the record's lock the host lock keeps others away.
        let file = std::fs::File::open(place.file(7)).unwrap();
        assert!(matches!(file.try_lock(), Err(TryLockError::WouldBlock)), "the parent's lock is gone");
        let third = this_program()
            .args(["--exact", "third_process", "--ignored", "--nocapture"])
            .env("LEAFID_TEST_NAME", &place.name)
            .env("LEAFID_STATE_DIR", place.dir.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&third.stdout).into_owned();
        assert!(said.contains("OPENED worker_in_use"), "{said}");
        ids(&flake);
    }
}

/// Run by the test above only.
#[test]
#[ignore = "a helper process of another test"]
fn third_process() {
    let Ok(name) = std::env::var("LEAFID_TEST_NAME") else { return };
    let opened = Snowflake::builder().name(name).worker(7).timeout_ms(PATIENT_MS).open();
    println!("OPENED {}", opened.map_or_else(|error| error.to_string(), |_| "it".into()));
}

/// Asks until the parent is gone. Each call that is refused had the time that a daemon's parent needs to exit.
fn once_it_is_free(flake: &Snowflake) -> i64 {
    loop {
        let begun = Instant::now();
        match flake.next() {
            Err(error) if error.code() == Code::WorkerInUse => {
                assert!(begun.elapsed() >= Duration::from_millis(450), "{:?}: {error}", begun.elapsed());
            }
            id => return id.unwrap(),
        }
    }
}

#[test]
fn a_fixed_id_passes_from_an_exiting_parent_to_its_child() {
    for round in 0..50 {
        let place = Place::new();
        // The daemon's parent: opens, forks, and ends at once, or after the child's first try.
        let said = in_child(plain_fork, |say| {
            let flake = place.builder().worker(7).open().unwrap();
            let before = flake.next().unwrap();
            say(before);
            let (pid, mut reader) = start_child(plain_fork, |say| say(once_it_is_free(&flake)));
            if pid > 0 {
                // Not waited for: the grandchild answers once this process is gone. Its id goes through a third one.
                let forwarder = plain_fork();
                if forwarder == 0 {
                    let mut id = [0; 8];
                    reader.read_exact(&mut id).unwrap();
                    say(i64::from_ne_bytes(id));
                    // SAFETY: ends the forwarder.
                    unsafe { libc::_exit(0) };
                }
                if round < 5 {
                    std::thread::sleep(Duration::from_millis(100));
                }
            }
        });
        assert_eq!(said.len(), 2);
        assert!(said[1] > said[0]);
    }
}

#[test]
fn a_dead_parent_s_id_is_free_though_its_idle_child_lives() {
    let place = Place::new();
    let (parent, mut reader) = start_child(plain_fork, |say| {
        let flake = place.builder().worker(7).open().unwrap();
        flake.next().unwrap();
        // The child is out of fork, and has closed what it inherited, when it says so.
        if plain_fork() == 0 {
            say(std::process::id().into());
        }
        std::thread::sleep(HANG);
    });
    let mut child = [0; 8];
    reader.read_exact(&mut child).unwrap();
    // SAFETY: processes made above.
    unsafe {
        libc::kill(parent, libc::SIGKILL);
        libc::waitpid(parent, std::ptr::null_mut(), 0);
    }
    let opened = place.builder().worker(7).open();
    // SAFETY: as above.
    unsafe { libc::kill(i64::from_ne_bytes(child) as i32, libc::SIGKILL) };
    opened.unwrap().next().unwrap();
}

#[test]
fn forks_while_other_threads_issue_and_open() {
    let place = Place::new();
    let flake = place.builder().worker(0..=63).open().unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let all = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3)
            .map(|i| {
                let (flake, stop, place) = (&flake, &stop, &place);
                scope.spawn(move || {
                    let mut mine = Vec::new();
                    while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                        match i {
                            // Opens and closes while the others fork: claims race with forks.
                            0 => {
                                mine.extend(place.builder().worker(64..=71).open().unwrap().take(10).unwrap())
                            }
                            1 => mine.push(flake.next().unwrap()),
                            _ => mine.extend(flake.take(100).unwrap()),
                        }
                        std::thread::sleep(Duration::from_micros(50));
                    }
                    mine
                })
            })
            .collect();
        let mut all = Vec::new();
        for _ in 0..40 {
            all.extend(in_child(plain_fork, |say| {
                (0..100).for_each(|_| say(flake.next().unwrap()));
                flake.close().unwrap();
            }));
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        threads.into_iter().for_each(|thread| all.extend(thread.join().unwrap()));
        all
    });
    assert!(all.len() > 4_000);
    assert!(sorted_and_distinct(all));
    place.builder().worker(64..=64).open().unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_child_has_no_worker_id_that_nothing_keeps_from_its_parent() {
    let without_sockets = || {
        common::forks::refuse_calls(&[libc::SYS_socket]);
        let place = Place::new();
        let flake = place.builder().persist(false).worker(7).exclusive_range(true).open().unwrap();
        flake.next().unwrap();
        in_child(plain_fork, |say| {
            let error = flake.next().unwrap_err();
            assert_eq!(error.code(), Code::InvalidArgument, "{error}");
            assert!(error.message().contains("forked from one that has worker id 7"), "{error}");
            // The grandchild is one of the same parent.
            in_child(plain_fork, |_| assert_eq!(flake.next().unwrap_err().code(), Code::InvalidArgument));
            say(0);
        });
        flake.next().unwrap();
    };
    std::thread::spawn(without_sockets).join().unwrap();
}
