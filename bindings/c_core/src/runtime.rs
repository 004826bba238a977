//! What Rust needs besides the core: memory, and an end after a defect. Both come from C.

use core::alloc::{GlobalAlloc, Layout};
use core::ffi::c_void;

unsafe extern "C" {
    fn malloc(size: usize) -> *mut c_void;
    fn aligned_alloc(align: usize, size: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
    fn abort() -> !;
}

/// What malloc aligns to on every system.
const ALIGNED: usize = 8;

struct Malloc;

#[global_allocator]
static MALLOC: Malloc = Malloc;

// SAFETY: memory of malloc and aligned_alloc, which both end by free, is as GlobalAlloc requires.
unsafe impl GlobalAlloc for Malloc {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let memory = if layout.align() <= ALIGNED {
            // SAFETY: any size is allowed.
            unsafe { malloc(layout.size()) }
        } else {
            // SAFETY: the alignment is a power of two, and the size a multiple of it.
            unsafe { aligned_alloc(layout.align(), layout.pad_to_align().size()) }
        };
        memory.cast()
    }

    unsafe fn dealloc(&self, memory: *mut u8, _: Layout) {
        // SAFETY: by the caller's duty it came from `alloc`.
        unsafe { free(memory.cast()) }
    }
}

#[panic_handler]
fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: it has no duties.
    unsafe { abort() }
}
