//! What goes wrong with a file that processes share.

use super::io_failure::{FileAction, FileAdvice, IoFailure};
use crate::spelling::name::STATE_DIR;
use crate::{Code, Error};
use alloc::format;
use core::fmt::Display;
use core::time::Duration;

/// How long a host waits for a file that other processes lock. Each holds it for one write, but a disk may be slow.
pub const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// Why the host could not carry out the steps for a file that processes share.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SharedFailure {
    /// An operation failed.
    Io(FileAction, IoFailure),
    /// Others held its lock for [`LOCK_TIMEOUT`].
    Locked,
    /// The file that is locked is no longer the one at its path. It was not written.
    Replaced,
    /// The process changed its root since its directory was opened: the path leads elsewhere.
    Chrooted,
}

impl SharedFailure {
    /// `segment_unavailable` for a lock, `state_io` for all else. `path` is that of the file, or for
    /// [`SharedFailure::Chrooted`] of the directory.
    pub fn error(&self, path: impl Display, advice: FileAdvice) -> Error {
        match self {
            SharedFailure::Io(action, failure) => failure.of_file(*action, path, advice),
            SharedFailure::Locked => {
                let message = format!(
                    "{path} was locked by others for {} ms; try again, and see what holds it that long",
                    LOCK_TIMEOUT.as_millis() as u64
                );
                Error::new(Code::SegmentUnavailable, message)
            }
            SharedFailure::Replaced => {
                let gone = IoFailure::other("it was deleted, moved or replaced meanwhile");
                gone.of_file(FileAction::Write, path, advice)
            }
            SharedFailure::Chrooted => {
                let message = format!(
                    "{path} was opened before this process changed its root (chroot), and is not where that path leads \
                     now; open after the chroot, with a {STATE_DIR} inside of it"
                );
                Error::new(Code::StateIo, message)
            }
        }
    }
}
