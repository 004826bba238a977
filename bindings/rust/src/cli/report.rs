//! The lines of `leafid check`: what was checked, and the result.

use serde_json::json;
use std::fmt::Display;
use std::io::{self, Write};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Ok,
    /// It works, but somebody should know.
    Warning,
    Failed,
}

pub(super) struct Report<'a> {
    stdout: &'a mut dyn Write,
    json: bool,
    pub(super) failed: bool,
}

impl<'a> Report<'a> {
    pub(super) fn new(stdout: &'a mut dyn Write, json: bool) -> Report<'a> {
        Report { stdout, json, failed: false }
    }

    /// Prints one line at once, because the next check may take some time.
    pub(super) fn line(&mut self, status: Status, what: &str, how: impl Display) -> io::Result<()> {
        self.failed |= status == Status::Failed;
        let status = match status {
            Status::Ok => "ok",
            Status::Warning => "warning",
            Status::Failed if self.json => "failed",
            Status::Failed => "FAILED",
        };
        match self.json {
            true => writeln!(
                self.stdout,
                "{}",
                json!({"check": what, "status": status, "detail": how.to_string()})
            )?,
            false => writeln!(self.stdout, "{status:<8} {what:<16} {how}")?,
        }
        self.stdout.flush()
    }
}
