//! Atomics that let another call in between two of their steps.

pub(crate) use std::sync::atomic as statistics;
pub(crate) use std::sync::atomic::Ordering;

use std::cell::RefCell;
use std::sync::atomic;

/// What comes in, and how many steps before.
type Between = (usize, Box<dyn FnOnce()>);

thread_local! {
    static BETWEEN: RefCell<Option<Between>> = const { RefCell::new(None) };
}

/// Does `outer`, and `inner` before its step number `at`, counted from 0; none where it has fewer.
pub(crate) fn interrupted<R>(
    at: usize,
    inner: impl FnOnce() + 'static,
    outer: impl FnOnce() -> R,
) -> Option<R> {
    BETWEEN.set(Some((at, Box::new(inner))));
    let done = outer();
    BETWEEN.take().is_none().then_some(done)
}

fn step() {
    match BETWEEN.take() {
        Some((0, inner)) => inner(),
        between => BETWEEN.set(between.map(|(left, inner)| (left - 1, inner))),
    }
}

macro_rules! with_steps {
    ($($name:ident of $value:ty)*) => {$(
        #[derive(Debug)]
        pub(crate) struct $name(atomic::$name);

        impl $name {
            pub(crate) const fn new(value: $value) -> Self {
                Self(atomic::$name::new(value))
            }
            pub(crate) fn load(&self, order: Ordering) -> $value {
                step();
                self.0.load(order)
            }
            pub(crate) fn store(&self, value: $value, order: Ordering) {
                step();
                self.0.store(value, order);
            }
            pub(crate) fn swap(&self, value: $value, order: Ordering) -> $value {
                step();
                self.0.swap(value, order)
            }
            pub(crate) fn fetch_max(&self, value: $value, order: Ordering) -> $value {
                step();
                self.0.fetch_max(value, order)
            }
            pub(crate) fn compare_exchange(
                &self, from: $value, to: $value, well: Ordering, ill: Ordering,
            ) -> Result<$value, $value> {
                step();
                self.0.compare_exchange(from, to, well, ill)
            }
            pub(crate) fn compare_exchange_weak(
                &self, from: $value, to: $value, well: Ordering, ill: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(from, to, well, ill)
            }
        }
    )*};
}

with_steps! { AtomicU32 of u32 AtomicU64 of u64 }
