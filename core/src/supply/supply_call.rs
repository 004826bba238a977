//! What a supply asks of its host: calls, how they end, and notices.

use super::counter_update::{CounterUpdate, CounterUpdated};
use super::mark_read::{MarkFound, MarkList, MarkRead, MarksListed};
use super::mark_update::{MarkUpdate, MarkUpdated};
use super::tickets::Ticket;
use crate::call::{CallId, Level};
use crate::http::{HttpCall, HttpEnd, NoResponse};
use crate::{Code, Error, Fetched, Result, Segment};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use core::num::NonZeroU64;

/// A call that the host carries out, without the lock of the supply, and ends once by [`super::Supply::done`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// List the tags that were used lately.
    ListMarks(Box<MarkList>),
    /// Read the mark of a tag, without its lock.
    ReadMark(MarkRead),
    /// Change the mark of a tag: under its lock read, compare and write, durably.
    UpdateMark(Box<MarkUpdate>),
    /// Take ids from a counter of a directory, under its lock and durably.
    UpdateCounter(Box<CounterUpdate>),
    /// Call the user's code for ids.
    Fetch(FetchCall),
    /// Send a request to a server.
    Http(Box<HttpCall>),
    /// Give ids back to the store that gave them.
    GiveBack(GiveBack),
}

/// A request to the user's code, or to the store of a server. It may take as long as it likes, and it is made once: while
/// it hangs its tag gets no ids, and other tags soon have its place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FetchCall {
    /// The tag whose ids are requested.
    pub tag: Arc<str>,
    /// How many ids are requested. The source may return more or fewer. 0 leaves it to the source; a callback of a
    /// user's never gets 0.
    pub step: i64,
    /// Every id below was given before. A counter below it has lost data. Where the supply holds the marks, it is 0, or
    /// what the caller of a range asked for: the supply refuses what was given before by itself.
    pub after: i64,
    /// The caller of [`super::Supply::take_range`] for whom it is made.
    pub ticket: Option<Ticket>,
    pub(super) call: CallId,
}

/// Unused ids of a closed supply that holds its marks. None of them was issued, and none will be.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GiveBack {
    /// Their tag.
    pub tag: Arc<str>,
    /// The ids: the end of the last range, unless the store gave another one since.
    pub ids: Segment,
    pub(super) call: CallId,
}

/// How a call that gives ids back ended. Only a [`GiveBack`] makes one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GivenBack(CallId, Result<()>);

/// How a call to the user's code ended. Only a [`FetchCall`] makes one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FetchCallEnd {
    call: CallId,
    answer: Result<Option<Fetched>>,
}

/// How a call ended: made from the end that the call itself returned, so that no host can claim a write, or an answer,
/// that did not come.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CallEnd(pub(super) SupplyEnd);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum SupplyEnd {
    Listed(MarksListed),
    MarkRead(MarkFound),
    Updated(MarkUpdated),
    Counted(CounterUpdated),
    /// What the source gave; `None` for an unknown tag.
    Fetched(CallId, Result<Option<Fetched>>),
    Http(Box<HttpEnd>),
    GivenBack(CallId, Result<()>),
}

/// A notice for the host.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Notice {
    /// The ticket has ended: have its caller collect it.
    Wake(Ticket),
    /// The call takes too long, or is not needed any more: its place is free, and its end has no effect.
    Abandon(CallId),
    /// A line for the log.
    Log(Level, String),
    /// The supply is closed, and needs nothing more. Errors: why unused ids are not stored, or not given back.
    Closed(Result<()>),
}

impl Call {
    /// The host cannot carry it out, for this reason: nothing was asked, and nothing was written.
    pub fn refused(self, error: Error) -> CallEnd {
        match self {
            Call::ListMarks(list) => list.refused(error).into(),
            Call::ReadMark(read) => read.refused(error).into(),
            Call::UpdateMark(update) => update.refused(error).into(),
            Call::UpdateCounter(update) => update.refused(error).into(),
            Call::Fetch(fetch) => fetch.end(Err(error)).into(),
            Call::Http(call) => call.failed(NoResponse::Other(error.message()), false).into(),
            Call::GiveBack(back) => back.end(Err(error)).into(),
        }
    }
}

impl FetchCall {
    /// What the user's code returned: ids that were never given before, or `None` for an unknown tag. An error that is
    /// not of leafid is reported by [`FetchCall::failed`].
    pub fn end(self, answer: Result<Option<Fetched>>) -> FetchCallEnd {
        FetchCallEnd { call: self.call, answer }
    }

    /// The user's code failed with this text of its own.
    pub fn failed(self, text: &str) -> FetchCallEnd {
        self.unavailable(format!("the fetch of a segment failed: {text}"))
    }

    /// The user's code panicked.
    pub fn panicked(self) -> FetchCallEnd {
        let message = "the fetch of a segment panicked; see the code that gives segments, then try again";
        self.unavailable(message.into())
    }

    /// The user's code ended, and will not answer.
    pub fn dropped(self) -> FetchCallEnd {
        let message = "the fetch of a segment ended without an answer; see the code that gives segments";
        self.unavailable(message.into())
    }

    fn unavailable(self, message: String) -> FetchCallEnd {
        self.end(Err(Error::new(Code::SegmentUnavailable, message)))
    }
}

impl GiveBack {
    /// The store took them, or has given others since. Errors: what came in between; then they are a gap.
    pub fn end(self, given: Result<()>) -> GivenBack {
        GivenBack(self.call, given)
    }
}

impl CallEnd {
    /// Whether it is the end of this call.
    pub(super) fn is_of(&self, call: CallId) -> bool {
        match &self.0 {
            SupplyEnd::Listed(end) => end.call == call,
            SupplyEnd::MarkRead(end) => end.call == call,
            SupplyEnd::Updated(end) => end.call == call,
            SupplyEnd::Counted(end) => end.call == call,
            SupplyEnd::Fetched(of, _) | SupplyEnd::GivenBack(of, _) => *of == call,
            SupplyEnd::Http(end) => end.of.0 == NonZeroU64::new(call.0),
        }
    }
}

/// The calls make ends of their own.
macro_rules! ends {
    ($($from:ident: $end:ty => $to:expr;)*) => {
        $(impl From<$end> for CallEnd {
            fn from($from: $end) -> CallEnd {
                CallEnd($to)
            }
        })*
    };
}

ends! {
    end: MarksListed => SupplyEnd::Listed(end);
    end: MarkFound => SupplyEnd::MarkRead(end);
    end: MarkUpdated => SupplyEnd::Updated(end);
    end: CounterUpdated => SupplyEnd::Counted(end);
    end: FetchCallEnd => SupplyEnd::Fetched(end.call, end.answer);
    end: GivenBack => SupplyEnd::GivenBack(end.0, end.1);
    end: HttpEnd => SupplyEnd::Http(Box::new(end));
}
