//! The atomic types of the lock-free parts, in one place: tests/loom replaces them by loom's.

/// For statistics and the habits of messages, by which nothing is decided: tests replace no type of these.
pub(crate) use core::sync::atomic as statistics;
#[cfg(not(leafid_loom))]
pub(crate) use core::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering, fence};
#[cfg(leafid_loom)]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering, fence};
