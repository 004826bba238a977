//! What must be known of forks: which process this is, which descriptors a child must let go, and threads and locks that
//! a fork cannot catch in the middle.
//!
//! The only `unsafe` of the host lives below this module.

mod bounded;
mod descriptor;
mod generation;
mod per_process;
mod signals;
#[cfg(test)]
pub(crate) mod simulated;
mod stack;
mod thread;

pub(crate) use bounded::{Bounded, MOST_STUCK, bounded, bounded_unless};
pub(crate) use descriptor::Descriptor;
use generation::is_guest;
#[cfg(feature = "cli")]
pub(crate) use generation::is_wiped;
pub(crate) use generation::{current, no_threads, watch};
pub(crate) use per_process::PerProcess;
pub(crate) use signals::without_signals;
pub(crate) use thread::{Code, Thread, spawn};

use leafid_core::{Code as ErrorCode, Error, Result};

/// Asked before other threads are had to do something: more than to take an id that is at hand. Errors: `state_io` in a child
/// of vfork, or on a thread with too little stack, which nothing but a crash would say.
pub(crate) fn may_ask() -> Result<()> {
    may(stack::TO_ASK)
}

/// Likewise before an opening, and before a deed of leafid's is done on the caller's thread.
pub(crate) fn may_do() -> Result<()> {
    may(stack::TO_DO)
}

fn may(needed: usize) -> Result<()> {
    if is_guest() {
        return Err(Error::new(ErrorCode::StateIo, generation::GUEST));
    }
    match stack::short_of(needed) {
        Some(left) => {
            let message = format!(
                "this thread has {left} bytes of stack left, and the call needs {needed}; make it on a thread with a larger \
                 stack"
            );
            Err(Error::new(ErrorCode::StateIo, message))
        }
        None => Ok(()),
    }
}
