//! One holder of a worker id: per process, per host, per range.

#![allow(clippy::unwrap_used)]

mod common;
use common::programs::this_program;
use common::{HANG, PATIENT_MS, Place};
use leafid::{Code, OnClockBackwards, Snowflake};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// This test binary again, as another process that holds a worker id until its input ends.
fn holder(place: &Place, dir: &std::path::Path, worker: &str) -> (Child, String) {
    let mut child = this_program()
        .args(["--exact", "held_by_another_process", "--ignored", "--nocapture"])
        .env("LEAFID_TEST_NAME", &place.name)
        .env("LEAFID_STATE_DIR", dir)
        .env("LEAFID_WORKER", worker)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    let said = lines.find_map(|line| Some(line.ok()?.split_once("HELD ")?.1.to_string())).unwrap();
    (child, said)
}

/// Run by `holder` only: options come from the environment.
#[test]
#[ignore = "a helper process of the other tests"]
fn held_by_another_process() {
    let Ok(name) = std::env::var("LEAFID_TEST_NAME") else { return };
    match Snowflake::builder().name(name).timeout_ms(PATIENT_MS).open() {
        Ok(flake) => {
            flake.next().unwrap();
            println!("HELD {}", flake.worker_id().unwrap());
            std::io::stdout().flush().unwrap();
            let _ = std::io::stdin().read_line(&mut String::new());
        }
        Err(error) => println!("HELD {error}"),
    }
}

#[test]
fn a_second_process_is_refused_at_once_naming_the_holder() {
    let place = Place::new();
    let (mut child, said) = holder(&place, place.dir.path(), "7");
    assert_eq!(said, "7");
    let other_dir = Place::new();
    for dir in [place.dir.path(), other_dir.dir.path()] {
        let begun = Instant::now();
        let error = place
            .builder()
            .state_dir(dir)
            .worker(7)
            .timeout_ms((2 * HANG).as_millis() as i64)
            .open()
            .unwrap_err();
        assert!(begun.elapsed() < HANG, "at once, not after timeout_ms");
        assert_eq!(error.code(), Code::WorkerInUse);
        assert!(error.message().contains(&format!("pid {} on host ", child.id())), "{error}");
        assert!(error.message().contains("started 20"), "{error}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    place.builder().worker(7).open().unwrap();
}

#[test]
fn the_same_settings_share_one_generator() {
    let place = Place::new();
    let (a, b) = (place.builder().worker(7).open().unwrap(), place.builder().worker("7").open().unwrap());
    assert_eq!(a.stats().unwrap().handles, 2);
    assert!(a.next().unwrap() < b.next().unwrap());
    a.close().unwrap();
    assert_eq!(a.next().unwrap_err().code(), Code::Closed);
    a.close().unwrap();
    b.next().unwrap();
    let error = place.builder().worker(7).on_clock_backwards(OnClockBackwards::Wait).open().unwrap_err();
    assert_eq!(error.code(), Code::WorkerInUse);
    assert!(error.message().contains("this process"), "{error}");
    assert_eq!(b.stats().unwrap().handles, 1);
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_without_host_locks_holds_a_worker_id_once() {
    use common::forks::{alone, in_child, plain_fork, refuse_calls};
    if !alone("a_process_without_host_locks_holds_a_worker_id_once") {
        return;
    }
    let (place, other) = (Place::new(), Place::new());
    let beside = place.builder().state_dir(other.dir.path()).worker(7);
    let in_memory = |below| place.builder().worker(7).persist(false).random_start(below);
    // Their records get their names before that is forbidden.
    for builder in [place.builder().worker(7), beside.clone()] {
        builder.open().unwrap().close().unwrap();
    }
    // No local sockets, and no file gets its name in /run/lock.
    refuse_calls(&[libc::SYS_socket, libc::SYS_linkat]);
    let error = in_memory(0).exclusive_range(false).open().unwrap_err();
    assert!(error.message().contains("no host lock can be taken here"), "{error}");
    for holder in [place.builder().worker(7), in_memory(0).exclusive_range(true)] {
        let held = holder.open().unwrap();
        for second in [&beside, &in_memory(1_000).exclusive_range(true)] {
            let error = second.open().unwrap_err();
            assert_eq!(error.code(), Code::WorkerInUse);
            assert!(error.message().contains("is held by this process; close that generator"), "{error}");
        }
        // A child holds nothing of its parent's, and its end gives nothing of that back.
        let ids = in_child(plain_fork, |say| say(beside.open().unwrap().next().unwrap()));
        assert_eq!(ids.len(), 1);
        assert_eq!(beside.open().unwrap_err().code(), Code::WorkerInUse);
        held.close().unwrap();
        beside.open().unwrap().close().unwrap();
    }
}

#[test]
fn a_close_wakes_who_waits_for_a_span() {
    let place = Place::new();
    for _ in 0..30 {
        let flake = place.builder().worker(7).timeout_ms((2 * HANG).as_millis() as i64).open().unwrap();
        let begun = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| while flake.take(5_000).is_ok() {});
            }
            std::thread::sleep(Duration::from_millis(10));
            flake.close().unwrap();
        });
        assert!(begun.elapsed() < HANG, "no caller waits for a generator that is closed");
    }
}
