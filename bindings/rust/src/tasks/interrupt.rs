//! How a caller ends a call that waits.

use leafid_core::{Code, Error};

/// Called now and then during a call that waits: returns whether to give up, as for Ctrl-C in an interpreter.
pub(crate) type Interrupted<'a> = &'a mut dyn FnMut() -> bool;

/// The error of a call that was interrupted.
pub(crate) fn interrupted() -> Error {
    Error::new(Code::WouldBlock, "interrupted while waiting; ask again")
}
