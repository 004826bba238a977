//! `leafid::testing`: the same ids in each run.
#![allow(clippy::unwrap_used)]

use leafid::testing::{FakeSegments, FakeSnowflake};
use leafid::{Code, Error, Layout};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};

const NOW: i64 = 1_767_225_600_000;

#[test]
fn ids_are_composed_of_the_clock() {
    let flake = FakeSnowflake::new(Layout::LEAF, 3, || NOW);
    let mut ids = vec![flake.next().unwrap(), flake.try_next().unwrap()];
    ids.extend(flake.take(2).unwrap());
    ids.extend(flake.iter().take(1).map(Result::unwrap));
    let mut rest = [0; 2];
    flake.fill(&mut rest).unwrap();
    ids.extend(rest);
    let composed: Vec<i64> = (0..7).map(|sequence| Layout::LEAF.compose(NOW, 3, sequence).unwrap()).collect();
    assert_eq!(ids, composed);
    assert_eq!((flake.worker_id(), flake.layout()), (Ok(3), Layout::LEAF));
}

#[test]
fn a_tick_that_is_full_is_followed_by_the_next_one() {
    for name in ["leaf", "sonyflake", "js-safe"] {
        let layout = Layout::parse(name).unwrap();
        let clock = Arc::new(AtomicI64::new(NOW));
        let reads = Arc::clone(&clock);
        let flake = FakeSnowflake::new(layout, 0, move || reads.load(SeqCst));
        let first = flake.next().unwrap();
        let ids = flake.take(usize::try_from(layout.max_sequence()).unwrap() + 1).unwrap();
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1]) && first < ids[0]);
        let start = layout.decode(first).unwrap().timestamp_ms;
        assert_eq!(ids.last(), Some(&layout.compose(start + layout.tick_ms(), 0, 0).unwrap()));
        clock.store(NOW - 1_000, SeqCst);
        assert_eq!(flake.next(), layout.compose(start + layout.tick_ms(), 0, 1));
        clock.store(NOW + 5_000, SeqCst);
        assert_eq!(flake.next(), layout.compose(NOW + 5_000, 0, 0));
    }
}

#[test]
fn given_ids_and_errors() {
    let lost = Error::new(Code::WorkerLost, "lost");
    let flake = FakeSnowflake::given([Ok(5), Err(lost.clone()), Ok(7)]);
    assert_eq!((flake.next(), flake.next(), flake.next()), (Ok(5), Err(lost), Ok(7)));
    assert!(std::panic::catch_unwind(move || flake.next()).is_err());
}

#[test]
fn closed_is_closed_and_a_worker_id_is_of_the_layout() {
    let flake = FakeSnowflake::new(Layout::LEAF, 1024, || NOW);
    assert_eq!(flake.next().unwrap_err().code(), Code::InvalidArgument);
    flake.close().unwrap();
    let codes = [flake.next().unwrap_err().code(), flake.worker_id().unwrap_err().code()];
    assert_eq!(codes, [Code::Closed, Code::Closed]);
    assert_eq!(flake.name(), "leafid-testing");
    assert!(format!("{flake:?}").contains("not unique"));
}

#[test]
fn tags_count() {
    let segments = FakeSegments::new(5);
    let order = segments.tag("order").unwrap();
    assert_eq!((order.next(), order.next_within(1), order.try_next()), (Ok(5), Ok(6), Ok(Some(7))));
    assert_eq!((order.take(2), order.take_within(1, 1)), (Ok(vec![8, 9]), Ok(vec![10])));
    let mut filled = [0; 2];
    segments.tag("order").unwrap().fill(&mut filled).unwrap();
    assert_eq!(filled, [11, 12]);
    assert!(order.take((1 << 24) + 1).is_err_and(|error| error.code() == Code::InvalidArgument));
    drop(order.next_async());
    assert_eq!((ready(order.next_async()), ready(order.take_async(2))), (Ok(13), Ok(vec![14, 15])));
    assert_eq!(order.clone().iter().take(2).collect::<Vec<_>>(), [Ok(16), Ok(17)]);
    assert_eq!(segments.tag("user").unwrap().next(), Ok(5));
    assert_eq!((order.name(), segments.name()), ("order", "leafid-testing"));
    assert!(format!("{segments:?} {order:?}").matches("not unique").count() == 2);
    segments.close().unwrap();
    let codes = [order.next().unwrap_err(), segments.tag("order").unwrap_err()].map(|error| error.code());
    assert_eq!(codes, [Code::Closed, Code::Closed]);
}

#[test]
fn tags_of_given_ids() {
    let lost = Error::new(Code::SegmentUnavailable, "lost");
    let segments = FakeSegments::given([("order", vec![Ok(7), Err(lost.clone()), Ok(8)])]);
    let order = segments.tag("order").unwrap();
    assert_eq!((order.next(), order.next(), order.next()), (Ok(7), Err(lost), Ok(8)));
    let user = segments.tag("user").unwrap();
    assert_eq!([user.next(), user.next()].map(|id| id.unwrap_err().code()), [Code::UnknownTag; 2]);
    assert!(std::panic::catch_unwind(move || order.next()).is_err());
}

/// What a future returns that does not wait.
fn ready<T>(future: impl Future<Output = T> + Unpin) -> T {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::pin!(future).poll(&mut context) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("it waits"),
    }
}
