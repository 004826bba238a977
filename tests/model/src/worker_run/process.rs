//! A process: its machine, the calls that are under way, and the leases of which it was told.

use super::state::Wrong;
use leafid_core::call::{CallId, Clocks};
use leafid_core::run::{Answer, RunCall, RunCallEnd, RunNotice, RunState, RunTicket, WorkerRun};
use std::hash::{Hash, Hasher};
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Process {
    pub(super) run: WorkerRun,
    pub(super) flights: Vec<Flight>,
    pub(super) leases: Vec<ToldLease>,
    /// The last tick with an id.
    pub(super) last: Option<u64>,
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

/// What a process learns by the end of a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Told {
    Nothing,
    Claimed { worker_id: i64, from_ms: i64, until_ms: i64, token: String },
    Renewed { by: String, until_ms: i64, token: String },
    NotHeld { by: String },
}

/// A lease of which a process was told.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ToldLease {
    pub(super) worker_id: i64,
    pub(super) from_ms: i64,
    pub(super) until_ms: i64,
    /// The newest is the last.
    tokens: Vec<String>,
    /// The boot time from which on no further span is used.
    pub(super) ends: Duration,
    /// The first tick above all its ids; 0 without one.
    pub(super) first_unused: u64,
    pub(super) end: Option<LeaseEnd>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum LeaseEnd {
    Lost,
    Released,
}

impl Process {
    pub(super) fn new(run: WorkerRun) -> Process {
        let (flights, leases) = (Vec::new(), Vec::new());
        Process {
            run,
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
    pub(super) fn poll(&mut self, clocks: Clocks) -> Result<(), Wrong> {
        let before = self.run.generator().cloned();
        for _ in 0..100 {
            if let Some(notice) = self.run.next_notice(clocks) {
                if let RunNotice::Closed(_) = notice {
                    if self.closed {
                        return Err(Wrong::ClosedTwice);
                    }
                    self.closed = true;
                }
            } else if let Some((id, _, call)) = self.run.next_call(clocks) {
                self.check(&call, clocks)?;
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
                self.see_loss();
                self.wishes();
                return self.check_generator(before.as_deref());
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
            let its = self.leases.iter_mut().filter(|lease| lease.worker_id == i64::from(worker_id));
            its.filter(|lease| lease.end.is_none()).for_each(|lease| lease.end = Some(LeaseEnd::Lost));
        }
        self.is_lost = lost.is_some();
    }

    /// A generator that another one took the place of issues nothing more.
    fn check_generator(&self, before: Option<&leafid_core::Snowflake>) -> Result<(), Wrong> {
        let now = self.run.generator().map(|generator| &**generator);
        let replaced = before.filter(|before| now.is_none_or(|now| !std::ptr::eq(*before, now)));
        if replaced.is_some_and(|before| before.first_unused().is_some()) {
            return Err(Wrong::NotSealed);
        }
        let goes_on = now.and_then(|now| now.first_unused());
        if self.closed && goes_on.is_some() {
            return Err(Wrong::NotSealed);
        }
        match replaced.and(goes_on).zip(self.last) {
            Some((first, last)) if first <= last => Err(Wrong::BelowItsOwn),
            _ => Ok(()),
        }
    }

    fn check(&mut self, call: &RunCall, clocks: Clocks) -> Result<(), Wrong> {
        match call {
            RunCall::Renew(call) => {
                let token = call.request().lease.token.as_deref().unwrap_or_default();
                match self.lease(token)? {
                    lease if lease.is_newest(token) && lease.end != Some(LeaseEnd::Released) => Ok(()),
                    _ => Err(Wrong::OldToken),
                }
            }
            RunCall::Release(call) => {
                let token = call.lease().token.as_deref().unwrap_or_default();
                let lease = self.lease(token)?;
                let unused_ms = match lease.first_unused {
                    0 => lease.from_ms,
                    tick => super::state::layout().tick_start_ms(tick),
                };
                if !lease.is_newest(token) {
                    return Err(Wrong::OldToken);
                } else if lease.end.is_some() {
                    return Err(Wrong::NotItsToRelease);
                } else if call.until_ms() < unused_ms {
                    return Err(Wrong::ReleasedTooLow);
                }
                lease.end = Some(LeaseEnd::Released);
                Ok(())
            }
            _ => {
                let _ = clocks;
                Ok(())
            }
        }
    }

    fn lease(&mut self, token: &str) -> Result<&mut ToldLease, Wrong> {
        let its = |lease: &&mut ToldLease| lease.tokens.iter().any(|its| its == token);
        self.leases.iter_mut().find(its).ok_or(Wrong::OldToken)
    }

    /// The end of a call comes, which was asked for at this boot time.
    pub(super) fn learns(&mut self, told: &Told, asked: Duration, lease_ms: i64) -> Result<(), Wrong> {
        let ends = asked + Duration::from_millis(lease_ms as u64);
        match told {
            Told::Nothing => {}
            Told::Claimed { worker_id, from_ms, until_ms, token } => self.leases.push(ToldLease {
                worker_id: *worker_id,
                from_ms: *from_ms,
                until_ms: *until_ms,
                tokens: vec![token.clone()],
                ends,
                first_unused: 0,
                end: None,
            }),
            Told::Renewed { by, until_ms, token } => {
                let lease = self.lease(by)?;
                (lease.until_ms, lease.ends) = (lease.until_ms.max(*until_ms), ends);
                lease.tokens.push(token.clone());
            }
            // A renewal after this one may have made another token.
            Told::NotHeld { by } => {
                let lease = self.lease(by)?;
                if lease.end.is_none() && lease.is_newest(by) {
                    lease.end = Some(LeaseEnd::Lost);
                }
            }
        }
        Ok(())
    }
}

impl ToldLease {
    fn is_newest(&self, token: &str) -> bool {
        self.tokens.last().is_some_and(|newest| newest == token)
    }
}
