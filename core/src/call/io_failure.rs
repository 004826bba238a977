//! How an operation of the host failed, and the sentence for it: the host names a kind, and the core gives the advice.

use crate::spelling::name::{PEER_TIMES, STATE_DIR};
use crate::{Code, Error};
use alloc::format;
use alloc::string::String;
use core::fmt::Display;

/// At most this many calls of user code may hang in a process before no further one is begun.
pub const MOST_STUCK_CALLS: usize = 16;

/// What the host was doing with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileAction {
    /// It makes a directory.
    Make,
    /// It opens and locks the file.
    Open,
    /// It reads the file, or the names in a directory.
    Read,
    /// It writes a slot and makes it durable.
    Write,
    /// It makes the name of a new file durable.
    SyncName,
}

/// The kinds of failures that need an advice of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IoKind {
    /// The user of the process may not do that.
    Denied,
    /// The file system is mounted for reading alone.
    ReadOnly,
    /// The disk is full, or the user's quota.
    Full,
    /// The system gave no thread for a call of user code.
    NoThread,
    /// [`MOST_STUCK_CALLS`] calls of user code hang.
    TooManyStuck,
    /// Any other.
    Other,
}

/// A failed operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IoFailure {
    /// Its kind.
    pub kind: IoKind,
    /// What the system said.
    pub text: String,
    /// The user of the process, such as "user 0 and group 0". Only [`IoKind::Denied`] shows it.
    pub user: String,
}

/// What a user can do about files that cannot be used: it depends on how their place was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileAdvice {
    /// Their directory is an option.
    StateDir,
    /// The directory holds the counters of `file:`.
    Counters,
    /// They are in a store that has no directories.
    Store,
}

impl IoFailure {
    /// A failure whose kind is [`IoKind::Other`].
    pub fn other(text: impl Into<String>) -> IoFailure {
        IoFailure { kind: IoKind::Other, text: text.into(), user: String::new() }
    }

    /// `state_io` with the failed operation, the path and what to do.
    pub fn of_file(&self, action: FileAction, path: impl Display, advice: FileAdvice) -> Error {
        let doing = match action {
            FileAction::Make => "make",
            FileAction::Open => "open",
            FileAction::Read => "read",
            FileAction::Write => "write",
            FileAction::SyncName => "make durable the name of",
        };
        self.of_doing(doing, path, advice)
    }

    /// As [`IoFailure::of_file`], for what only one host does with a file, such as "find the file system of".
    pub fn of_doing(&self, doing: &str, path: impl Display, advice: FileAdvice) -> Error {
        let to_do = match (self.kind, advice) {
            (IoKind::Denied, FileAdvice::StateDir) => {
                return self.denied(doing, path, &format!("or set {STATE_DIR} to one that it can write"));
            }
            (IoKind::Denied, FileAdvice::Counters) => {
                return self.denied(doing, path, "or use a directory that it can write");
            }
            (IoKind::ReadOnly, FileAdvice::StateDir) => {
                format!("set {STATE_DIR} to a directory that this user can write")
            }
            (IoKind::ReadOnly, FileAdvice::Counters) => "let this user write there".into(),
            (IoKind::Full, FileAdvice::StateDir) => {
                format!("free some space there, or set {STATE_DIR} elsewhere")
            }
            (IoKind::Full, FileAdvice::Counters | FileAdvice::Store) => "free some space there".into(),
            (_, FileAdvice::StateDir) => {
                format!("see that the directory is there and the disk works, or set {STATE_DIR} elsewhere")
            }
            (_, FileAdvice::Counters) => "see that the directory is there and the disk works".into(),
            (_, FileAdvice::Store) => "see that the place is there and can be written".into(),
        };
        Error::new(Code::StateIo, format!("cannot {doing} {path}: {}; {to_do}", self.text))
    }

    /// It names the user, because a process may have changed it since the opening.
    fn denied(&self, doing: &str, path: impl Display, or: &str) -> Error {
        let message = format!(
            "cannot {doing} {path}: {}; this process runs as {}: let that user read and write there, open after \
             privileges are given up, {or}",
            self.text, self.user
        );
        Error::new(Code::StateIo, message)
    }

    /// The error of a call of user code that was not begun, for a source of worker ids.
    pub fn of_worker_source(&self) -> Error {
        match self.kind {
            IoKind::TooManyStuck => {
                let message = format!(
                    "{MOST_STUCK_CALLS} user callbacks hang in this process; see what they wait for, and restart it"
                );
                Error::new(Code::WorkerLost, message)
            }
            _ => {
                let message = format!(
                    "the system cannot start a thread to call the source of worker ids ({}); see its limits. A child \
                     of _Fork or a raw clone can use no such source",
                    self.text
                );
                Error::new(Code::StateIo, message)
            }
        }
    }

    /// As [`IoFailure::of_worker_source`], for the clocks of peers.
    pub fn of_peer_times(&self) -> Error {
        match self.kind {
            IoKind::TooManyStuck => self.of_worker_source(),
            _ => {
                let message =
                    format!("the system cannot start a thread to call {PEER_TIMES}; see its limits");
                Error::new(Code::StateIo, message)
            }
        }
    }
}
