//! Worker ids from a user callback.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::untold::Untold;
use common::{HANG, PATIENT_MS, Place, until};
use leafid::{Answer, ClaimRequest, Code, WorkerSource};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

#[test]
fn what_the_callback_answers_is_checked() {
    static ENDS: AtomicBool = AtomicBool::new(false);
    let place = Place::new();
    let held = place.builder().worker(5).open().unwrap();
    let open = |answer: fn(&ClaimRequest) -> Answer<Option<i64>>, ms| {
        place.builder().timeout_ms(ms).worker(WorkerSource::callback(answer)).open()
    };
    for (answer, code, says) in [
        (
            (|_| Ok(Some(1_024))) as fn(&ClaimRequest) -> Answer<Option<i64>>,
            Code::InvalidArgument,
            "worker_id is 1024",
        ),
        (|_| Ok(Some(-1)), Code::InvalidArgument, "worker_id is -1"),
        (|_| Ok(Some(i64::MAX)), Code::InvalidArgument, "9223372036854775807"),
        (|_| Err("no route to the database".into()), Code::WorkerLost, "no route to the database"),
        (|_| panic!("a defect of the user's"), Code::WorkerLost, "panicked"),
        (|_| Err(Untold.into()), Code::WorkerLost, "panicked"),
        (|_| Ok(None), Code::WorkerInUse, "no free worker id"),
        (|_| Ok(Some(5)), Code::WorkerInUse, "worker id 5"),
        (
            |_| {
                until("the end", || ENDS.load(SeqCst));
                Ok(Some(6))
            },
            Code::WorkerLost,
            "timeout_ms (300)",
        ),
        (
            |_| Err(Box::new(leafid::Error::new(Code::SourceInvalid, "its own"))),
            Code::SourceInvalid,
            "its own",
        ),
    ] {
        let ms = if says.starts_with("timeout_ms") { 300 } else { PATIENT_MS };
        let error = open(answer, ms).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(error.message().contains(says), "{error}");
    }
    ENDS.store(true, SeqCst);
    let flake = open(
        |request| {
            assert_eq!(request.previous, None);
            Ok(Some(7))
        },
        PATIENT_MS,
    )
    .unwrap();
    assert_eq!(flake.worker_id().unwrap(), 7);
    assert_eq!(held.worker_id().unwrap(), 5);
}

#[test]
fn a_source_is_asked_once_for_a_process() {
    let place = Place::new();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let source = WorkerSource::callback(move |_| Ok(Some(count.fetch_add(1, SeqCst) as i64)));
    let first = place.builder().worker(source.clone()).open().unwrap();
    let second = place.builder().worker(source).open().unwrap();
    assert_eq!((first.worker_id().unwrap(), second.worker_id().unwrap()), (0, 0));
    assert_eq!(asked.load(SeqCst), 1);
}

/// 16 calls that hang are the most.
#[test]
fn a_call_hangs_only_once_its_time_is_over() {
    let (begun, ends) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let open = |timeout: Duration, waits: bool| {
        let (place, begun, ends) = (Place::new(), begun.clone(), ends.clone());
        let source = WorkerSource::callback(move |_| {
            begun.fetch_add(1, SeqCst);
            until("the end", || !waits || ends.load(SeqCst));
            Ok(Some(0))
        });
        place.builder().timeout_ms(timeout.as_millis() as i64).worker(source).open().map(drop)
    };
    std::thread::scope(|scope| {
        let opening: Vec<_> = (0..16).map(|_| scope.spawn(|| open(HANG, true))).collect();
        until("the first calls", || begun.load(SeqCst) == 16);
        std::thread::sleep(Duration::from_millis(1_200));
        let last = open(HANG, false);
        ends.store(true, SeqCst);
        last.unwrap();
        opening.into_iter().for_each(|opened| opened.join().unwrap().unwrap());
    });
}
