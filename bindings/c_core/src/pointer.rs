//! Pointers and text from C, with the possible checks: NULL, alignment and UTF-8.

use alloc::format;
use alloc::string::ToString;
use core::ffi::{CStr, c_char};
use leafid_core::{Error, Result};

/// The target of `pointer`. `name` is its name for the caller.
///
/// # Safety
/// When not NULL and aligned, it points to a live `T` that does not change during `'a`.
#[inline]
pub(crate) unsafe fn shared<'a, T>(pointer: *const T, name: &str) -> Result<&'a T> {
    if pointer.is_null() || !pointer.is_aligned() {
        return Err(wrong(pointer.cast(), name));
    }
    // SAFETY: neither NULL nor misaligned; live by the caller's duty.
    Ok(unsafe { &*pointer })
}

/// Writes a result.
///
/// # Safety
/// When not NULL and aligned, `pointer` has room for a `T`.
#[inline]
pub(crate) unsafe fn write<T>(pointer: *mut T, name: &str, value: T) -> Result<()> {
    if pointer.is_null() || !pointer.is_aligned() {
        return Err(wrong(pointer.cast_const().cast(), name));
    }
    // SAFETY: neither NULL nor misaligned, and writable by the caller's duty.
    unsafe { pointer.write(value) };
    Ok(())
}

/// The text of the argument `name`.
///
/// # Safety
/// `text` is NULL or ends with a NUL, and does not change during `'a`.
pub(crate) unsafe fn read<'a>(text: *const c_char, name: &str, allowed: &str) -> Result<&'a str> {
    if text.is_null() {
        return Err(Error::invalid(name, "NULL", allowed));
    }
    // SAFETY: not NULL, and it ends by the caller's duty.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| Error::invalid(name, format!("{text:?}, which is not UTF-8"), allowed))
}

/// Writes the text of `error`, cut between characters, and a NUL.
///
/// # Safety
/// `to` is NULL or has `cap` writable bytes.
#[cold]
pub(crate) unsafe fn write_error(error: &Error, to: *mut c_char, cap: usize) {
    if to.is_null() || cap == 0 {
        return;
    }
    // SAFETY: the caller's duty; neither NULL nor empty.
    unsafe { write_text(&error.to_string(), to, cap) };
}

/// Writes `text`, cut between characters, and a NUL.
///
/// # Safety
/// `to` has `cap` writable bytes, and `cap` is not 0.
pub(crate) unsafe fn write_text(text: &str, to: *mut c_char, cap: usize) {
    let most = text.len().min(cap - 1);
    // 0 is a character boundary of every text.
    let fits = (0..=most).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    // SAFETY: `fits` + 1 <= `cap` bytes are writable by the caller's duty; `text` is not in the caller's memory.
    unsafe {
        to.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), fits);
        to.add(fits).write(0);
    }
}

#[cold]
fn wrong(pointer: *const (), name: &str) -> Error {
    let misaligned = format!("{pointer:p}, misaligned");
    Error::invalid(name, if pointer.is_null() { "NULL" } else { &misaligned }, "a valid pointer")
}
