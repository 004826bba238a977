//! A close ends the threads that fetch. One test: it counts the threads of its process.
#![allow(clippy::unwrap_used)]

use leafid::{Segment, Segments};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// Idle threads end by themselves after 10 s.
const SOON: Duration = Duration::from_secs(9);

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

#[test]
fn no_thread_is_left_after_a_close() {
    let before = threads();
    let next = Arc::new(AtomicI64::new(1));
    for _ in 0..20 {
        let next = Arc::clone(&next);
        let source = move |request: &leafid::FetchRequest| {
            let start = next.fetch_add(request.step, SeqCst);
            Ok(Some(Segment::new(start, start + request.step, 1)?.into()))
        };
        let ids = Segments::builder().persist(false).timeout_ms(60_000).fetch(source).open().unwrap();
        ids.tag("order").unwrap().next().unwrap();
        ids.close().unwrap();
        // A thread that was in the source ends when it is out of it.
        let begun = Instant::now();
        while threads() > before {
            assert!(begun.elapsed() < SOON, "{} threads, {before} before", threads());
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
