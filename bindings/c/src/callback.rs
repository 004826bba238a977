//! Callbacks: the user's pointer, and how a callback returns an error.

use leafid::{Code, Error};
use std::borrow::Cow;
use std::error::Error as StdError;
use std::ffi::{c_char, c_int, c_void};

/// Called when leafid no longer needs a `user_data`: once for each function that got it, also if that function
/// refused its arguments. May be NULL.
///
/// This is when the options are freed, the last handle opened with them is freed, and no call is in progress, not
/// even one that hung. It runs on the thread on which the last of these happens, which may be any thread of yours or
/// of leafid. It is called only in the process that passed the pointer, not in a forked child. It must not use
/// leafid.
pub type leafid_free_fn = Option<unsafe extern "C" fn(user_data: *mut c_void)>;

/// A user's pointer, which leafid only passes on. It is freed when nothing can pass it on any more.
pub(crate) struct UserData {
    pointer: *mut c_void,
    free: leafid_free_fn,
    process: u32,
}

// SAFETY: leafid never reads through the pointer. The caller that passed it must allow calls of its functions on any
// thread, as the header says.
unsafe impl Send for UserData {}
// SAFETY: as above.
unsafe impl Sync for UserData {}

impl UserData {
    /// # Safety
    /// `free` may be called with `pointer`, once, on any thread.
    pub(crate) unsafe fn new(pointer: *mut c_void, free: leafid_free_fn) -> UserData {
        UserData { pointer, free, process: std::process::id() }
    }

    pub(crate) fn pointer(&self) -> *mut c_void {
        self.pointer
    }
}

impl Drop for UserData {
    fn drop(&mut self) {
        if let Some(free) = self.free
            && self.process == std::process::id()
        {
            // SAFETY: the duty of `new`; a value is dropped once.
            unsafe { free(self.pointer) };
        }
    }
}

/// The size of the text of a callback's error, with its NUL.
const ERROR_CAP: usize = 1024;

/// The error that a callback returned.
pub(crate) struct CallbackError {
    status: c_int,
    text: String,
}

/// Runs a callback, which gets a buffer for the text of an error.
pub(crate) fn call(run: impl FnOnce(*mut c_char, usize) -> c_int) -> Result<(), CallbackError> {
    let mut text = [0_u8; ERROR_CAP];
    let status = run(text.as_mut_ptr().cast(), text.len());
    if status == 0 {
        return Ok(());
    }
    // A text without a NUL ends with the buffer.
    let length = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
    let text = String::from_utf8_lossy(&text[..length]).into_owned();
    Err(CallbackError { status, text })
}

impl CallbackError {
    /// Whether it is this status without a text.
    pub(crate) fn is_bare(&self, code: Code) -> bool {
        self.status == code.number() && self.text.is_empty()
    }

    /// The error with the status' code, or without a code if the status is not a known one; then the host chooses.
    /// `doing` is the failed operation.
    pub(crate) fn into_error(self, doing: &str) -> Box<dyn StdError + Send + Sync> {
        let CallbackError { status, text } = self;
        let text = match text.is_empty() {
            true => Cow::from(format!("it returned {status} without a text")),
            false => Cow::from(text),
        };
        match Code::from_number(status) {
            Some(code) => Box::new(Error::new(code, format!("{doing} failed: {text}"))),
            None => text.into(),
        }
    }
}

/// The error of a function that is NULL.
pub(crate) fn missing(name: &str) -> Error {
    Error::invalid(name, "NULL", "a function")
}
