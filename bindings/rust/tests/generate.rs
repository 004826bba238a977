//! Issuing ids, alone and from many threads.

#![allow(clippy::unwrap_used)]

mod common;
use common::{Place, sorted_and_distinct};
use leafid::{Code, Layout};

#[test]
fn ids_increase_and_decode_to_their_worker_and_time() {
    let place = Place::new();
    let flake = place.builder().worker(7).open().unwrap();
    let now_ms =
        || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as i64;
    let before = now_ms();
    let ids: Vec<i64> = (0..20_000).map(|_| flake.next().unwrap()).collect();
    assert!(ids.windows(2).all(|w| w[0] < w[1]));
    let parts = Layout::LEAF.decode(ids[0]).unwrap();
    assert_eq!(parts.worker_id, 7);
    assert!((before..=now_ms()).contains(&parts.timestamp_ms), "{} {before}", parts.timestamp_ms);
}

#[test]
fn batches_and_single_ids_are_one_sequence() {
    let place = Place::new();
    let flake = place.builder().worker(7).open().unwrap();
    let mut ids = vec![flake.next().unwrap()];
    ids.extend(flake.take(10_000).unwrap());
    ids.push(flake.next().unwrap());
    let mut more = [0; 5_000];
    flake.fill(&mut more).unwrap();
    ids.extend(more);
    assert!(ids.windows(2).all(|w| w[0] < w[1]));
}

#[test]
fn threads_share_one_generator() {
    let place = Place::new();
    let flake = place.builder().worker(7).open().unwrap();
    let all: Vec<i64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|i| {
                let flake = flake.clone();
                scope.spawn(move || match i % 2 {
                    0 => (0..20_000).map(|_| flake.next().unwrap()).collect::<Vec<_>>(),
                    _ => (0..20).flat_map(|_| flake.take(1_000).unwrap()).collect(),
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(all.len(), 160_000);
    assert!(sorted_and_distinct(all));
}

#[test]
fn a_batch_has_up_to_2_pow_24_ids() {
    let place = Place::new();
    let flake = place.builder().worker(7).open().unwrap();
    for n in [(1 << 24) + 1, 1 << 40] {
        let error = flake.take(n).unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument);
        assert!(error.message().contains(&format!("n is {n}; allowed: 0 to 16777216")), "{error}");
    }
}

#[test]
fn no_ids_are_an_empty_batch_without_a_claim() {
    let place = Place::new();
    let other = place.builder().worker(7).open().unwrap();
    let lazy = place.builder().worker(7).lazy(true).random_start(0).open().unwrap();
    assert!(lazy.take(0).unwrap().is_empty());
    lazy.fill(&mut []).unwrap();
    assert_eq!(lazy.take(1).unwrap_err().code(), Code::WorkerInUse);
    other.close().unwrap();
    assert_eq!(other.take(0).unwrap_err().code(), Code::Closed);
    assert_eq!(other.fill(&mut []).unwrap_err().code(), Code::Closed);
}
