//! The standard streams of a command, and the results with which it ends.

use leafid_core::Error;
use serde_json::{Value, json};
use std::io::{self, BufRead, Write};

/// The standard streams of a run.
pub(super) struct Streams<'a> {
    pub(super) stdin: &'a mut dyn BufRead,
    pub(super) stdout: &'a mut dyn Write,
    pub(super) stderr: &'a mut dyn Write,
    /// Whether a person looks at the output.
    pub(super) is_terminal: bool,
}

impl Streams<'_> {
    /// Prints an error message. If that fails too, the exit code stays the same.
    pub(super) fn complain(&mut self, text: impl std::fmt::Display) {
        let _ = writeln!(self.stderr, "leafid: {text}").and_then(|()| self.stderr.flush());
    }

    /// Prints a line for one of several, as JSON or as text, or its error. `key` names it in JSON, `before` in the text
    /// of the error. Returns whether it is no error.
    pub(super) fn show<T>(
        &mut self,
        found: Result<T, Error>,
        json: bool,
        (key, before): ((&str, Value), &str),
        (as_json, as_text): (impl FnOnce(&T) -> Value, impl FnOnce(&T) -> String),
    ) -> io::Result<bool> {
        match &found {
            Ok(found) if json => writeln!(self.stdout, "{}", as_json(found))?,
            Ok(found) => writeln!(self.stdout, "{}", as_text(found))?,
            Err(error) if json => {
                let mut line = json!({"error": error.code().name(), "message": error.message()});
                line[key.0] = key.1;
                writeln!(self.stdout, "{line}")?;
            }
            Err(error) => {
                self.stdout.flush()?;
                self.complain(format_args!("{before}{error}"));
            }
        }
        Ok(found.is_ok())
    }
}

/// Why a command ended early.
pub(super) enum End {
    /// An error with its message.
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

/// The result of a command: false if a part of it failed and a message was already printed.
pub(super) type Outcome = Result<bool, End>;
