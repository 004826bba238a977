//! What a command reads and writes, and how it ends.

use leafid_core::Error;
use std::io::{self, BufRead, Write};

/// The streams of a run.
pub(super) struct Streams<'a> {
    pub(super) stdin: &'a mut dyn BufRead,
    pub(super) stdout: &'a mut dyn Write,
    pub(super) stderr: &'a mut dyn Write,
}

impl Streams<'_> {
    /// Says what went wrong. That it cannot be said is no reason to end otherwise.
    pub(super) fn complain(&mut self, text: impl std::fmt::Display) {
        let _ = writeln!(self.stderr, "leafid: {text}").and_then(|()| self.stderr.flush());
    }
}

/// What ends a command before its end.
pub(super) enum End {
    /// With its message.
    Refused(Error),
    /// Standard output cannot be written.
    Output(io::Error),
}

impl From<Error> for End {
    fn from(error: Error) -> End {
        End::Refused(error)
    }
}

impl From<io::Error> for End {
    fn from(error: io::Error) -> End {
        End::Output(error)
    }
}

/// How a command went: whether all of it was done, what was not having been said.
pub(super) type Outcome = Result<bool, End>;
