//! A process: its machine, the calls that are under way, and what was seen of it.

use super::seen::{Said, Seen, Wrong};
use super::told::Told;
use leafid_core::Layout;
use leafid_core::call::{CallId, Clocks};
use leafid_core::run::{Answer, ProcessLeases, RunCall, RunCallEnd, RunTicket, WorkerRun};
use std::hash::{Hash, Hasher};
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Process {
    pub(super) run: WorkerRun,
    shared: ProcessLeases,
    pub(super) flights: Vec<Flight>,
    pub(super) seen: Seen,
    /// The wish for a span that waits.
    pub(super) span: Wish,
    pub(super) closes: bool,
}

/// A call that is under way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Flight {
    pub(super) id: Number,
    /// Until it has its effect.
    pub(super) call: Option<RunCall>,
    pub(super) end: Option<(RunCallEnd, Told)>,
    /// It ends before anything else happens.
    pub(super) is_prompt: bool,
    /// The boot time before it.
    pub(super) asked: Duration,
    /// Whether it ended before.
    pub(super) again: bool,
}

/// The number of a call. Two states that differ in it alone are one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number(pub(super) CallId);

/// Its number makes no other state either.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish(pub(super) Option<RunTicket>);

impl PartialEq for Wish {
    fn eq(&self, other: &Wish) -> bool {
        self.0.is_some() == other.0.is_some()
    }
}

impl Eq for Wish {}

impl Hash for Wish {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.is_some().hash(state);
    }
}

impl PartialEq for Number {
    fn eq(&self, _: &Number) -> bool {
        true
    }
}

impl Eq for Number {}

impl Hash for Number {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl Process {
    pub(super) fn new(run: WorkerRun) -> Process {
        let (shared, flights, seen) = (ProcessLeases::new(), Vec::new(), Seen::default());
        Process { run, shared, flights, seen, span: Wish(None), closes: false }
    }

    /// Polls the machine until it has nothing to say.
    pub(super) fn poll(&mut self, clocks: Clocks, layout: Layout) -> Result<(), Wrong> {
        let shown = self.run.generator().cloned();
        for said in self.seen.poll(&mut self.run, &mut self.shared, shown, clocks, layout)? {
            if let Said::Call(id, _, call) = said {
                let (id, call, asked) = (Number(id), Some(call), clocks.boot);
                self.flights.push(Flight { id, call, end: None, is_prompt: true, asked, again: false });
            }
        }
        self.wishes();
        Ok(())
    }

    /// Whether a wish for a span waits.
    pub(super) fn wishes(&mut self) -> bool {
        self.span.0 = self.span.0.filter(|ticket| matches!(self.run.answer(*ticket), Answer::Pending(_)));
        self.span.0.is_some()
    }
}
