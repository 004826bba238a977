//! How much stack the caller's thread has left.

#[cfg(target_os = "linux")]
use super::without_signals;
#[cfg(target_os = "linux")]
use std::cell::Cell;
#[cfg(target_os = "linux")]
use std::mem::MaybeUninit;

/// Bytes of stack for a call that waits for other threads: twice the measured use, and less than a thread of 16 KiB
/// has.
pub(crate) const TO_WAIT: usize = 8 * 1024;
/// Bytes of stack for an opening, and for leafid's own work on the caller's thread: 10 KiB above the measured use.
pub(crate) const TO_WORK: usize = 24 * 1024;

/// The bytes of stack that are left, if they are fewer than `needed`. `None` if they are enough, or unknown, as on a
/// stack that is not the thread's own.
pub(crate) fn left_if_below(needed: usize) -> Option<usize> {
    left().filter(|&left| left < needed)
}

#[cfg(target_os = "linux")]
thread_local! {
    /// The thread's stack, from the lowest address to the highest, found at the first call.
    static STACK: Cell<Option<(usize, usize)>> = const { Cell::new(None) };
}

#[cfg(target_os = "linux")]
fn left() -> Option<usize> {
    // SAFETY: has no condition. The first thread's stack grows, to megabytes; so does that of a clone's child, mostly.
    if unsafe { libc::gettid() } == std::process::id() as i32 {
        return None;
    }
    let (low, high) = STACK.get().unwrap_or_else(|| {
        let found = find().unwrap_or((0, 0));
        STACK.set(Some(found));
        found
    });
    let here = std::ptr::addr_of!(low).addr();
    (low..high).contains(&here).then(|| here - low)
}

#[cfg(target_os = "linux")]
fn find() -> Option<(usize, usize)> {
    let mut attributes = MaybeUninit::uninit();
    let (mut low, mut bytes) = (std::ptr::null_mut(), 0);
    // It allocates: no handler may fork meanwhile.
    without_signals(|| {
        // SAFETY: of this thread; the attributes are read once they are initialised, and destroyed after.
        let found = unsafe {
            if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
                return None;
            }
            let found = libc::pthread_attr_getstack(attributes.as_ptr(), &mut low, &mut bytes);
            libc::pthread_attr_destroy(attributes.as_mut_ptr());
            found
        };
        (found == 0).then(|| (low.addr(), low.addr() + bytes))
    })
}

#[cfg(not(target_os = "linux"))]
fn left() -> Option<usize> {
    None
}
