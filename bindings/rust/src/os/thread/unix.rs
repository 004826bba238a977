//! Threads of leafid, started with pthread_create.
//!
//! Threads of the standard library take a process-wide lock when they start and end (that of its stack overflow
//! handler). A fork can copy this lock while it is held, and then threads of the child would wait for it for ever.

use super::ThreadKind;
use crate::os::process::why_no_threads;
use crate::os::without_signals;
use std::ffi::{CStr, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering::Acquire, Ordering::Release};
#[cfg(target_os = "linux")]
use std::time::{Duration, Instant};

/// How long a joined thread may stay in the kernel's list. After that, its number may belong to another thread.
#[cfg(target_os = "linux")]
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

/// A thread with all signals blocked. Dropping it detaches it.
pub(crate) struct Thread {
    id: libc::pthread_t,
    /// The kernel's number of the thread, once it has started.
    tid: Arc<AtomicI32>,
    joined: bool,
}

// SAFETY: threads may be joined and detached from any thread. In some C libraries the id is a pointer.
unsafe impl Send for Thread {}
// SAFETY: as above.
unsafe impl Sync for Thread {}

struct StartArguments {
    name: &'static CStr,
    tid: Arc<AtomicI32>,
    run: Box<dyn FnOnce() + Send>,
}

/// Starts a thread with all signals blocked; `name` has at most 15 bytes.
///
/// Errors: the system starts no thread; this process is the child of a raw clone, where threads of the parent may still
/// hold the C library's locks; or it is a child of vfork, and the thread would end with it.
pub(crate) fn spawn(
    name: &'static CStr,
    kind: ThreadKind,
    run: impl FnOnce() + Send + 'static,
) -> io::Result<Thread> {
    #[cfg(test)]
    if crate::os::simulated::played().is_some() {
        return Err(io::Error::other("a simulated process has no threads"));
    }
    if let Some(why) = why_no_threads() {
        return Err(io::Error::other(why));
    }
    let tid = Arc::new(AtomicI32::new(0));
    let start = Box::into_raw(Box::new(StartArguments { name, tid: Arc::clone(&tid), run: Box::new(run) }));
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
            libc::pthread_attr_setstacksize(attributes.as_mut_ptr(), kind.stack_bytes());
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
    Ok(Thread { id: unsafe { id.assume_init() }, tid, joined: false })
}

extern "C" fn begin(start: *mut c_void) -> *mut c_void {
    // SAFETY: made by `spawn`, for this thread alone.
    let StartArguments { name, tid, run } = *unsafe { Box::from_raw(start.cast::<StartArguments>()) };
    tid.store(own_tid(), Release);
    set_name(name);
    // The panic was already reported; it must not leave this function.
    let _ = catch_unwind(AssertUnwindSafe(run));
    ptr::null_mut()
}

impl Thread {
    /// Waits until the thread has ended, also in the kernel's list: a fork may come next, and runtimes then count
    /// threads.
    pub(crate) fn join(mut self) {
        self.joined = true;
        // SAFETY: neither joined nor detached before.
        without_signals(|| unsafe { libc::pthread_join(self.id, ptr::null_mut()) });
        wait_until_gone(self.tid.load(Acquire));
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        if !self.joined {
            // SAFETY: neither joined nor detached before.
            unsafe { libc::pthread_detach(self.id) };
        }
    }
}

#[cfg(target_os = "linux")]
fn set_name(name: &CStr) {
    // SAFETY: this thread, and a string that ends.
    unsafe { libc::pthread_setname_np(libc::pthread_self(), name.as_ptr()) };
}

#[cfg(target_os = "macos")]
fn set_name(name: &CStr) {
    // SAFETY: a string that ends.
    unsafe { libc::pthread_setname_np(name.as_ptr()) };
}

#[cfg(target_os = "linux")]
fn own_tid() -> i32 {
    // SAFETY: has no condition.
    unsafe { libc::gettid() }
}

#[cfg(not(target_os = "linux"))]
fn own_tid() -> i32 {
    0
}

/// The C library's join returns when the thread has released its stack. The kernel lists and counts the thread for some
/// microseconds more, on a busy machine for as long as it gets no processor.
#[cfg(target_os = "linux")]
fn wait_until_gone(tid: i32) {
    let begun = Instant::now();
    // SAFETY: signal 0 is none: it asks whether this process has such a thread.
    while unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), tid, 0) } == 0
        && begun.elapsed() < EXIT_TIMEOUT
    {
        std::thread::yield_now();
    }
}

#[cfg(not(target_os = "linux"))]
fn wait_until_gone(_tid: i32) {}

#[cfg(all(test, target_os = "linux"))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_joined_thread_is_gone_for_the_kernel_too() {
        // A look into /proc would come too late.
        // SAFETY: signal 0 is none: it asks whether this process has such a thread.
        let listed = |tid: i32| unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), tid, 0) } == 0;
        for round in 0..3_000 {
            let thread = spawn(c"leafid-test", ThreadKind::Internal, || ()).unwrap();
            let tid = Arc::clone(&thread.tid);
            // Without a sleep, at any moment of its end: the C library has released it before the kernel only for a
            // short time.
            (0..round % 300 * 20).for_each(|_| std::hint::spin_loop());
            thread.join();
            assert!(!listed(tid.load(Acquire)), "round {round}");
        }
    }
}
