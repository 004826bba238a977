//! What only the operating system can do: processes and forks, threads, locks, clocks, disks, and the host's own marks.
//!
//! The only `unsafe` of the host lives below this module.

pub(crate) mod clock_source;
pub(crate) mod disk;
pub(crate) mod env;
pub(crate) mod filesystem_kind;
pub(crate) mod host_lock;
mod inherited_fds;
pub(crate) mod lock_file;
#[doc(hidden)]
pub mod log_queue;
pub(crate) mod mutex;
pub(crate) mod namespaces;
mod per_process;
mod process;
mod signals;
#[cfg(test)]
pub(crate) mod simulated;
mod stack;
mod thread;

pub(crate) use inherited_fds::Descriptor;
pub(crate) use per_process::PerProcess;
use process::is_guest;
#[cfg(feature = "cli")]
pub(crate) use process::is_wiped;
pub(crate) use process::{current, no_threads, watch};
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
        return Err(Error::new(ErrorCode::StateIo, process::GUEST));
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
