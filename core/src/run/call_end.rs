//! How a call of a run ended. Only the calls themselves make an end.

use crate::aside::OfCall;
use crate::call::{CallId, IoFailure};
use crate::http::HttpEnd;
use crate::run::cache_drop::CacheDropped;
use crate::run::cache_read::{CacheFound, CachesListed};
use crate::run::cache_write::CacheWritten;
use crate::run::record_open::{RecordOpened, RecordPeeked};
use crate::run::record_write::RecordWritten;
use crate::{Code, Error, Lease, RenewalAnswer, Result};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::num::NonZeroU64;
use core::result;
use core::time::Duration;

/// How a call ended. It is made by the call that was asked for, so that nothing is reported as durable that was not.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RunCallEnd {
    /// The call that it ends.
    pub(crate) of: OfCall,
    pub(crate) end: End,
}

/// The ends of all calls.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum End {
    Times(result::Result<Vec<i64>, SourceFailure>),
    Claimed(Result<Claimed>),
    Renewed(RenewalAnswer),
    /// The worker id, and why its lease was not released.
    Released(i64, result::Result<(), String>),
    /// Whether the lock was taken.
    HostLocked(Result<bool>),
    HostUnlocked,
    Holder(Holder),
    /// The worker id, and the names under which it is held.
    Names(u32, Vec<String>),
    Recorded(Vec<u32>),
    Peeked(RecordPeeked),
    Opened(Box<RecordOpened>),
    Written(Box<RecordWritten>),
    RecordClosed,
    CachesListed(CachesListed),
    CacheRead(CacheFound),
    CacheWritten(Box<CacheWritten>),
    CacheDropped(CacheDropped),
    Http(Box<HttpEnd>),
    /// The call goes on, but needs the event loop of a thread that waits.
    NeedsLoop,
}

impl RunCallEnd {
    /// The user code of a claim returned a promise, and the thread that made the call cannot wait for it. The call goes on,
    /// and its end is reported too, when it comes.
    pub fn needs_loop() -> RunCallEnd {
        RunCallEnd { of: OfCall::default(), end: End::NeedsLoop }
    }

    /// Whether it is said of this call.
    pub(crate) fn is_of(&self, call: CallId) -> bool {
        self.of.0 == NonZeroU64::new(call.0) || self.end == End::NeedsLoop
    }
}

/// The calls that hosts carry out in steps make ends of their own.
macro_rules! ends {
    ($($from:ident: $end:ty => $to:expr;)*) => {
        $(impl From<$end> for RunCallEnd {
            fn from($from: $end) -> RunCallEnd {
                RunCallEnd { of: $from.of, end: $to }
            }
        })*
    };
}

ends! {
    end: RecordPeeked => End::Peeked(end);
    end: RecordOpened => End::Opened(Box::new(end));
    end: RecordWritten => End::Written(Box::new(end));
    end: CachesListed => End::CachesListed(end);
    end: CacheFound => End::CacheRead(end);
    end: CacheWritten => End::CacheWritten(Box::new(end));
    end: CacheDropped => End::CacheDropped(end);
    end: HttpEnd => End::Http(Box::new(end));
}

/// Why a call of user code has no result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SourceFailure {
    /// It gave an error of leafid's, which keeps its code.
    Coded(Error),
    /// It gave another error, with this text.
    Text(String),
    /// It panicked.
    Panicked,
    /// It was not begun.
    NotBegun(IoFailure),
}

/// What a source returned to a claim.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Claimed {
    /// A worker id that no other process holds.
    Id(i64),
    /// A lease. The time is how long before the call its result was asked for: for event loops.
    Lease(Lease, Duration),
}

/// Who holds a worker id on this host, as far as the host can see.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Holder {
    /// The holder of the host lock, as text; `None` if it is not known.
    pub by: Option<String>,
    /// Whether a generator of this process holds it.
    pub is_ours: bool,
    /// The id of another user who holds the host lock and cannot open the record.
    pub stranger: Option<u32>,
}

impl SourceFailure {
    /// The error of a callback that was doing this.
    pub(crate) fn error(self, doing: &str) -> Error {
        match self {
            SourceFailure::Coded(error) => error,
            // Its own text comes last, unchanged.
            SourceFailure::Text(text) => Error::new(Code::WorkerLost, format!("{doing} failed: {text}")),
            SourceFailure::Panicked => Error::new(Code::WorkerLost, format!("{doing} panicked")),
            SourceFailure::NotBegun(failure) => failure.of_worker_source(),
        }
    }
}
