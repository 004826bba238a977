//! The text of a thread's last error.

use crate::text;
use leafid::Error;
use std::cell::RefCell;
use std::ffi::c_char;

thread_local! {
    static LAST_ERROR: RefCell<Option<Error>> = const { RefCell::new(None) };
}

/// Stores `error` for the calling thread. Does nothing while the thread's locals are being destroyed.
pub(crate) fn set(error: Error) {
    let _ = LAST_ERROR.try_with(|last| last.replace(Some(error)));
}

/// The text of the last error that a function of leafid returned to the calling thread, as snprintf would write it:
/// at most `cap` - 1 bytes and a NUL go to `buf`, cut between characters, and the function returns the length of the
/// whole text in bytes without the NUL. It begins with the status' name: "worker_in_use: worker id 7 is held by ...".
/// The text is empty, and the length 0, if there was no error; a success does not clear it. With `cap` 0 or `buf`
/// NULL nothing is written. UTF-8.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_last_error(buf: *mut c_char, cap: usize) -> usize {
    let said = LAST_ERROR.try_with(|last| last.borrow().as_ref().map(Error::to_string));
    let said = said.ok().flatten().unwrap_or_default();
    // SAFETY: the caller's duty: `buf` is NULL or has `cap` writable bytes.
    unsafe { text::write(&said, buf, cap) }
}
