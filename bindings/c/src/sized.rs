//! Structs that grow: the caller says how large its own is.

use crate::pointer::Out;
use leafid::{Error, Result};
use std::ptr;

/// A future struct of 64 KiB is not to be expected: such a size is a mistake.
pub(crate) const TOO_LARGE: usize = 1 << 16;

/// Writes a struct of which the caller has `size` bytes, `least` of them in the first version: fields it does not know
/// are left out, fields that only it knows are 0. `name`: the type's.
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
