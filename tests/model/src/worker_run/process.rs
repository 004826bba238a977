//! A process: its machine, the calls that are under way, and the leases that it was given.

use super::sources::{LeaseUse, lease_use};
use super::state::Wrong;
use super::told::{Leases, Told};
use leafid_core::call::{CallId, Clocks};
use leafid_core::run::{
    Answer, ProcessLeases, RunCall, RunCallEnd, RunNotice, RunState, RunTicket, WorkerRun,
};
use leafid_core::{Layout, Snowflake};
use std::hash::{Hash, Hasher};
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Process {
    pub(super) run: WorkerRun,
    shared: ProcessLeases,
    pub(super) flights: Vec<Flight>,
    pub(super) leases: Leases,
    /// Its last id.
    pub(super) last: Option<i64>,
    /// The wish for a span that waits.
    pub(super) span: Wish,
    /// Whether its lease is lost, and no other one is held yet.
    is_lost: bool,
    pub(super) closes: bool,
    pub(super) closed: bool,
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
        let (flights, leases) = Default::default();
        Process {
            run,
            shared: ProcessLeases::new(),
            flights,
            leases,
            last: None,
            span: Wish(None),
            is_lost: false,
            closes: false,
            closed: false,
        }
    }

    /// Polls the machine until it has nothing to say.
    pub(super) fn poll(&mut self, clocks: Clocks, layout: Layout) -> Result<(), Wrong> {
        let before = self.run.generator().cloned();
        for _ in 0..100 {
            if let Some(notice) = self.run.next_notice(clocks) {
                match notice {
                    RunNotice::Closed(_) if self.closed => return Err(Wrong::ClosedTwice),
                    RunNotice::Closed(_) => self.closed = true,
                    RunNotice::Log(_, text) => self.leases.leave(&text),
                    _ => {}
                }
            } else if let Some((id, _, call)) = self.run.next_call(clocks, &mut self.shared) {
                self.check(&call, layout)?;
                let (call, asked) = (Some(call), clocks.boot);
                self.flights.push(Flight {
                    id: Number(id),
                    call,
                    end: None,
                    is_prompt: true,
                    asked,
                    again: false,
                });
            } else if self.run.next_time().is_none_or(|due| due > clocks.boot) {
                let call = self.run.next_call(clocks, &mut self.shared);
                if call.is_some() || self.run.next_notice(clocks).is_some() {
                    return Err(Wrong::SleepsOver);
                }
                self.see_loss();
                self.wishes();
                return self.check_generator(before.as_deref(), layout);
            }
        }
        Err(Wrong::Busy)
    }

    /// Whether a wish for a span waits.
    pub(super) fn wishes(&mut self) -> bool {
        self.span.0 = self.span.0.filter(|ticket| matches!(self.run.answer(*ticket), Answer::Pending(_)));
        self.span.0.is_some()
    }

    /// When it claims another worker id, because the lease is lost or over, another may have it by now.
    fn see_loss(&mut self) {
        let lost = match self.run.state() {
            RunState::Held { worker_id, lost: true } => Some(worker_id),
            _ => None,
        };
        if let Some(worker_id) = lost.filter(|_| !self.is_lost) {
            self.leases.give_up(worker_id);
        }
        self.is_lost = lost.is_some();
    }

    /// A generator that another one took the place of issues nothing more.
    fn check_generator(&self, before: Option<&Snowflake>, layout: Layout) -> Result<(), Wrong> {
        let now = self.run.generator().map(|generator| &**generator);
        let replaced = before.filter(|before| now.is_none_or(|now| !std::ptr::eq(*before, now)));
        if replaced.is_some_and(|before| before.first_unused().is_some()) {
            return Err(Wrong::NotSealed);
        }
        let goes_on = now.and_then(|now| now.first_unused());
        if self.closed && goes_on.is_some() {
            return Err(Wrong::NotSealed);
        }
        let tick = |id| layout.tick_at(layout.decode(id).expect("its own").timestamp_ms).unwrap_or(0);
        match replaced.and(goes_on).zip(self.last.map(tick)) {
            Some((first, last)) if first <= last => Err(Wrong::BelowItsOwn),
            _ => Ok(()),
        }
    }

    fn check(&mut self, call: &RunCall, layout: Layout) -> Result<(), Wrong> {
        let used = match lease_use(call) {
            None => Ok(()),
            Some(LeaseUse::Renewal { token }) => self.leases.renew(&token),
            Some(LeaseUse::Release { token, until_ms }) => self.leases.release(&token, until_ms, layout),
        };
        used.map_err(Wrong::Lease)
    }
}
