//! What a host, a call and a machine tell each other.

use alloc::string::String;
use alloc::vec::Vec;
use leafid_core::call::{CallId, FileAction, IoFailure, Level};
use leafid_core::run::Claimed;
use leafid_core::{Code, Error, Renewal, Result, Segment};

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
    /// What the user's code, or the platform's `fetch`, said.
    Text(String),
    TimedOut,
    ConnectTimedOut,
    Io(FileAction, String, IoFailure),
    Claimed(Claimed),
    Renewed(Renewal),
    Times(Vec<i64>),
    Fetched(Result<Segment>),
}

/// What the host sees of a file, and when.
pub(crate) struct FileSeen {
    pub(crate) bytes: Option<Vec<u8>>,
    pub(crate) path: String,
    #[allow(dead_code, reason = "a record has times of its own")]
    pub(crate) now_ms: i64,
    pub(crate) random: u128,
}

/// What a host found for a call so far.
#[derive(Default)]
pub(crate) struct Found {
    /// The names of a listing.
    pub(crate) names: Vec<String>,
    /// The file, if it is read alone.
    pub(crate) file: Option<FileSeen>,
    /// How the check of a record ended, before its write was handed out.
    pub(crate) checked: Option<Result<()>>,
}

/// The numbers and the texts of an answer.
#[derive(Default)]
pub(crate) struct Answers {
    pub(crate) numbers: Vec<f64>,
    pub(crate) texts: Vec<Option<String>>,
}

/// What a machine tells its host.
pub(crate) enum Told {
    /// The end of the call with this handle has no effect.
    Abandon(i32),
    /// Answers came; of a supply for the line of this tag.
    Wake(f64),
    Log(Level, String),
    /// The machine has ended.
    Closed(Result<()>),
}

/// The calls that a host carries out for a machine, with their handles. Numbers of calls are those of one machine alone.
#[derive(Default)]
pub(crate) struct CallsUnderWay(Vec<(CallId, i32)>);

impl CallsUnderWay {
    pub(crate) fn begun(&mut self, call: CallId, handle: i32) {
        self.0.push((call, handle));
    }

    pub(crate) fn handle(&self, call: CallId) -> Option<i32> {
        self.0.iter().find(|(known, _)| *known == call).map(|(_, handle)| *handle)
    }

    pub(crate) fn call(&self, handle: i32) -> Option<CallId> {
        self.0.iter().find(|(_, known)| *known == handle).map(|(call, _)| *call)
    }

    /// Errors: `internal` for a call of another machine.
    pub(crate) fn ended(&mut self, handle: i32) -> Result<CallId> {
        let other = || Error::new(Code::Internal, "a call of another machine was reported; report this");
        let at = self.0.iter().position(|(_, known)| *known == handle).ok_or_else(other)?;
        Ok(self.0.swap_remove(at).0)
    }
}
