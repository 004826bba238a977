//! Texts, for callers and the log, about fetches that fail or do not end.

use crate::call::Level;
use crate::quoted::Quoted;
use crate::spelling::name::TIMEOUT_MS;
use crate::{Code, Error};
use alloc::format;
use alloc::string::String;
use core::time::Duration;

/// The error of calls after a close.
pub fn closed() -> Error {
    Error::new(Code::Closed, "the segments were closed; open them again")
}

/// The tag is not there: the supply is closed, or it was forgotten.
pub(super) fn gone(is_closed: bool) -> Error {
    match is_closed {
        true => closed(),
        false => Error::new(Code::Closed, "the tag was forgotten meanwhile; get it again"),
    }
}

/// The source answered that it does not know the tag.
pub(super) fn unknown(tag: &str) -> Error {
    let message = format!("the source knows no tag {}; make it there, or correct the name", Quoted(tag));
    Error::new(Code::UnknownTag, message)
}

/// The error of what came for a tag.
pub(super) fn of_tag(error: Error, tag: &str) -> Error {
    error.context(format_args!("tag {}", Quoted(tag)))
}

/// The line for ids that an earlier process has left.
pub(super) fn not_taken(tag: &str, error: &Error) -> String {
    format!("the stored ids of the tag {} are not used: {error}", Quoted(tag))
}

/// The end of a call is none of its kind.
pub(super) fn mixed_up() -> Error {
    Error::new(Code::Internal, "a call ended as another one; report this")
}

/// For event loops: the error of a thread that may not wait. `is_deferred`: the fetch ends on that thread.
pub fn would_block(tag: &str, is_deferred: bool) -> Error {
    let why = match is_deferred {
        true => "its fetch needs this thread's event loop: return to it and call again, or await next",
        false => "its fetch is running: call again, or await next",
    };
    Error::new(Code::WouldBlock, format!("no id of the tag {} is at hand, and {why}", Quoted(tag)))
}

/// A call that timed out, and what is known of its tag's fetches.
pub(super) struct LateCall<'a> {
    pub(super) tag: &'a str,
    pub(super) waited: Duration,
    /// The error of the tag's last fetch.
    pub(super) error: Option<&'a Error>,
    /// Whether a fetch of the tag is running.
    pub(super) is_asked: bool,
    /// For how long the source has not answered it.
    pub(super) silent_for: Option<Duration>,
    /// If the tag is not asked for because its source is down: a tag for which it failed, and the error.
    pub(super) down: Option<(&'a str, &'a Error)>,
    /// Whether as many requests as are allowed are under way.
    pub(super) is_full: bool,
}

impl LateCall<'_> {
    pub(super) fn error(self) -> Error {
        let (tag, waited_ms) = (Quoted(self.tag), self.waited.as_millis() as u64);
        let late = format!("no id of the tag {tag} within {waited_ms} ms");
        if let Some(error) = self.error {
            let code = match error.code() {
                code @ (Code::SegmentRegressed
                | Code::SourceInvalid
                | Code::StateIo
                | Code::StateCorrupt
                | Code::StateMismatch
                | Code::UnknownTag
                | Code::InvalidArgument) => code,
                _ => Code::SegmentUnavailable,
            };
            return Error::new(code, format!("{late}: {}", error.message()));
        }
        if let Some((failed, error)) = self.down {
            let failed = Quoted(failed);
            let message = format!(
                "{late}: its source is down, so it was not asked for this tag; see the source, or raise {TIMEOUT_MS}; it \
                 failed for the tag {failed}: {}",
                error.message()
            );
            return Error::new(Code::SegmentUnavailable, message);
        }
        let why = match self.silent_for {
            Some(silent) => format!("its source has not answered for {} ms", silent.as_millis() as u64),
            None if self.is_asked => "requests for other tags took all `connections`".into(),
            None if self.is_full => "its source has not answered requests for other tags".into(),
            None => "its source was not asked yet".into(),
        };
        Error::new(Code::SegmentUnavailable, format!("{late}: {why}; see the source, or raise {TIMEOUT_MS}"))
    }
}

/// The line of a server's log: its store gave no range that it can give on.
pub(super) fn no_range(tag: &str, error: &Error) -> String {
    format!("no range of {}: {error}", Quoted(tag))
}

/// A client of a server that timed out. It has no options of the server's, and knows no other tag.
pub(super) fn late_at_store(tag: &str, error: Option<&Error>) -> Error {
    let why = error.map_or("the store has not answered yet", Error::message);
    Error::new(Code::SegmentUnavailable, format!("no id of {} in time: {why}", Quoted(tag)))
}

/// The line for an error: once, not at each retry. `before` is the error of the last fetch. `failures` is the number of
/// failures in a row, 0 if only some ids were skipped.
pub(super) fn log_once(
    tag: &str,
    is_held: bool,
    error: &Error,
    before: Option<Code>,
    failures: u32,
) -> Option<(Level, String)> {
    if before.filter(|_| failures != 1) == Some(error.code()) {
        return None;
    }
    Some(match failures {
        // It may not be the fault of the source.
        0 => (Level::Info, format!("some ids for the tag {} are left out: {error}", Quoted(tag))),
        _ if is_held => (Level::Warn, no_range(tag, error)),
        _ => (Level::Warn, format!("no segment for the tag {}: {error}", Quoted(tag))),
    })
}
