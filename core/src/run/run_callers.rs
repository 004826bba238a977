//! Those who wait for a run: to open it, for a span, or for its end. One answer serves all who asked before it.
//!
//! | A need | Event | Its ticket |
//! | --- | --- | --- |
//! | none | `want` | waits |
//! | waits | the next answer to such needs | answered |
//! | waits | `give_up` | gone: nothing is done for it any more |

use crate::aside::Aside;
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Opener {
    longest: Option<Duration>,
    loops: bool,
}

/// Those with one kind of need.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct WaitLine<T> {
    waiting: Vec<(Aside<u64>, T)>,
    /// The last number that was answered, and the answer.
    answered: Aside<(u64, Option<Answer>)>,
}

impl<T> WaitLine<T> {
    fn give_up(&mut self, ticket: RunTicket) {
        self.waiting.retain(|(number, _)| number.0 != ticket.number);
    }

    fn answer_all(&mut self, last: Aside<u64>, answer: Answer) {
        self.waiting.clear();
        self.answered = Aside((last.0, Some(answer)));
    }

    fn answer(&self, ticket: RunTicket) -> Option<Answer> {
        self.answered.0.1.clone().filter(|_| ticket.number <= self.answered.0.0)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct RunCallers {
    last: Aside<u64>,
    opens: WaitLine<Opener>,
    spans: WaitLine<()>,
    closes: WaitLine<()>,
}

impl RunCallers {
    pub(crate) fn want(&mut self, need: Need) -> RunTicket {
        self.last.0 += 1;
        let number = self.last;
        let line = match need {
            Need::Open { longest, loops } => {
                self.opens.waiting.push((number, Opener { longest, loops }));
                LineOf::Open
            }
            Need::Span => {
                self.spans.waiting.push((number, ()));
                LineOf::Span
            }
            Need::Close { .. } => LineOf::Close,
        };
        RunTicket { number: number.0, line }
    }

    /// The caller has left.
    pub(crate) fn give_up(&mut self, ticket: RunTicket) {
        match ticket.line {
            LineOf::Open => self.opens.give_up(ticket),
            LineOf::Span => self.spans.give_up(ticket),
            // The end goes on without it.
            LineOf::Close => {}
        }
    }

    pub(crate) fn answer_opens(&mut self, answer: Answer) {
        self.opens.answer_all(self.last, answer);
    }

    pub(crate) fn answer_spans(&mut self, answer: Answer) {
        self.spans.answer_all(self.last, answer);
    }

    pub(crate) fn answer_closes(&mut self, answer: Answer) {
        self.closes.answer_all(self.last, answer);
    }

    /// The answer to a ticket; `None` if there is none yet.
    pub(crate) fn answer(&self, ticket: RunTicket) -> Option<Answer> {
        match ticket.line {
            LineOf::Open => self.opens.answer(ticket),
            LineOf::Span => self.spans.answer(ticket),
            LineOf::Close => self.closes.answer(ticket),
        }
    }

    pub(crate) fn answered(&self) -> Answered {
        let RunCallers { opens, spans, closes, .. } = self;
        Answered { opens: opens.answered.0.0, spans: spans.answered.0.0, closes: closes.answered.0.0 }
    }

    /// Whether somebody waits to open.
    pub(crate) fn opens(&self) -> bool {
        !self.opens.waiting.is_empty()
    }

    /// Whether somebody waits for a span.
    pub(crate) fn waits_for_span(&self) -> bool {
        !self.spans.waiting.is_empty()
    }

    /// The longest wait for the clock that the first opener accepts.
    pub(crate) fn longest(&self) -> Option<Duration> {
        self.opens.waiting.first().and_then(|(_, opener)| opener.longest)
    }

    /// Whether somebody waits to open, and none of them holds up an event loop, by which what it waits for may come.
    pub(crate) fn opens_beside_loops(&self) -> bool {
        self.opens() && self.opens.waiting.iter().all(|(_, opener)| opener.loops)
    }

    /// Whether an opener returns to its event loop.
    pub(crate) fn loops(&self) -> bool {
        self.opens.waiting.iter().any(|(_, opener)| opener.loops)
    }
}
