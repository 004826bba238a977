//! Threads of the standard library: there is no fork that could copy its locks.

use super::ThreadKind;
use std::ffi::CStr;
use std::io;
use std::ptr;
use std::sync::Once;
use std::thread::{Builder, JoinHandle};
use windows_sys::Win32::System::LibraryLoader::{
    GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, GET_MODULE_HANDLE_EX_FLAG_PIN, GetModuleHandleExW,
};

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
    stay_loaded();
    let name = name.to_string_lossy().into_owned();
    Builder::new().name(name).stack_size(kind.stack_bytes()).spawn(run).map(Thread)
}

/// Keeps the module with this code in the process: FreeLibrary would take it from running threads.
fn stay_loaded() {
    static DONE: Once = Once::new();
    DONE.call_once(|| {
        let mut module = ptr::null_mut();
        let flags = GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS;
        // SAFETY: an address in this module, and a variable of this call.
        unsafe { GetModuleHandleExW(flags, stay_loaded as *const () as *const u16, &raw mut module) };
    });
}

impl Thread {
    /// Waits until the thread has ended.
    pub(crate) fn join(self) {
        // A panic was already reported.
        let _ = self.0.join();
    }
}
