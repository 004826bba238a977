//! What a host and a call of a machine tell each other.

use alloc::string::String;
use alloc::vec::Vec;
use leafid_core::call::{FileAction, IoFailure};
use leafid_core::run::Claimed;
use leafid_core::{Error, Renewal, Segment};

/// The kinds of calls, as the host carries them out.
#[derive(Clone, Copy)]
pub(crate) enum HostKind {
    PeerTimes = 1,
    Claim = 2,
    Renew = 3,
    Release = 4,
    Http = 5,
    Lock = 6,
    Unlock = 7,
    List = 8,
    Read = 9,
    Open = 10,
    Update = 11,
    Close = 12,
    Fetch = 13,
}

/// How the host says that it ended.
pub(crate) enum HostEnd {
    /// It was done. Changes of files are durable.
    Done,
    /// No: held by another one, no id is free, the lease is lost.
    No,
    Error(Error),
    /// What the user's code said.
    Text(String),
    Io(FileAction, String, IoFailure),
    Claimed(Claimed),
    Renewed(Renewal),
    Times(Vec<i64>),
    Fetched(leafid_core::Result<Segment>),
}

/// What the host sees of a file, and when.
pub(crate) struct FileSeen<'f> {
    pub(crate) bytes: Option<&'f [u8]>,
    pub(crate) path: &'f str,
    #[allow(dead_code, reason = "a record has times of its own")]
    pub(crate) now_ms: i64,
    pub(crate) random: u128,
}

/// The numbers and the texts of an answer.
#[derive(Default)]
pub(crate) struct Answers {
    pub(crate) numbers: Vec<f64>,
    pub(crate) texts: Vec<Option<String>>,
}
