//! A process: its machine, the calls that are under way, and what was seen of it.

use super::seen::{Said, Seen, Wrong};
use super::told::Told;
use leafid_core::call::{CallId, Clocks};
use leafid_core::run::{
    Answer, Lane, ProcessLeases, RunCall, RunCallEnd, RunNotice, RunState, RunTicket, WorkerRun,
};
use leafid_core::{Layout, Snowflake};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Process {
    pub(crate) run: WorkerRun,
    shared: ProcessLeases,
    pub(crate) flights: Vec<Flight>,
    pub(crate) seen: Seen,
    /// The generator that its threads had before the machine was told something.
    shown: Number<Option<Arc<Snowflake>>>,
    /// The wish for a span that waits.
    pub(crate) span: Wish,
    /// The wish to open.
    pub(crate) opening: Number<Option<RunTicket>>,
    pub(crate) closes: bool,
    /// It closed without its server: its lease ends by itself.
    pub(crate) is_quiet: bool,
}

/// A call that is under way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Flight {
    pub(crate) id: Number<CallId>,
    pub(crate) lane: Lane,
    /// Until it has its effect.
    pub(crate) call: Option<RunCall>,
    pub(crate) end: Option<(RunCallEnd, Told)>,
    /// It ends before anything else happens.
    pub(crate) is_prompt: bool,
    /// The boot time before it.
    pub(crate) asked: Duration,
    /// Whether it ended before.
    pub(crate) again: bool,
    /// Whether nobody waits for it any more.
    pub(crate) is_abandoned: bool,
}

/// The number of a call. Two states that differ in it alone are one.
#[derive(Clone, Copy)]
pub(crate) struct Number<T>(pub(crate) T);

/// Its number makes no other state either.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish(pub(crate) Option<RunTicket>);

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

impl<T> fmt::Debug for Number<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("_")
    }
}

impl<T> PartialEq for Number<T> {
    fn eq(&self, _: &Number<T>) -> bool {
        true
    }
}

impl<T> Eq for Number<T> {}

impl<T> Hash for Number<T> {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl Process {
    pub(crate) fn new(run: WorkerRun) -> Process {
        let (shared, flights, seen) = (ProcessLeases::new(), Vec::new(), Seen::default());
        let (shown, span, opening) = (Number(None), Wish(None), Number(None));
        Process { run, shared, flights, seen, shown, span, opening, closes: false, is_quiet: false }
    }

    /// Tells the machine something. It is polled next.
    pub(crate) fn tell<T>(&mut self, something: impl FnOnce(&mut WorkerRun) -> T) -> T {
        self.shown.0 = self.run.generator().cloned();
        something(&mut self.run)
    }

    /// Polls the machine until it has nothing to say.
    pub(crate) fn poll(&mut self, clocks: Clocks, layout: Layout) -> Result<(), Wrong> {
        let shown = self.shown.0.take().or_else(|| self.run.generator().cloned());
        for said in self.seen.poll(&mut self.run, &mut self.shared, shown, clocks, layout)? {
            match said {
                Said::Call(id, lane, call) => self.flights.push(Flight {
                    id: Number(id),
                    lane,
                    call: Some(call),
                    end: None,
                    is_prompt: true,
                    asked: clocks.boot,
                    again: false,
                    is_abandoned: false,
                }),
                Said::Notice(RunNotice::Abandon(id)) => {
                    let its = self.flights.iter_mut().filter(|flight| flight.id.0 == id);
                    its.for_each(|flight| flight.is_abandoned = true);
                }
                Said::Notice(_) => {}
            }
        }
        self.wishes();
        Ok(())
    }

    /// The source has just said that its lease is lost: a clone may have the same span.
    pub(crate) fn is_sealed_if_lost(&self) -> Result<(), Wrong> {
        let is_lost = matches!(self.run.state(), RunState::Held { lost: true, .. });
        match self.run.generator().and_then(|generator| generator.first_unused()) {
            Some(_) if is_lost => Err(Wrong::NotSealed),
            _ => Ok(()),
        }
    }

    /// Whether a wish for a span waits.
    pub(crate) fn wishes(&mut self) -> bool {
        let waits = |ticket: &RunTicket| matches!(self.run.answer(*ticket), Answer::Pending(_));
        (self.span.0, self.opening.0) = (self.span.0.filter(waits), self.opening.0.filter(waits));
        self.span.0.is_some()
    }
}
