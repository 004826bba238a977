//! What a run tells its host besides calls.

use crate::Result;
use crate::call::{CallId, Level};
use alloc::collections::VecDeque;
use alloc::string::String;

/// Something to tell, to stop or to wake. Act on it after the machine's lock is released: a logger may ask for an id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunNotice {
    /// This call is not needed any more: stop it if that is possible. Its end is reported all the same, if it comes.
    Abandon(CallId),
    /// An answer came: those who wait look at theirs.
    Wake,
    /// A line for the log.
    Log(Level, String),
    /// The run has ended. Calls that were abandoned may end later: report these too, and pull what follows from them.
    Closed(Result<()>),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Notices {
    queue: VecDeque<RunNotice>,
    wakes: bool,
}

impl Notices {
    pub(crate) fn push(&mut self, notice: RunNotice) {
        self.queue.push_back(notice);
    }

    pub(crate) fn log(&mut self, level: Level, text: String) {
        self.push(RunNotice::Log(level, text));
    }

    pub(crate) fn info(&mut self, text: String) {
        self.log(Level::Info, text);
    }

    pub(crate) fn warn(&mut self, text: String) {
        self.log(Level::Warn, text);
    }

    pub(crate) fn wake(&mut self) {
        self.wakes = true;
    }

    /// Whether there is one.
    pub(crate) fn waits(&self) -> bool {
        self.wakes || !self.queue.is_empty()
    }

    pub(crate) fn next(&mut self) -> Option<RunNotice> {
        match core::mem::take(&mut self.wakes) {
            true => Some(RunNotice::Wake),
            false => self.queue.pop_front(),
        }
    }
}
