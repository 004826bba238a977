//! The lines of `leafid check`: what was looked at, and how it is.

use std::fmt::Display;
use std::io::{self, Write};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Ok,
    /// It works, and somebody should know.
    Warning,
    Failed,
}

pub(super) struct Report<'a> {
    stdout: &'a mut dyn Write,
    pub(super) failed: bool,
}

impl<'a> Report<'a> {
    pub(super) fn new(stdout: &'a mut dyn Write) -> Report<'a> {
        Report { stdout, failed: false }
    }

    /// One line; shown at once, as the next check may take its time.
    pub(super) fn line(&mut self, status: Status, what: &str, how: impl Display) -> io::Result<()> {
        let status = match status {
            Status::Ok => "ok",
            Status::Warning => "warning",
            Status::Failed => {
                self.failed = true;
                "FAILED"
            }
        };
        writeln!(self.stdout, "{status:<8} {what:<16} {how}")?;
        self.stdout.flush()
    }
}
