//! Bad options: each error names the option, its value and what is allowed.

#![allow(clippy::unwrap_used)]

mod common;
use common::Place;
use leafid::{Code, Layout, OnClockBackwards, OnExhausted, SnowflakeBuilder, Worker};
use std::time::{Duration, Instant};

fn refused(builder: SnowflakeBuilder, parts: &[&str]) {
    let error = builder.open().unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    for part in parts {
        assert!(error.message().contains(part), "{error} lacks {part}");
    }
    assert!(error.message().contains("allowed: "), "{error}");
}

#[test]
fn workers() {
    let place = Place::new();
    for text in
        ["", " ", "7 ", "-1", "+7", "0-", "-", "0-31-2", "a", "0x7", "7.0", "99999999999999999999", "9-3"]
    {
        refused(place.builder().worker(text), &["worker", text]);
    }
    refused(place.builder().worker(1024), &["worker is 1024", "0 to 1023"]);
    refused(place.builder().worker(Worker::Id(-1)), &["worker is -1"]);
    refused(place.builder().worker("0-1024"), &["0-1024", "0 to 1023"]);
    refused(place.builder().worker(5..5), &["worker"]);
    refused(place.builder().worker(8).layout(Layout::JS_SAFE), &["worker is 8", "0 to 7"]);
}

#[test]
fn a_worker_must_be_named() {
    assert!(std::env::var_os("LEAFID_WORKER").is_none(), "the tests run without LEAFID_WORKER");
    refused(Place::new().builder(), &["worker", "LEAFID_WORKER"]);
}

#[test]
fn names_and_directories() {
    let place = Place::new();
    for name in ["", ".", "..", ".x", "a/b", "a b", "ä", "a\0", &"x".repeat(65)] {
        refused(place.builder().worker(7).name(name), &["name"]);
    }
    refused(place.builder().worker(7).state_dir(""), &["state_dir"]);
}

#[test]
fn numbers() {
    let place = Place::new();
    let b = || place.builder().worker(7);
    for ms in [i64::MIN, -1, 99, 3_600_001, i64::MAX] {
        refused(b().max_backwards_ms(ms), &["max_backwards_ms", &ms.to_string()]);
    }
    refused(b().on_clock_backwards(OnClockBackwards::Wait).max_backwards_ms(-1), &["max_backwards_ms is -1"]);
    for ms in [-1, 3_600_001, i64::MIN, i64::MAX] {
        refused(b().no_record_wait_ms(ms), &["no_record_wait_ms", &ms.to_string()]);
    }
    for n in [-1, 1_000_001] {
        refused(b().random_start(n), &["random_start", &n.to_string()]);
    }
    for ms in [-5, 0, 3_600_001] {
        refused(b().timeout_ms(ms), &["timeout_ms", &ms.to_string()]);
    }
    refused(b().epoch_ms(-1), &["epoch_ms is -1"]);
    refused(b().epoch_ms(9_000_000_000_000), &["epoch_ms is 9000000000000"]);
    // The bits still fit, but the clock has not come there.
    refused(b().epoch_ms(4_000_000_000_000), &["epoch_ms is 4000000000000", "not ahead of the clock"]);
    let both = b().on_clock_backwards(OnClockBackwards::Wait).on_exhausted(OnExhausted::Borrow);
    refused(both, &["on_exhausted"]);
}

#[test]
fn an_ended_layout_is_refused() {
    let error = Place::new().builder().worker(7).layout(Layout::UID_GENERATOR).open().unwrap_err();
    assert_eq!(error.code(), Code::TimeExhausted);
    assert!(error.message().contains("2024-11-20"), "{error}");
}

#[test]
fn a_short_timeout_still_names_the_holder() {
    let place = Place::new();
    let _held = place.builder().worker(7).open().unwrap();
    for ms in [1, 20, 100] {
        // Other settings: another generator, which the lock keeps apart.
        let begun = Instant::now();
        let error = place.builder().worker(7).random_start(3).timeout_ms(ms).open().unwrap_err();
        // A busy machine may have needed all of the time, and the 50 ms for which a held id is tried again.
        let waited = begun.elapsed() >= Duration::from_millis(ms as u64 + 50);
        assert!(error.code() == Code::WorkerInUse || waited, "timeout_ms {ms}: {error}");
    }
}
