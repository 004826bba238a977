//! While a runtime forks no code of the user's runs. One test: it counts the threads of its process.
#![allow(clippy::unwrap_used)]

use leafid::{Segment, Segments};
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::time::Duration;

const ENOUGH: Duration = Duration::from_secs(900);

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

#[test]
fn no_thread_begins_but_for_who_waits() {
    let (next, before) = (AtomicI64::new(1), threads());
    let source = move |request: &leafid::FetchRequest| {
        let start = next.fetch_add(request.step, SeqCst);
        Ok(Some(Segment::new(start, start + request.step, 1)?.into()))
    };
    let builder = Segments::builder().persist(false).fetch(source).step(100).adaptive(false);
    let ids = builder.timeout_ms(ENOUGH.as_millis() as i64).open().unwrap();
    let order = ids.tag("order").unwrap();
    assert_eq!(order.next().unwrap(), 1);
    leafid::quiesce(ENOUGH);
    assert_eq!(threads(), before);
    // The next segment is asked for, and once more for those that were put back.
    let mut all: Vec<i64> = (0..20).map_while(|_| order.next_in_memory()).collect();
    order.put_back(order.take_run(10).unwrap().unwrap());
    all.extend(std::iter::from_fn(|| order.next_in_memory()));
    all.sort_unstable();
    assert_eq!(all, (2..=100).collect::<Vec<_>>());
    assert!(order.stats().unwrap().fetching);
    assert_eq!(threads(), before);
    assert_eq!(order.next().unwrap(), 101);
    leafid::resume();
}
