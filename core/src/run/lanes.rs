//! The calls that a run asks for, and those that are under way.
//!
//! | A call | Event | Next |
//! | --- | --- | --- |
//! | asked for | its lane is free | under way |
//! | under way | it ends | ended: its lane is free |
//! | under way, on `Source` | its time is over, or it is not needed any more | abandoned: its lane is free |
//! | under way: a callback's renewal | it takes long | under way: no other one is sent by the same token |
//! | abandoned | it ends | ended: what it brought is undone |
//! | ended | it ends once more | the same |

use crate::aside::Aside;
use crate::call::{CallId, IoFailure};
use crate::http::{HttpCall, NoResponse};
use crate::run::cache_drop::CacheDrop;
use crate::run::cache_read::{CacheList, CacheRead, lease_file_name};
use crate::run::cache_write::CacheWrite;
use crate::run::call_end::{Holder, RunCallEnd, SourceFailure};
use crate::run::disk_calls::{
    HolderCall, HostLockCall, HostUnlockCall, NamesCall, RecordCloseCall, RecordsCall,
};
use crate::run::record_open::{RecordOpen, RecordPeek, record_file_name};
use crate::run::record_write::RecordWrite;
use crate::run::source_calls::{ClaimCall, PeersCall, ReleaseCall, RenewCall};
use crate::snowflake::lease::LeaseKey;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::iter;
use core::num::NonZeroU64;
use core::time::Duration;

/// Where a call runs. On one lane calls follow each other, but for `Beside`; different lanes do not wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    /// Host locks and records. There are never two calls of one run at once.
    Disk,
    /// The source of worker ids and the clocks of peers. A call may be abandoned: then the next one begins beside it.
    Source,
    /// The cache of leases.
    Cache,
    /// Releases of leases and a look at other names, any number at once.
    Beside,
}

/// What the host carries out. Each call makes its own end, which goes to `WorkerRun::done` with the call's id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RunCall {
    /// On `Source`: the clocks of peers.
    PeerTimes(PeersCall),
    /// On `Source`: a worker id of a callback.
    Claim(ClaimCall),
    /// On `Source`: a longer lease of a callback.
    Renew(RenewCall),
    /// On `Beside`: the end of a lease of a callback.
    Release(ReleaseCall),
    /// On `Disk`: the host lock of a worker id.
    LockHost(HostLockCall),
    /// On `Disk`: the host lock is given back.
    UnlockHost(HostUnlockCall),
    /// On `Disk`: who holds a worker id.
    Holder(HolderCall),
    /// On `Beside`: under which other names a worker id is held.
    Names(NamesCall),
    /// On `Disk`: the names of the records' files.
    ListRecords(RecordsCall),
    /// On `Disk`: the bytes of a record, without its lock.
    PeekRecord(RecordPeek),
    /// On `Disk`: the record is opened and locked, and read. The host makes it if it is missing.
    OpenRecord(RecordOpen),
    /// On `Disk`: the open record is read, checked and written, and made durable.
    WriteRecord(Box<RecordWrite>),
    /// On `Disk`: the record is closed.
    CloseRecord(RecordCloseCall),
    /// On `Cache`: the cached leases that seem usable.
    ListLeaseCaches(CacheList),
    /// On `Cache`: the cached lease of a worker id whose record is locked.
    ReadLeaseCache(CacheRead),
    /// On `Cache`: the held lease is written beside the record, for a start while no server is reachable.
    WriteLeaseCache(Box<CacheWrite>),
    /// On `Cache`: the cached lease is made invalid, durably.
    DropLeaseCache(Box<CacheDrop>),
    /// On `Source` for a claim and a renewal, on `Beside` for a release: a request to one lease server.
    Http(Box<HttpCall>),
}

impl RunCall {
    /// As the call of this number, which its end carries: no host can report it as the end of another one.
    pub(crate) fn numbered(mut self, id: CallId) -> RunCall {
        let of = match &mut self {
            RunCall::PeerTimes(call) => &mut call.of,
            RunCall::Claim(call) => &mut call.of,
            RunCall::Renew(call) => &mut call.of,
            RunCall::Release(call) => &mut call.of,
            RunCall::LockHost(call) => &mut call.of,
            RunCall::UnlockHost(call) => &mut call.of,
            RunCall::Holder(call) => &mut call.of,
            RunCall::Names(call) => &mut call.of,
            RunCall::ListRecords(call) => &mut call.of,
            RunCall::PeekRecord(call) => &mut call.of,
            RunCall::OpenRecord(call) => &mut call.of,
            RunCall::WriteRecord(call) => &mut call.of,
            RunCall::CloseRecord(call) => &mut call.of,
            RunCall::ListLeaseCaches(call) => &mut call.of,
            RunCall::ReadLeaseCache(call) => &mut call.of,
            RunCall::WriteLeaseCache(call) => &mut call.of,
            RunCall::DropLeaseCache(call) => &mut call.of,
            RunCall::Http(call) => &mut call.of,
        };
        *of = Aside(NonZeroU64::new(id.0));
        self
    }

