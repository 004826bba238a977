//! The carrying out of calls, and what happens in a world without faults.

use super::sources::{is_of_source, serve, unanswered};
use super::state::{Left, SOON_MS, State, TICK_MS, Wrong, layout};
use super::told::Told;
use leafid_core::call::{FileAction, IoFailure};
use leafid_core::run::{Holder, RunCall, RunCallEnd};
use leafid_core::{Code, Error};
use std::time::Duration;

fn broken() -> IoFailure {
    IoFailure::other("broken")
}

/// The end of a call that failed before its effect; `None` for one that cannot fail.
pub(super) fn failed(call: RunCall, random: u128) -> Option<RunCallEnd> {
    Some(match call {
        call if is_of_source(&call) => unanswered(call, random),
        RunCall::LockHost(call) => call.failed(Error::new(Code::StateIo, "broken")),
        RunCall::PeekRecord(call) => call.failed("r", &broken()).into(),
        RunCall::OpenRecord(call) => call.failed(FileAction::Open, "r", &broken()).into(),
        RunCall::WriteRecord(write) => write.failed(FileAction::Write, &broken()).into(),
        _ => return None,
    })
}

impl State {
    /// No two calls have the same.
    pub(super) fn random(&self, who: usize, at: usize) -> Option<u128> {
        let id = self.processes[who].as_ref()?.flights.get(at)?.id.0.0;
        Some(u128::from(self.starts) << 96 | (who as u128) << 80 | u128::from(id) << 1)
    }

    /// The call has its effect. `fails`: its end says that it has none. `None`: it had it before, or cannot fail so.
    pub(super) fn takes_effect(&mut self, who: usize, at: usize, left: Left, fails: bool) -> Option<()> {
        let random = self.random(who, at)?;
        let flight = self.processes[who].as_mut()?.flights.get_mut(at)?;
        let call = flight.call.take()?;
        let end = match call {
            call if is_of_source(&call) => {
                let now_ms = self.server_ms();
                serve(&mut self.server, call, fails, now_ms, random)
            }
            RunCall::WriteRecord(mut write) => {
                let Some(file) = self.host.locked(who) else {
                    self.wrong = Some(Wrong::Locks);
                    return None;
                };
                let end = match write.check_slots(Some(&file.slots())) {
                    Err(error) => write.end(Err(error)),
                    Ok(()) => {
                        let owner = u128::from(file.largest_number()) + 1;
                        let (slot, stored) = (write.slot(), write.record(owner).clone());
                        file.write(slot, (left == Left::Whole).then_some(stored));
                        if fails {
                            write.failed(FileAction::Write, &broken())
                        } else {
                            file.kept = slot;
                            write.end(Ok(()))
                        }
                    }
                };
                (end.into(), Told::Nothing)
            }
            _ if fails => return None,
            call => (self.use_disk(who, call)?, Told::Nothing),
        };
        self.processes[who].as_mut()?.flights[at].end = Some(end);
        Some(())
    }

    fn use_disk(&mut self, who: usize, call: RunCall) -> Option<RunCallEnd> {
        let host = &mut self.host;
        let mut rule = Some(());
        let end = match call {
            RunCall::LockHost(call) => {
                if host.lock(call.worker_id(), who) {
                    call.taken()
                } else {
                    call.held()
                }
            }
            RunCall::UnlockHost(call) => {
                rule = host.unlock(who);
                call.end()
            }
            RunCall::Holder(call) => {
                let by = host.holder(call.worker_id()).map(|_| "process".into());
                call.end(Holder { by, ..Holder::default() })
            }
            RunCall::Names(call) => call.end(Vec::new()),
            RunCall::ListRecords(call) => {
                let names: Vec<String> = host.files.keys().map(|id| format!("worker-{id}.state")).collect();
                call.end(names.iter().map(String::as_str))
            }
            RunCall::PeekRecord(call) => match host.files.get(&call.worker_id()) {
                None => call.missing().into(),
                Some(file) => call.read_slots(file.slots(), "r").into(),
            },
            RunCall::OpenRecord(call) => {
                let worker_id = call.worker_id();
                let opened = host.open(worker_id, who, &call.initial().ok()?);
                rule = opened.map(|_| ());
                match opened {
                    Some(true) => call.read_slots(host.files[&worker_id].slots(), "r").into(),
                    _ => call.held().into(),
                }
            }
            RunCall::CloseRecord(call) => {
                rule = host.close(who);
                call.end()
            }
            call => unreachable!("{call:?} is not of the disk"),
        };
        if rule.is_none() {
            self.check(Err(Wrong::Locks));
        }
        Some(end)
    }

