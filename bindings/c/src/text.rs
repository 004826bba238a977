//! Text arguments and text results.

use crate::pointer::Out;
use leafid::{Code, Error, Result, allowed, refused};
use std::ffi::{CStr, CString, c_char};

/// The text of the option or argument `name`.
///
/// # Safety
/// `text` is NULL or ends with a NUL, and does not change during `'a`.
pub(crate) unsafe fn read<'a>(text: *const c_char, name: &str) -> Result<&'a str> {
    if text.is_null() {
        return Err(Error::invalid(name, "NULL", allowed(name)));
    }
    // SAFETY: not NULL, and it ends by the caller's duty.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str()
        .map_err(|_| refused(name, &format!("{:?}, which is not UTF-8", text.to_string_lossy()), None))
}

/// Writes at most `cap` - 1 bytes of `text`, cut between characters, and a NUL. Returns the length of the whole text.
///
/// # Safety
/// `buf` is NULL or has `cap` writable bytes.
pub(crate) unsafe fn write(text: &str, buf: *mut c_char, cap: usize) -> usize {
    if !buf.is_null() && cap > 0 {
        let most = text.len().min(cap - 1);
        // 0 is a character boundary of every text.
        let fits = (0..=most).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        // SAFETY: `fits` + 1 <= `cap` bytes are writable by the caller's duty; `text` is not in the caller's memory.
        unsafe {
            buf.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), fits);
            buf.add(fits).write(0);
        }
    }
    text.len()
}

/// As `write`, for functions that return a status: the length goes to `needed`, which may be NULL.
///
/// # Safety
/// As `write`, and `needed` is NULL or writable.
pub(crate) unsafe fn write_sized(text: &str, buf: *mut c_char, cap: usize, needed: *mut usize) -> Result<()> {
    if buf.is_null() && cap > 0 {
        return Err(Error::invalid("buf", "NULL", "a buffer of cap bytes, or NULL with cap 0"));
    }
    if !needed.is_null() {
        // SAFETY: not NULL, writable by the caller's duty.
        let needed = unsafe { Out::new(needed, "needed") }?;
        needed.write(text.len());
    }
    // SAFETY: the caller's duty.
    unsafe { write(text, buf, cap) };
    Ok(())
}

/// The host's text in the form for C.
pub(crate) fn write_c(text: &str) -> Result<CString> {
    CString::new(text)
        .map_err(|_| Error::new(Code::Internal, format!("{text:?} holds a NUL; please report it")))
}
