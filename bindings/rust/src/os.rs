//! The operating system: processes and forks, threads, locks, clocks, disks, and the locks that processes of a host
//! see.
//!
//! All `unsafe` code of the host is below this module.

#[cfg(all(test, unix))]
pub(crate) mod child;
pub(crate) mod clock;
pub(crate) mod disk;
pub(crate) mod env;
pub(crate) mod filesystem_kind;
pub(crate) mod futex;
pub(crate) mod host_lock;
pub(crate) mod hostname;
mod inherited_fds;
#[cfg(unix)]
mod lock_file;
#[doc(hidden)]
pub mod log_queue;
pub(crate) mod mutex;
#[cfg(target_os = "linux")]
pub(crate) mod namespaces;
mod per_process;
pub(crate) mod process;
mod signals;
#[cfg(test)]
pub(crate) mod simulated;
#[cfg(feature = "http")]
pub(crate) mod socket;
mod stack;
pub(crate) mod sync;
mod thread;
#[cfg(windows)]
mod windows;

pub(crate) use inherited_fds::ForkSafeFd;
pub(crate) use per_process::PerProcess;
#[cfg(feature = "cli")]
pub(crate) use signals::end_on_interrupt;
pub(crate) use signals::without_signals;
pub(crate) use thread::{Thread, ThreadKind, spawn};

use leafid_core::{Code, Error, Result};

/// Checks that this thread may wait for other threads. Called before everything except taking an id from memory.
///
/// Errors: `state_io` in a child of vfork or one of unknown kind, or on a thread with too little stack, where the call would crash.
pub(crate) fn check_may_wait() -> Result<()> {
    check(stack::TO_WAIT)
}

/// Checks that this thread may open a generator, or run leafid's own work for other threads. Errors: as
/// [`check_may_wait`].
pub(crate) fn check_may_work() -> Result<()> {
    check(stack::TO_WORK)
}

fn check(needed: usize) -> Result<()> {
    if let Some(why) = process::why_no_work() {
        return Err(Error::new(Code::StateIo, why));
    }
    match stack::left_if_below(needed) {
        Some(left) => {
            let message = format!(
                "this thread has {left} bytes of stack left, and the call needs {needed}; make it on a thread with a larger \
                 stack"
            );
            Err(Error::new(Code::StateIo, message))
        }
        None => Ok(()),
    }
}
