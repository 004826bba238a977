//! The paths of a tag of segments.

use crate::{BATCH, LOCAL_CALLS, in_batches, one_by_one, rounds};
use leafid::{Segment, Segments};
use std::hint::black_box;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

pub fn count() {
    let start = AtomicI64::new(1);
    // A segment that is never used up.
    let fetch = move |_: &leafid::FetchRequest| {
        let start = start.fetch_add(1 << 40, Relaxed);
        Ok(Some(Segment::new(start, start + (1 << 40), 1)?.into()))
    };
    let segments = Segments::builder().persist(false).fetch(fetch).open().expect("open");
    let tag = segments.tag("order").expect("a tag");
    one_by_one("Tag.next", || {
        black_box(tag.next().expect("an id"));
    });
    one_by_one("Tag.try_next", || {
        black_box(tag.try_next().expect("a tag").expect("an id"));
    });
    let mut local = tag.local();
    rounds("LocalTag.next", LOCAL_CALLS, || {
        black_box(local.next().expect("an id"));
    });
    let mut out = vec![0; BATCH];
    in_batches("Tag.fill 1000", || tag.fill(black_box(&mut out)).expect("ids"));
    in_batches("Tag.take 1000", || drop(black_box(tag.take(BATCH).expect("ids"))));
}
