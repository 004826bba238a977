//! Those who wait for a run: to open it, for a span, or for its end. One answer serves all who asked before it.
//!
//! | A need | Event | Its ticket |
//! | --- | --- | --- |
//! | none | `want` | waits |
//! | waits | the next answer to such needs | answered |
//! | waits | `give_up` | gone: nothing is done for it any more |

use crate::run::aside::Aside;
use crate::run::waiting::Answer;
use alloc::vec::Vec;
use core::time::Duration;

/// What a caller needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Need {
    /// An open generator.
    Open {
        /// The longest wait for the clock that the caller accepts; `None` for any. That of the first opener rules.
        longest: Option<Duration>,
        /// Whether the caller returns to its event loop, so that user code which needs the loop can run.
        loops: bool,
    },
    /// A span: the generator returned `NeedSpan`, or `Sealed` while its run is not closed.
    Span,
    /// The end of the run: its last handle was closed.
    Close {
        /// Whether the process ends: no server is asked any more. Its lease ends by itself, and its cached lease stays.
        quietly: bool,
        /// Whether the end waits for a renewal that is under way. Not where the renewal itself closes the run.
        waits_for_source: bool,
    },
}

/// The number of a need. None is used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunTicket {
    number: u64,
    line: LineOf,
}

impl RunTicket {
    /// It is answered once the number of its kind of need in [`Answered`] has reached this.
    pub const fn number(self) -> u64 {
        self.number
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum LineOf {
    Open,
    Span,
    Close,
}

/// The last answered number of each kind of need, for atomics that waiting threads read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Answered {
    /// Of [`Need::Open`].
    pub opens: u64,
    /// Of [`Need::Span`].
    pub spans: u64,
    /// Of [`Need::Close`].
    pub closes: u64,
}

/// One who waits to open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Opener {
    number: Aside<u64>,
    longest: Option<Duration>,
    loops: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct RunCallers {
    last: Aside<u64>,
    answered: Aside<Answered>,
    openers: Vec<Opener>,
    spans: Vec<Aside<u64>>,
    closes: Vec<Aside<u64>>,
    /// The last answer to each kind of need.
    answers: Aside<[Option<Answer>; 3]>,
}

impl RunCallers {
    pub(crate) fn want(&mut self, need: Need) -> RunTicket {
        self.last.0 += 1;
        let number = self.last;
        let line = match need {
            Need::Open { longest, loops } => {
                self.openers.push(Opener { number, longest, loops });
                LineOf::Open
            }
            Need::Span => {
                self.spans.push(number);
                LineOf::Span
            }
            Need::Close { .. } => {
                self.closes.push(number);
                LineOf::Close
            }
        };
        RunTicket { number: number.0, line }
    }

    /// The caller has left.
    pub(crate) fn give_up(&mut self, ticket: RunTicket) {
        match ticket.line {
            LineOf::Open => self.openers.retain(|opener| opener.number.0 != ticket.number),
            LineOf::Span => self.spans.retain(|number| number.0 != ticket.number),
            LineOf::Close => self.closes.retain(|number| number.0 != ticket.number),
        }
    }

    pub(crate) fn answer_opens(&mut self, answer: Answer) {
        self.openers.clear();
        self.answered.0.opens = self.last.0;
        self.answers.0[0] = Some(answer);
    }

    pub(crate) fn answer_spans(&mut self, answer: Answer) {
        self.spans.clear();
        self.answered.0.spans = self.last.0;
        self.answers.0[1] = Some(answer);
    }

    pub(crate) fn answer_closes(&mut self, answer: Answer) {
        self.closes.clear();
        self.answered.0.closes = self.last.0;
        self.answers.0[2] = Some(answer);
    }

    /// The answer to a ticket; `None` if there is none yet.
    pub(crate) fn answer(&self, ticket: RunTicket) -> Option<Answer> {
        let Answered { opens, spans, closes } = self.answered.0;
        let (answered, at) = match ticket.line {
            LineOf::Open => (opens, 0),
            LineOf::Span => (spans, 1),
            LineOf::Close => (closes, 2),
        };
        self.answers.0[at].clone().filter(|_| ticket.number <= answered)
    }

    pub(crate) fn answered(&self) -> Answered {
        self.answered.0
    }

    /// Whether somebody waits to open.
    pub(crate) fn opens(&self) -> bool {
        !self.openers.is_empty()
    }

    /// Whether somebody waits for a span.
    pub(crate) fn waits_for_span(&self) -> bool {
        !self.spans.is_empty()
    }

    /// The longest wait for the clock that the first opener accepts.
    pub(crate) fn longest(&self) -> Option<Duration> {
        self.openers.first().and_then(|opener| opener.longest)
    }

    /// Whether somebody waits to open, and none of them holds up an event loop, by which what it waits for may come.
    pub(crate) fn opens_beside_loops(&self) -> bool {
        self.opens() && self.openers.iter().all(|opener| opener.loops)
    }

    /// Whether an opener returns to its event loop.
    pub(crate) fn loops(&self) -> bool {
        self.openers.iter().any(|opener| opener.loops)
    }
}
