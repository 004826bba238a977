//! What the compiler and `alloc` expect of a platform: a heap that is never given back, and four functions.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

const BYTES: usize = 1 << 20;

#[repr(align(64))]
struct Heap {
    bytes: UnsafeCell<[u8; BYTES]>,
    used: AtomicUsize,
}

// SAFETY: each piece of `bytes` is handed out once, by an atomic step of `used`.
unsafe impl Sync for Heap {}

#[global_allocator]
static HEAP: Heap = Heap { bytes: UnsafeCell::new([0; BYTES]), used: AtomicUsize::new(0) };

// SAFETY: pieces lie inside `bytes`, do not overlap, are aligned, and are never taken back.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let mut used = self.used.load(Relaxed);
        loop {
            // `bytes` itself is aligned to 64.
            let Some(from) = used.checked_next_multiple_of(layout.align()) else { return null_mut() };
            let Some(until) = from.checked_add(layout.size()) else { return null_mut() };
            if until > BYTES || layout.align() > 64 {
                return null_mut();
            }
            match self.used.compare_exchange(used, until, Relaxed, Relaxed) {
                // SAFETY: `from` is inside `bytes`.
                Ok(_) => return unsafe { self.bytes.get().cast::<u8>().add(from) },
                Err(found) => used = found,
            }
        }
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

/// As in C. The loops are volatile, or the compiler would make them calls of themselves.
///
/// # Safety
/// `to` and `from` are valid for `n` bytes and do not overlap.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, n: usize) -> *mut u8 {
    for at in 0..n {
        // SAFETY: below n.
        unsafe { to.add(at).write_volatile(from.add(at).read()) };
    }
    to
}

/// As in C.
///
/// # Safety
/// `to` and `from` are valid for `n` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, n: usize) -> *mut u8 {
    if to.cast_const() < from {
        // SAFETY: each byte is read before it is overwritten.
        return unsafe { memcpy(to, from, n) };
    }
    for at in (0..n).rev() {
        // SAFETY: below n; from the end, so that each byte is read before it is overwritten.
        unsafe { to.add(at).write_volatile(from.add(at).read()) };
    }
    to
}

/// As in C.
///
/// # Safety
/// `to` is valid for `n` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn memset(to: *mut u8, byte: i32, n: usize) -> *mut u8 {
    for at in 0..n {
        // SAFETY: below n.
        unsafe { to.add(at).write_volatile(byte as u8) };
    }
    to
}

/// As in C.
///
/// # Safety
/// `a` and `b` are valid for `n` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(a: *const u8, b: *const u8, n: usize) -> i32 {
    for at in 0..n {
        // SAFETY: below n.
        let (x, y) = unsafe { (a.add(at).read_volatile(), b.add(at).read_volatile()) };
        if x != y {
            return i32::from(x) - i32::from(y);
        }
    }
    0
}

/// As in BSD: whether the bytes differ.
///
/// # Safety
/// `a` and `b` are valid for `n` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn bcmp(a: *const u8, b: *const u8, n: usize) -> i32 {
    // SAFETY: as the caller's.
    unsafe { memcmp(a, b, n) }
}
