//! Threads of the standard library: there is no fork that could copy its locks.

use super::ThreadKind;
use std::ffi::CStr;
use std::io;
use std::thread::{Builder, JoinHandle};

/// A thread. Dropping it detaches it.
pub(crate) struct Thread(JoinHandle<()>);

/// Starts a thread; `name` has at most 15 bytes. Errors: the system starts no thread.
pub(crate) fn spawn(
    name: &'static CStr,
    kind: ThreadKind,
    run: impl FnOnce() + Send + 'static,
) -> io::Result<Thread> {
    #[cfg(test)]
    if crate::os::simulated::played().is_some() {
        return Err(io::Error::other("a simulated process has no threads"));
    }
    let name = name.to_string_lossy().into_owned();
    Builder::new().name(name).stack_size(kind.stack_bytes()).spawn(run).map(Thread)
}

impl Thread {
    /// Waits until the thread has ended.
    pub(crate) fn join(self) {
        // A panic was already reported.
        let _ = self.0.join();
    }
}
