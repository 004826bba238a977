//! Windows has no fork, and a started program inherits no socket that does not ask for it.

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use std::io;

/// An open socket.
pub(crate) struct ForkSafeFd(OwnedFd);

impl ForkSafeFd {
    pub(crate) fn open(mut open: impl FnMut() -> io::Result<OwnedFd>) -> io::Result<ForkSafeFd> {
        open().map(ForkSafeFd)
    }

    /// The socket. It never fails.
    pub(crate) fn fd(&self) -> io::Result<BorrowedFd<'_>> {
        Ok(self.0.as_fd())
    }
}
