//! Threads of leafid.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(windows)]
pub(crate) use windows::*;

/// The kind of code that a thread runs. It decides the size of the stack.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ThreadKind {
    /// leafid's own code: the stack is small.
    Internal,
    /// A user callback, perhaps in an interpreter: the stack is as large as a main thread's commonly is.
    UserCode,
}

impl ThreadKind {
    const fn stack_bytes(self) -> usize {
        match self {
            ThreadKind::Internal => 256 * 1024,
            ThreadKind::UserCode => 8 * 1024 * 1024,
        }
    }
}
