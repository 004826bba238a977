//! The carrying out of calls, and of what an operator does.

use super::events::Left;
use super::lease_server::LeaseServer;
use super::sources::{answer_another, is_of_source, serve, unanswered};
use super::state::{State, Wrong};
use super::told::Told;
use leafid_core::call::{FileAction, FileAdvice, IoFailure};
use leafid_core::format::state::Writer;
use leafid_core::run::record_open::RecordOpen;
use leafid_core::run::{Holder, RunCall, RunCallEnd};
use leafid_core::{Code, Error};
use std::time::Duration;

/// A clock that leaps so far ahead ends a run, or a reset would skip the ticks in between.
const LEAP_MS: i64 = 60_000;

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

/// The end of a call to a server that answers somebody else; `None` for another call.
pub(super) fn another_s(server: &LeaseServer, call: RunCall, random: u128) -> Option<RunCallEnd> {
    match call {
        RunCall::Http(call) => answer_another(server, *call, random),
        _ => None,
    }
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
                let Some(file) = self.host(who).locked(who) else {
                    self.wrong = Some(Wrong::Locks);
                    return None;
                };
                let end = match write.check_slots(Some(&file.slots())) {
                    Err(error) => write.end(Err(error)),
                    Ok(()) => {
                        let owner = u128::from(file.largest_number()) + 1;
                        let (slot, stored) = (write.slot(), write.record(owner).clone());
                        file.write(slot, stored, left);
                        if fails {
                            write.failed(FileAction::Write, &broken())
                        } else {
                            file.synced(slot);
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
        let host = self.host(who);
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
                let slots = host.files[&worker_id].slots();
                if slots.newest.record.check().is_err() {
                    self.check(Err(Wrong::OwnRecordRefused));
                }
                match opened {
                    Some(true) => call.read_slots(slots, "r").into(),
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
        let clocks = self.clocks(who);
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
                let file = self.host(who).locked(who)?;
                if left != Left::Nothing && write.check_slots(Some(&file.slots())).is_ok() {
                    let owner = u128::from(file.largest_number()) + 1;
                    let (slot, stored) = (write.slot(), write.record(owner).clone());
                    file.write(slot, stored, left);
                }
            }
        }
        self.host(who).drop_process(who);
        Some(())
    }

    /// What a write would do, when it is asked for.
    pub(super) fn check_write(&mut self, who: usize, call: &RunCall, boot: Duration) -> Result<(), Wrong> {
        let RunCall::WriteRecord(write) = call else { return Ok(()) };
        let mut write = write.clone();
        let file = self.host(who).locked(who).ok_or(Wrong::Locks)?;
        let (slots, stored) = (file.slots(), write.record(u128::MAX).clone());
        let (before, after) = (&slots.newest.record, &stored.record);
        if write.slot() == file.kept {
            return Err(Wrong::OverTheNewest);
        } else if stored.number <= file.largest_number() {
            return Err(Wrong::OldNumber);
        } else if after.owner != before.owner && after.run.from < before.run.until {
            return Err(Wrong::IssuedTwice);
        }
        let (layout, now_ms) = (self.setting.layout(), self.clocks(who).wall_ms);
        let extends = after.owner == before.owner && after.run.until > before.run.until;
        let gap = layout.tick_at(now_ms).unwrap_or(0).saturating_sub(before.run.until);
        let gap_ms = gap as i64 * layout.tick_ms();
        if extends && !before.run.is_empty() && gap_ms >= LEAP_MS && after.run.from == before.run.from {
            return Err(Wrong::OneRun);
        }
        let Some(process) = self.processes[who].as_ref().filter(|_| extends) else { return Ok(()) };
        process.leases.extend(after.worker_id, after.run.until, boot, layout).map_err(Wrong::Lease)
    }

    /// As `worker/reset.rs`.
    pub(super) fn reset(&mut self, who: usize, left: Left) -> Option<()> {
        let (setting, now_ms) = (self.setting, self.clocks(who).wall_ms);
        let open = RecordOpen::new("n", 0, setting.layout(), FileAdvice::StateDir).of_any_values();
        let slots = self.hosts[0].files.get(&0)?.slots();
        if slots.newest.record.check().is_err() {
            self.check(Err(Wrong::OwnRecordRefused));
        }
        let found = open.read_slots(slots.clone(), "r").into_result().ok()??;
        let (mut record, _) = found.into_file(&setting.rules, now_ms);
        let mut write = record.reset(now_ms, Writer::default()).ok()??;
        write.check_slots(Some(&slots)).ok()?;
        let (slot, stored) = (write.slot(), write.record(0).clone());
        let file = self.hosts[0].files.get_mut(&0)?;
        file.write(slot, stored, left);
        if left == Left::Whole {
            file.synced(slot);
        }
        Some(())
    }
}
