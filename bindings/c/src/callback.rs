//! What all callbacks share: the pointer that is the user's, and how an error comes back.

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

/// A pointer that is only passed on, and given back when the last that may pass it on is gone.
pub(crate) struct UserData {
    pointer: *mut c_void,
    free: leafid_free_fn,
    process: u32,
}

// SAFETY: leafid never looks through the pointer; that the functions it is passed to may be called on any thread is
// their giver's duty, said in the header.
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

/// Bytes for the text of a callback's error, its NUL included.
const ERROR_CAP: usize = 1024;

/// Why a callback failed, as it said it.
pub(crate) struct Said {
    status: c_int,
    text: String,
}

/// Runs a callback, which is given room for an error's text.
pub(crate) fn call(run: impl FnOnce(*mut c_char, usize) -> c_int) -> Result<(), Said> {
    let mut text = [0_u8; ERROR_CAP];
    let status = run(text.as_mut_ptr().cast(), text.len());
    if status == 0 {
        return Ok(());
    }
    // A text that was not ended ends with the room.
    let length = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
    let text = String::from_utf8_lossy(&text[..length]).into_owned();
    Err(Said { status, text })
}

impl Said {
    /// Whether it is this status and no more.
    pub(crate) fn is_bare(&self, code: Code) -> bool {
        self.status == code.number() && self.text.is_empty()
    }

    /// The error, of the status' code; of none when the status is none, so that the host chooses. `doing`: what
    /// failed.
    pub(crate) fn into_error(self, doing: &str) -> Box<dyn StdError + Send + Sync> {
        let Said { status, text } = self;
        let text = match text.is_empty() {
            true => Cow::from(format!("it answered {status}, and no text")),
            false => Cow::from(text),
        };
        match Code::from_number(status) {
            Some(code) => Box::new(Error::new(code, format!("{doing} failed: {text}"))),
            None => text.into(),
        }
    }
}

/// The refusal of a function that is NULL.
pub(crate) fn missing(name: &str) -> Error {
    Error::invalid(name, "NULL", "a function")
}
