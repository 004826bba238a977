//! How much several threads make together: from 1 to 64 of them.

use crate::harness::{Id, now_ms};
use crate::open::{segments, wide};
use crate::together::{Make, threads};
use leafid::ClockSource;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const THREADS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Of all threads together.
const IDS: usize = 1_920_000;

pub fn scaled(peer: &str, what: &str, make: impl Make) {
    for n in THREADS {
        threads(peer, what, "threads", n, IDS, &make);
    }
}

/// All threads call the same function.
pub fn shared<T: Id>(peer: &str, what: &str, f: impl Fn() -> T + Sync) {
    scaled(peer, what, || || f());
}

pub fn measure() {
    let counter = AtomicU64::new(0);
    shared("floor", "clock read + shared counter", || now_ms() + counter.fetch_add(1, Relaxed));
    shared("floor", "shared counter", || counter.fetch_add(1, Relaxed));
    let flake = wide().open().expect("open");
    shared("leafid", "Snowflake::next", || flake.next().expect("an id"));
    scaled("leafid", "Snowflake::local", || {
        let mut local = flake.local();
        move || local.next().expect("an id")
    });
    let coarse = wide().clock_source(ClockSource::Coarse).open().expect("open");
    shared("leafid", "Snowflake::next, coarse", || coarse.next().expect("an id"));
    let order = segments().tag("order").expect("a tag");
    shared("leafid", "Tag::next", || order.next().expect("an id"));
    scaled("leafid", "Tag::local", || {
        let mut local = order.local();
        move || local.next().expect("an id")
    });
}
