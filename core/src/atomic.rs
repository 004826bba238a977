//! The atomics of the lock-free parts, in one place: tests put others there.

pub(crate) use core::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};
