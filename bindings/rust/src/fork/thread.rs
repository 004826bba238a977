//! Threads of leafid's own, made by pthread_create itself.
//!
//! The standard library's threads take a lock of the process when they begin and end (that of its stack overflow
//! handler), which a fork can catch taken: threads of the child would then wait for it for ever.

use super::{is_raw_child, without_signals};
use std::ffi::{CStr, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

const STACK_BYTES: usize = 256 * 1024;

/// A thread that takes no signals. Dropping it lets it run on.
pub(crate) struct Thread {
    id: libc::pthread_t,
}

struct Start {
    name: &'static CStr,
    run: Box<dyn FnOnce() + Send>,
}

/// Starts a thread with every signal blocked; `name` has at most 15 bytes. Errors: the system gives none, or this is the
/// child of a raw clone, in which the C library's own locks may stand as the parent's threads left them.
pub(crate) fn spawn(name: &'static CStr, run: impl FnOnce() + Send + 'static) -> io::Result<Thread> {
    if is_raw_child() {
        return Err(io::Error::other("a child of _Fork or a raw clone has no further threads"));
    }
    let start = Box::into_raw(Box::new(Start { name, run: Box::new(run) }));
    let mut id = MaybeUninit::uninit();
    let failed = without_signals(|| {
        let mut attributes = MaybeUninit::uninit();
        // SAFETY: the attributes are initialised before they are used and destroyed after; `begin` takes what `start`
        // points to.
        unsafe {
            let failed = libc::pthread_attr_init(attributes.as_mut_ptr());
            if failed != 0 {
                return failed;
            }
            libc::pthread_attr_setstacksize(attributes.as_mut_ptr(), STACK_BYTES);
            let failed = libc::pthread_create(id.as_mut_ptr(), attributes.as_ptr(), begin, start.cast());
            libc::pthread_attr_destroy(attributes.as_mut_ptr());
            failed
        }
    });
    if failed != 0 {
        // SAFETY: made above, and no thread has it.
        drop(unsafe { Box::from_raw(start) });
        return Err(io::Error::from_raw_os_error(failed));
    }
    // SAFETY: pthread_create succeeded and wrote it.
    Ok(Thread { id: unsafe { id.assume_init() } })
}

extern "C" fn begin(start: *mut c_void) -> *mut c_void {
    // SAFETY: made by `spawn`, for this thread alone.
    let Start { name, run } = *unsafe { Box::from_raw(start.cast::<Start>()) };
    // SAFETY: this thread, and a string that ends.
    unsafe { libc::pthread_setname_np(libc::pthread_self(), name.as_ptr()) };
    // A panic has said so itself; it must not leave this function.
    let _ = catch_unwind(AssertUnwindSafe(run));
    ptr::null_mut()
}

impl Thread {
    /// Waits until the kernel sees it gone.
    pub(crate) fn join(self) {
        let id = self.id;
        std::mem::forget(self);
        // SAFETY: neither joined nor detached before.
        without_signals(|| unsafe { libc::pthread_join(id, ptr::null_mut()) });
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        // SAFETY: neither joined nor detached before.
        unsafe { libc::pthread_detach(self.id) };
    }
}
