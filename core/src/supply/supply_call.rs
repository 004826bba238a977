//! What a supply asks of its host: calls, how they end, and notices.

use super::callers::Ticket;
use super::mark_calls::{MarkRead, MarkUpdate};
use crate::call::{CallId, Level};
use crate::{Code, Error, Fetched, Result, Segment};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

/// A call that the host carries out, without the lock of the supply, and ends once by [`super::Supply::done`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// Read the mark of a tag, without its lock.
    ReadMark(MarkRead),
    /// Change the mark of a tag: under its lock read, compare and write, durably.
    UpdateMark(Box<MarkUpdate>),
    /// Call the user's code for ids.
    Fetch(FetchCall),
}

/// A request to the user's code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FetchCall {
    /// The tag whose ids are requested.
    pub tag: Arc<str>,
    /// How many ids are requested. The source may return more or fewer. 0 leaves it to the source; a callback of a
    /// user's never gets 0.
    pub step: i64,
    /// Every id below was given before. A counter below it has lost data.
    pub after: i64,
    pub(super) call: CallId,
}

/// How a call ended. Only the calls make one, so that no host can claim a write, or an answer, that did not come.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CallEnd {
    /// The call; an end that is reported for another one has no effect.
    pub(super) call: CallId,
    pub(super) how: Ended,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Ended {
    /// Every id below the mark was given before.
    MarkRead(Result<i64>),
    /// The mark above these segments is durable.
    Accepted(Result<Accepted>),
    /// What the source gave; `None` for an unknown tag.
    Fetched(Result<Option<Fetched>>),
}

/// Segments that were not given before. The mark above them is durable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Accepted {
    /// At least one.
    pub(super) segments: Vec<Segment>,
    /// Why another segment was skipped.
    pub(super) refused: Option<Error>,
}

/// What the host is told.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Notice {
    /// The ticket has ended: have its caller collect it.
    Wake(Ticket),
    /// The call takes too long, or is not needed any more: its place is free, and its end has no effect.
    Abandon(CallId),
    /// A line for the log.
    Log(Level, String),
    /// The supply is closed, and needs nothing more. Errors: `state_io` if unused ids are not stored.
    Closed(Result<()>),
}

impl FetchCall {
    /// What the user's code returned: ids that were never given before, or `None` for an unknown tag. An error that is
    /// not of leafid is made by [`FetchCall::failed`].
    pub fn end(self, answer: Result<Option<Fetched>>) -> CallEnd {
        CallEnd { call: self.call, how: Ended::Fetched(answer) }
    }

    /// The user's code failed with this text of its own.
    pub fn failed(self, text: &str) -> CallEnd {
        self.unavailable(format!("the fetch of a segment failed: {text}"))
    }

    /// The user's code panicked.
    pub fn panicked(self) -> CallEnd {
        let message = "the fetch of a segment panicked; see the code that gives segments, then try again";
        self.unavailable(message.into())
    }

    /// The user's code ended, and will not answer.
    pub fn dropped(self) -> CallEnd {
        let message = "the fetch of a segment ended without an answer; see the code that gives segments";
        self.unavailable(message.into())
    }

    fn unavailable(self, message: String) -> CallEnd {
        self.end(Err(Error::new(Code::SegmentUnavailable, message)))
    }
}
