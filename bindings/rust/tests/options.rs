//! What an opening refuses besides bad values, which option_vectors.rs has.

#![allow(clippy::unwrap_used)]

mod common;
use common::Place;
use leafid::{Code, Layout};
use std::time::{Duration, Instant};

#[test]
fn a_worker_must_be_named() {
    assert!(std::env::var_os("LEAFID_WORKER").is_none(), "the tests run without LEAFID_WORKER");
    let error = Place::new().builder().open().unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    assert!(error.message().starts_with("worker is not set, nor is LEAFID_WORKER; allowed: "), "{error}");
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
