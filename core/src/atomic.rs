//! The atomic types of the lock-free parts, in one place, so that tests can replace them.

/// For statistics and the habits of messages, by which nothing is decided: tests replace no type of these.
pub(crate) use core::sync::atomic as statistics;
pub(crate) use core::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};
