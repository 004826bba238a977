//! The interruption of a waiting call by its caller.

/// Called from time to time during a waiting call. It returns whether to give up, such as for Ctrl-C in an interpreter.
pub(crate) type Interrupted<'a> = &'a mut dyn FnMut() -> bool;
