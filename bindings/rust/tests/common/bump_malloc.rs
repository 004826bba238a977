//! Memory for programs whose children are made by hand, as in `tests/c/bump_malloc.c`: the C library's malloc has locks,
//! which another thread may hold at that moment, and which then stay locked in the child. Here is no lock, and nothing is
//! freed. It is Rust's memory alone, and such a child asks for no other.

use std::alloc::{GlobalAlloc, Layout};
use std::ptr;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::atomic::{AtomicPtr, AtomicUsize};

struct Bump;

#[global_allocator]
static BUMP: Bump = Bump;

/// 8 GiB, or 256 MiB of 4. Only what is used costs memory.
const ALL: usize = if usize::BITS > 32 { usize::MAX >> 31 } else { usize::MAX >> 4 };

static BASE: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());
static USED: AtomicUsize = AtomicUsize::new(0);

fn base() -> *mut u8 {
    let there = BASE.load(Acquire);
    if !there.is_null() {
        return there;
    }
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: new memory, of which nothing else knows.
    let made = unsafe { libc::mmap(ptr::null_mut(), ALL, access, kind | libc::MAP_NORESERVE, -1, 0) };
    if made == libc::MAP_FAILED {
        return ptr::null_mut();
    }
    match BASE.compare_exchange(ptr::null_mut(), made.cast(), AcqRel, Acquire) {
        Ok(_) => made.cast(),
        Err(there) => {
            // SAFETY: it was made above, and another thread was faster.
            unsafe { libc::munmap(made, ALL) };
            there
        }
    }
}

// SAFETY: each piece is given once, aligned, and within the memory.
unsafe impl GlobalAlloc for Bump {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let base = base();
        let begin = USED.fetch_add(layout.size().saturating_add(layout.align()).min(ALL / 4), Relaxed);
        if base.is_null() || layout.size() >= ALL / 8 || layout.align() >= ALL / 8 || begin > ALL / 2 {
            return ptr::null_mut();
        }
        let at = base.wrapping_add(begin);
        at.wrapping_add(at.align_offset(layout.align()))
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}