    /// The host did not carry it out to its end, for this reason: nothing that it brought counts, and what it may have
    /// written is not taken for what was there before.
    pub fn refused(self, failure: SourceFailure) -> RunCallEnd {
        let error = |failure: SourceFailure| failure.error("a call of leafid");
        match self {
            RunCall::PeerTimes(call) => call.end(Err(failure)),
            RunCall::Claim(call) => call.end(Err(failure)),
            RunCall::Renew(call) => call.end(Err(failure)),
            RunCall::Release(call) => call.end(Err(failure)),
            RunCall::LockHost(call) => call.failed(error(failure)),
            RunCall::UnlockHost(call) => call.end(),
            RunCall::Holder(call) => call.end(Holder::default()),
            RunCall::Names(call) => call.end(Vec::new()),
            RunCall::ListRecords(call) => call.end(iter::empty()),
            RunCall::PeekRecord(call) => {
                let path = record_file_name(call.worker_id());
                call.failed(path, &IoFailure::other(error(failure).message())).into()
            }
            RunCall::OpenRecord(call) => call.refused(error(failure)).into(),
            RunCall::WriteRecord(call) => call.end(Err(error(failure))).into(),
            RunCall::CloseRecord(call) => call.end(),
            RunCall::ListLeaseCaches(call) => call.end(Duration::ZERO, 0).into(),
            RunCall::ReadLeaseCache(call) => call.refused(error(failure)).into(),
            RunCall::WriteLeaseCache(call) => {
                let path = lease_file_name(call.worker_id());
                call.refused(path, error(failure)).into()
            }
            RunCall::DropLeaseCache(call) => call.refused(error(failure)).into(),
            RunCall::Http(call) => call.failed(NoResponse::Other(error(failure).message()), false).into(),
        }
    }
}

/// What was asked for by a call that is under way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Asked {
    PeerTimes,
    Claim,
    Renew,
    /// A renewal of a lease that was lost since.
    LostRenewal,
    /// The release of this lease.
    Release(LeaseKey),
    /// Whether the worker id is held under another name, too.
    Names,
    /// A lock is given back.
    Unlock,
    WriteRecord,
    WriteCache,
    DropCache,
    /// Any other call of a round.
    OfRound,
}

impl UnderWay {
    /// Whether its time is over.
    pub(crate) fn is_overdue(&self, boot: Duration) -> bool {
        self.until.is_some_and(|until| boot >= until)
    }
}

/// A call that is under way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct UnderWay {
    id: Aside<CallId>,
    lane: Lane,
    pub(crate) asked: Asked,
    /// The boot time before it was made.
    pub(crate) since: Duration,
    /// When it is abandoned.
    pub(crate) until: Option<Duration>,
    /// Whether no caller waits for it any more.
    pub(crate) abandoned: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Lanes {
    last: Aside<u64>,
    calls: Vec<UnderWay>,
}

impl Lanes {
    /// The call that is under way on a lane, and was not abandoned.
    pub(crate) fn on(&self, lane: Lane) -> Option<&UnderWay> {
        self.calls.iter().find(|call| call.lane == lane && !call.abandoned)
    }

    pub(crate) fn is_free(&self, lane: Lane) -> bool {
        self.on(lane).is_none()
    }

    /// Begins a call. It is abandoned after `within`.
    pub(crate) fn begin(
        &mut self,
        (lane, asked): (Lane, Asked),
        boot: Duration,
        within: Option<Duration>,
    ) -> CallId {
        self.last.0 += 1;
        let id = CallId(self.last.0);
        let until = within.map(|within| boot.saturating_add(within));
        self.calls.push(UnderWay { id: Aside(id), lane, asked, since: boot, until, abandoned: false });
        id
    }

    /// A call ended. `None` if it ended before.
    pub(crate) fn end(&mut self, id: CallId) -> Option<UnderWay> {
        let at = self.calls.iter().position(|call| call.id.0 == id)?;
        Some(self.calls.remove(at))
    }

    /// A call that is under way, by its number.
    pub(crate) fn find(&self, id: CallId) -> Option<&UnderWay> {
        self.calls.iter().find(|call| call.id.0 == id)
    }

    /// Abandons the call on this lane. Returns its number.
    pub(crate) fn abandon(&mut self, lane: Lane) -> Option<CallId> {
        let call = self.calls.iter_mut().find(|call| call.lane == lane && !call.abandoned)?;
        (call.abandoned, call.until) = (true, None);
        Some(call.id.0)
    }

    /// The renewals that are under way are of a lease that is lost.
    pub(crate) fn forget_renewals(&mut self) {
        let renewals = self.calls.iter_mut().filter(|call| call.asked == Asked::Renew);
        renewals.for_each(|call| call.asked = Asked::LostRenewal);
    }

    /// The leases of the releases that are under way.
    pub(crate) fn releases(&self) -> impl Iterator<Item = &LeaseKey> {
        self.calls.iter().filter_map(|call| match &call.asked {
            Asked::Release(lease) => Some(lease),
            _ => None,
        })
    }

    /// The claims that are under way, abandoned or not.
    pub(crate) fn claims(&self) -> impl Iterator<Item = CallId> {
        self.calls.iter().filter(|call| call.asked == Asked::Claim).map(|call| call.id.0)
    }

    /// Whether such a call is under way, abandoned or not.
    pub(crate) fn any(&self, asked: Asked) -> bool {
        self.calls.iter().any(|call| call.asked == asked)
    }

    /// Whether such a call was abandoned, and has not ended.
    pub(crate) fn hangs(&self, asked: Asked) -> bool {
        self.calls.iter().any(|call| call.asked == asked && call.abandoned)
    }

    /// When the next call is abandoned.
    pub(crate) fn next_until(&self) -> Option<Duration> {
        self.calls.iter().filter_map(|call| call.until).min()
    }
}
