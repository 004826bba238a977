//! What a host and a call tell each other.

use crate::call::{FileAction, IoFailure};
use crate::run::Claimed;
use crate::{Code, Error, Renewal, Result, Segment};
use alloc::string::String;
use alloc::vec::Vec;

/// The kinds of calls, as a host carries them out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostKind {
    /// The clocks of peers.
    PeerTimes = 1,
    /// The claim of a worker id.
    Claim = 2,
    /// A longer lease.
    Renew = 3,
    /// The end of a lease.
    Release = 4,
    /// A request to a server.
    Http = 5,
    /// The lock of a worker id.
    Lock = 6,
    /// Its end.
    Unlock = 7,
    /// The names of files.
    List = 8,
    /// A file, without a lock.
    Read = 9,
    /// A file, which is made if it is missing, and locked.
    Open = 10,
    /// A change of a file.
    Update = 11,
    /// The end of a file's lock.
    Close = 12,
    /// The user's segments.
    Fetch = 13,
}

/// What a call asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct HostRequest {
    /// The kind.
    pub kind: HostKind,
    /// The numbers of its kind.
    pub numbers: Vec<f64>,
    /// The texts of its kind; `None` for one that is not given.
    pub texts: Vec<Option<String>>,
    /// Of a request the place of the server in the list. The first text is the path there.
    pub server: Option<usize>,
}

/// How a host says that a call ended.
#[derive(Clone, Debug, PartialEq)]
pub enum HostEnd {
    /// It was done. Changes of files are durable.
    Done,
    /// No: held by another one, no id is free, the lease is lost.
    No,
    /// An error of leafid's.
    Error(Error),
    /// What the user's code, or the platform's `fetch`, said.
    Text(String),
    /// No response came in time.
    TimedOut,
    /// No connection came in time.
    ConnectTimedOut,
    /// An operation on a file failed: what, where, and how.
    Io(FileAction, String, IoFailure),
    /// What the user's `claim` returned.
    Claimed(Claimed),
    /// What the user's `renew` returned.
    Renewed(Renewal),
    /// What the user's `peer_times` returned.
    Times(Vec<i64>),
    /// What the user's `fetch` returned.
    Fetched(Result<Segment>),
}

/// What a host sees of a file, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSeen {
    /// Its bytes; `None` if there is none.
    pub bytes: Option<Vec<u8>>,
    /// The path, for messages.
    pub path: String,
    /// The clock after the filter.
    pub now_ms: i64,
    /// Random bits, drawn for this step.
    pub random: u128,
}

/// What a host found for a call so far.
#[derive(Clone, Debug, Default)]
pub(super) struct HostFound {
    /// The names of a listing.
    pub(super) names: Vec<String>,
    /// When a listing saw its last file.
    pub(super) seen_ms: i64,
    /// The file, if it is read alone.
    pub(super) file: Option<FileSeen>,
    /// How the check of a record ended, before its write was handed out.
    pub(super) checked: Option<Result<()>>,
}

/// The error of a host that ends a call as one of another kind.
pub(super) fn of_another_kind() -> Error {
    Error::new(Code::Internal, "a call ended as one of another kind; report this")
}
