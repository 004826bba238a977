//! Structs that may grow in later versions: the caller passes the size of its own.

use crate::pointer::Out;
use leafid::{Error, Result};
use std::ptr;

/// A future struct never has 64 KiB, so such a size is a mistake.
pub(crate) const TOO_LARGE: usize = 1 << 16;

/// Writes a struct for a caller with `size` bytes, of which the first version has `least`. Fields that the caller does
/// not know are omitted. Fields that only the caller knows are 0. `name` is the name of the type.
///
/// # Safety
/// `size` bytes at `out` are writable, and `T` has no padding.
pub(crate) unsafe fn write<T>(value: &T, out: Out<T>, size: usize, least: usize, name: &str) -> Result<()> {
    if !(least..TOO_LARGE).contains(&size) {
        return Err(Error::invalid("size", size, &format!("sizeof({name})")));
    }
    let known = size.min(size_of::<T>());
    let out = out.as_ptr().cast::<u8>();
    // SAFETY: `size` bytes of the caller's are writable by its duty, and at most as many as `value` has are read, all
    // of which are initialised.
    unsafe {
        ptr::copy_nonoverlapping(ptr::from_ref(value).cast::<u8>(), out, known);
        out.add(known).write_bytes(0, size - known);
    }
    Ok(())
}
