//! What threads share and wait by, in one place: tests/loom and tests/shuttle replace it by their own.

pub(crate) use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, atomic};
pub(crate) use std::time::Instant;
pub(crate) use std::{thread, thread_local};

/// A static that tests start again.
macro_rules! global {
    ($name:ident: $type:ty = $value:expr) => {
        static $name: $type = $value;
    };
}
pub(crate) use global;
