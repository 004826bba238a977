//! What callers and the log are told of fetches that fail or do not end.

use leafid_core::{Code, Error};
use std::sync::Arc;
use std::time::Duration;

pub(super) fn closed() -> Error {
    Error::new(Code::Closed, "the segments were closed; open them again")
}

/// A call that timed out, and what is known of its tag's fetches.
pub(super) struct LateCall<'a> {
    pub(super) tag: &'a str,
    pub(super) waited: Duration,
    /// The error of the tag's last fetch.
    pub(super) error: Option<Error>,
    /// Whether a fetch of the tag is running.
    pub(super) is_asked: bool,
    /// For how long the source has not answered it.
    pub(super) silent_for: Option<Duration>,
    /// If the tag is not asked for because its source is down: a tag for which it failed, and the error.
    pub(super) down: Option<(Arc<str>, Error)>,
    /// Whether as many requests as are allowed are under way.
    pub(super) is_full: bool,
}

impl LateCall<'_> {
    pub(super) fn error(self) -> Error {
        let (tag, waited_ms) = (self.tag, self.waited.as_millis());
        let late = format!("no id of the tag {tag:?} within {waited_ms} ms");
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
            let message = format!(
                "{late}: its source is down, so it was not asked for this tag; see the source, or raise timeout_ms; it failed for the tag {failed:?}: {}",
                error.message()
            );
            return Error::new(Code::SegmentUnavailable, message);
        }
        let why = match self.silent_for {
            Some(silent) => format!("its source has not answered for {} ms", silent.as_millis()),
            None if self.is_asked => "requests for other tags took all `connections`".into(),
            None if self.is_full => "its source has not answered requests for other tags".into(),
            None => "its source was not asked yet".into(),
        };
        Error::new(Code::SegmentUnavailable, format!("{late}: {why}; see the source, or raise timeout_ms"))
    }
}

/// Logs an error once, not at each retry. `before` is the error of the last fetch. `failures` is the number of failures
/// in a row, 0 if only some ids were skipped.
pub(super) fn log_once(tag: &str, error: &Error, before: Option<Code>, failures: u32) {
    if before.filter(|_| failures != 1) == Some(error.code()) {
        return;
    }
    match failures {
        // It may not be the fault of the source.
        0 => log::info!("leafid: some ids for the tag {tag:?} are left out: {error}"),
        _ => log::warn!("leafid: no segment for the tag {tag:?}: {error}"),
    }
}
