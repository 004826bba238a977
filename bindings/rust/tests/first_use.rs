//! The first use in a process, by many threads at once.
#![allow(clippy::unwrap_used)]

mod common;
use common::programs::this_program;
use common::{HANG, PATIENT_MS, Place};
use leafid::Snowflake;
use std::sync::Barrier;
use std::time::{Duration, Instant};

const THREADS: u32 = 8;

#[test]
fn threads_that_come_first_at_once_have_a_background_thread() {
    for _ in 0..40 {
        let place = Place::new();
        let ran = this_program()
            .args(["--exact", "first_use_by_many_threads", "--ignored", "--nocapture"])
            .env("LEAFID_TEST_NAME", &place.name)
            .env("LEAFID_STATE_DIR", place.dir.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert!(ran.status.success() && said.contains("RENEWED BY leafid"), "{said}");
    }
}

/// Run by the test above only, in a process that has not used leafid yet.
#[test]
#[ignore = "a helper process of another test"]
fn first_use_by_many_threads() {
    let Ok(name) = std::env::var("LEAFID_TEST_NAME") else { return };
    let start = Barrier::new(THREADS as usize);
    let flakes: Vec<Snowflake> = std::thread::scope(|scope| {
        let open = |worker| {
            start.wait();
            Snowflake::builder().name(&name).worker(worker).timeout_ms(PATIENT_MS).open().unwrap()
        };
        let threads: Vec<_> = (0..THREADS).map(|worker| scope.spawn(move || open(worker))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for flake in &flakes {
        flake.next().unwrap();
    }
    let named = || {
        let names = std::fs::read_dir("/proc/self/task").unwrap().filter_map(|task| {
            let name = std::fs::read_to_string(task.ok()?.path().join("comm")).ok()?;
            (name.trim() == "leafid").then_some(name)
        });
        names.count()
    };
    // A thread names itself once it runs.
    let begun = Instant::now();
    while named() != 1 {
        assert!(begun.elapsed() < HANG, "{} background threads", named());
        std::thread::sleep(Duration::from_millis(1));
    }
    println!("RENEWED BY leafid");
}
