//! The interruption of a waiting call by its caller.

use leafid_core::{Code, Error};

/// Called from time to time during a waiting call. It returns whether to give up, such as for Ctrl-C in an interpreter.
pub(crate) type Interrupted<'a> = &'a mut dyn FnMut() -> bool;

/// The error of an interrupted call.
pub(crate) fn interrupted() -> Error {
    Error::new(Code::WouldBlock, "interrupted while waiting; call again")
}