    /// The end of a call is reported. It has its effect now, if it had none.
    pub(super) fn ends(&mut self, who: usize, at: usize) -> Option<()> {
        self.takes_effect(who, at, Left::Whole, false);
        let clocks = self.clocks();
        let process = self.processes[who].as_mut()?;
        if at >= process.flights.len() {
            return None;
        }
        let flight = process.flights.remove(at);
        let (end, told) = flight.end?;
        let lease_ms = self.server.lease_ms();
        let found = if flight.again { Ok(()) } else { process.leases.learn(&told, flight.asked, lease_ms) };
        process.run.done(flight.id.0, end, clocks);
        self.check(found.map_err(Wrong::Lease));
        self.poll(who);
        Some(())
    }

    /// The process is gone. Of a write that was under way there is nothing, half or all.
    pub(super) fn kill(&mut self, who: usize, left: Left) -> Option<()> {
        let process = self.processes[who].take()?;
        let write = process.flights.into_iter().find_map(|flight| match flight.call {
            Some(RunCall::WriteRecord(write)) => Some(write),
            _ => None,
        });
        match (write, left) {
            (None, Left::Nothing) => {}
            (None, _) => return None,
            (Some(mut write), _) => {
                let file = self.host.locked(who)?;
                if left != Left::Nothing && write.check_slots(Some(&file.slots())).is_ok() {
                    let owner = u128::from(file.largest_number()) + 1;
                    let (slot, stored) = (write.slot(), write.record(owner).clone());
                    file.write(slot, (left == Left::Whole).then_some(stored));
                }
            }
        }
        self.host.drop_process(who);
        Some(())
    }

    /// What a write would do, when it is asked for.
    pub(super) fn check_write(&mut self, who: usize, call: &RunCall, boot: Duration) -> Result<(), Wrong> {
        let RunCall::WriteRecord(write) = call else { return Ok(()) };
        let mut write = write.clone();
        let file = self.host.locked(who).ok_or(Wrong::Locks)?;
        let (slots, stored) = (file.slots(), write.record(u128::MAX).clone());
        let (before, after) = (&slots.newest.record, &stored.record);
        if write.slot() == file.kept {
            return Err(Wrong::OverTheNewest);
        } else if stored.number <= file.largest_number() {
            return Err(Wrong::OldNumber);
        } else if after.owner != before.owner && after.run.from < before.run.until {
            return Err(Wrong::IssuedTwice);
        }
        let extends = after.owner == before.owner && after.run.until > before.run.until;
        let Some(process) = self.processes[who].as_ref().filter(|_| extends) else { return Ok(()) };
        process.leases.extend(after.worker_id, after.run.until, boot, layout()).map_err(Wrong::Lease)
    }

    /// What happens without further faults: whether ids come, and all is given back at the end.
    pub(super) fn goes_on(&self) -> bool {
        let is_prompt =
            self.processes.iter().flatten().any(|its| its.flights.iter().any(|call| call.is_prompt));
        is_prompt || self.wrong().is_some() || self.clone().is_well()
    }

    fn is_well(&mut self) -> bool {
        self.end_all();
        if self.processes.iter().flatten().all(|its| its.closes) {
            let free = self.processes.iter().position(Option::is_none);
            free.into_iter().for_each(|who| self.open(who));
        }
        let wants: Vec<usize> =
            (0..2).filter(|who| self.processes[*who].as_ref().is_some_and(|its| !its.closes)).collect();
        let last = |state: &State, who: usize| state.processes[who].as_ref().and_then(|its| its.last);
        let before = [last(self, 0), last(self, 1)];
        let issue = self.within_time(|state| {
            for who in &wants {
                let _ = state.next_id(*who);
            }
            let has = |who: &usize| last(state, *who) > before[*who];
            // Two processes that want one id are not both served.
            if state.ids.leased() < 2 {
                wants.is_empty() || wants.iter().any(has)
            } else {
                wants.iter().all(has)
            }
        });
        for who in 0..2 {
            let _ = self.close(who);
        }
        issue && self.within_time(|state| state.processes.iter().all(Option::is_none))
    }

    fn within_time(&mut self, mut is_done: impl FnMut(&mut State) -> bool) -> bool {
        let end_ms = self.passed_ms + SOON_MS;
        loop {
            let done = is_done(self);
            self.end_all();
            if done || self.wrong().is_some() || self.passed_ms >= end_ms {
                return done && self.wrong().is_none();
            }
            let boot = self.clocks().boot;
            let next = self.processes.iter().flatten().filter_map(|its| its.run.next_time()).min();
            let wait_ms = next.map_or(TICK_MS, |next| next.saturating_sub(boot).as_millis() as i64);
            self.passed_ms += wait_ms.clamp(1, 250);
            (0..2).for_each(|who| self.poll(who));
        }
    }

    /// All calls end well.
    fn end_all(&mut self) {
        for _ in 0..100 {
            let first =
                (0..2).find(|who| self.processes[*who].as_ref().is_some_and(|its| !its.flights.is_empty()));
            match first {
                Some(who) => {
                    let _ = self.ends(who, 0);
                }
                None => return,
            }
        }
        self.check(Err(Wrong::Busy));
    }
}
