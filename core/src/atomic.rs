//! The atomic types of the lock-free parts, in one place, so that tests can replace them.

pub(crate) use core::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};
