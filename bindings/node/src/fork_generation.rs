//! A number in memory that JavaScript reads and that a fork clears, so that parent and child do not both issue the ids
//! in JavaScript's memory. Node itself never forks, but other addons can.

use napi::bindgen_prelude::Int32Array;
use napi_derive::napi;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

/// An array with one number for this environment. It differs from that of every ancestor process, once JavaScript has
/// replaced the 0 that a child finds. Where the system cannot clear it in a fork, it never changes.
#[napi(catch_unwind)]
pub fn fork_generation() -> Int32Array {
    #[cfg(target_os = "linux")]
    if let Some((page, length)) = wiped_page() {
        // SAFETY: the page is mapped, writable and aligned, and no other code knows it.
        unsafe { page.write(next_generation()) };
        // SAFETY: the page stays mapped until the finalizer, which is the last to know it.
        return unsafe { Int32Array::with_external_data(page, 1, move |page, _| unmap(page, length)) };
    }
    Int32Array::new(vec![next_generation()])
}

/// A number that is not 0, and that no ancestor of this process had.
#[napi(catch_unwind)]
pub fn next_generation() -> i32 {
    static LAST: AtomicI32 = AtomicI32::new(0);
    // It never wraps: one number for each environment and fork.
    LAST.fetch_add(1, Relaxed) + 1
}

#[cfg(target_os = "linux")]
fn wiped_page() -> Option<(*mut i32, usize)> {
    // SAFETY: without arguments that could be wrong.
    let length = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()?;
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a fresh anonymous mapping, which overlaps nothing.
    let page = unsafe { libc::mmap(std::ptr::null_mut(), length, access, kind, -1, 0) };
    if page == libc::MAP_FAILED {
        return None;
    }
    // SAFETY: the whole of the mapping made above.
    if unsafe { libc::madvise(page, length, libc::MADV_WIPEONFORK) } != 0 {
        unmap(page.cast(), length);
        return None;
    }
    Some((page.cast(), length))
}

#[cfg(target_os = "linux")]
fn unmap(page: *mut i32, length: usize) {
    // SAFETY: a mapping of `wiped_page`, of this length, which is not used any more.
    unsafe { libc::munmap(page.cast(), length) };
}
