//! The carrying out of calls, and of what an operator does.

use super::caches::is_of_cache;
use super::disk::{Written, broken};
use super::lease_server::LeaseServer;
use super::process::Process;
use super::seen::Wrong;
use super::setting::Ids;
use super::sources::{answer_another, is_of_source, serve, unanswered};
use super::state::State;
use super::told::Told;
use leafid_core::call::{FileAction, FileAdvice};
use leafid_core::format::state::Writer;
use leafid_core::run::record_open::RecordOpen;
use leafid_core::run::{Claimed, RunCall, RunCallEnd};
use leafid_core::{Code, Error};

/// The end of a call that failed before its effect; `None` for one that cannot fail.
pub(crate) fn failed(call: RunCall, random: u128) -> Option<RunCallEnd> {
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
pub(crate) fn another_s(server: &LeaseServer, call: RunCall, random: u128) -> Option<RunCallEnd> {
    match call {
        RunCall::Http(call) => answer_another(server, *call, random),
        _ => None,
    }
}

impl State {
    /// No two calls have the same.
    pub(crate) fn random(&self, who: usize, at: usize) -> Option<u128> {
        let id = self.processes[who].as_ref()?.flights.get(at)?.id.0.0;
        let number = u128::from(self.starts) << 96 | (who as u128) << 80 | u128::from(id) << 1;
        Some(number | u128::from(self.setting.gives_more))
    }

    /// The call has its effect. `fails`: its end says that it has none. `None`: it had it before, or cannot fail so.
    pub(crate) fn takes_effect(
        &mut self,
        who: usize,
        at: usize,
        written: Written,
        fails: bool,
    ) -> Option<()> {
        let random = self.random(who, at)?;
        let (clocks, host) = (self.clocks(who), self.host_of(who));
        if !self.is_free(who, at) {
            self.leaves_lease(who, at);
        }
        let flight = self.processes[who].as_mut()?.flights.get_mut(at)?;
        let call = flight.call.take()?;
        let end = match call {
            RunCall::Http(call) if self.cut_off[host] => {
                (unanswered(RunCall::Http(call), random), Told::Nothing)
            }
            RunCall::Claim(call) if self.setting.ids == Ids::Function => {
                (call.end(Ok(Some(Claimed::Id(0)))), Told::Nothing)
            }
            call if is_of_cache(&call) => {
                self.caches[host].use_file(call, clocks, clocks.wall_ms, written, fails)
            }
            call if is_of_source(&call) => {
                let now_ms = self.server_ms();
                serve(&mut self.server, call, fails, now_ms, random)
            }
            RunCall::WriteRecord(write) => {
                let end = self.host(who).write(who, *write, (written, fails));
                let end = end.map_err(|wrong| self.check(Err(wrong))).ok()?;
                (end, Told::Nothing)
            }
            _ if fails => return None,
            call => {
                let (end, found) = self.host(who).carry_out(who, call);
                self.check(found);
                (end, Told::Nothing)
            }
        };
        self.processes[who].as_mut()?.flights[at].end = Some(end);
        Some(())
    }

    /// Whether the worker id that a call is to lock is free.
    fn is_free(&self, who: usize, at: usize) -> bool {
        let flight = self.processes[who].as_ref().and_then(|its| its.flights.get(at));
        let disk = &self.hosts[self.host_of(who)];
        !matches!(flight.and_then(|its| its.call.as_ref()), Some(RunCall::LockHost(lock)) if disk.holder(lock.worker_id()).is_some())
    }

    /// A lease of a server's is left to end where its worker id cannot be locked on this host.
    pub(crate) fn leaves_lease(&mut self, who: usize, at: usize) {
        let caches = self.setting.caches();
        let process = self.processes[who].as_mut().filter(|_| caches);
        let Some(Process { flights, seen, .. }) = process else { return };
        if let Some(RunCall::LockHost(lock)) = flights.get(at).and_then(|its| its.call.as_ref()) {
            seen.leases.may_end(lock.worker_id());
        }
    }

    /// The end of a call is reported. It has its effect now, if it had none.
    pub(crate) fn ends(&mut self, who: usize, at: usize) -> Option<()> {
        self.takes_effect(who, at, Written::Whole, false);
        let clocks = self.clocks(who);
        let process = self.processes[who].as_mut()?;
        if at >= process.flights.len() {
            return None;
        }
        let flight = process.flights.remove(at);
        let (end, told) = flight.end?;
        let lease_ms = self.server.lease_ms();
        self.cached += u32::from(matches!(told, Told::Cached(..)));
        let found =
            if flight.again { Ok(()) } else { process.seen.leases.learn(&told, flight.asked, lease_ms) };
        process.tell(|run| run.done(flight.id.0, end, clocks));
        let is_told = matches!(told, Told::NotHeld { .. }) && !flight.again && !flight.is_abandoned;
        let sealed = if is_told { process.is_sealed_if_lost() } else { Ok(()) };
        self.check(found.map_err(Wrong::Lease).and(sealed));
        self.poll(who);
        Some(())
    }

    /// The process is gone. Of a write that was under way there is nothing, half or all.
    pub(crate) fn kill(&mut self, who: usize, written: Written) -> Option<()> {
        let (clocks, host) = (self.clocks(who), self.host_of(who));
        let process = self.processes[who].take()?;
        let is_write = |call: &RunCall| matches!(call, RunCall::WriteRecord(_)) || is_of_cache(call);
        let write = process.flights.into_iter().find_map(|flight| flight.call.filter(is_write));
        match (write, written) {
            (None, Written::Nothing) => {}
            (None, _) => return None,
            (Some(RunCall::WriteRecord(write)), _) => {
                let end = self.host(who).write(who, *write, (written, true));
                self.check(end.map(drop));
            }
            (Some(call), _) => {
                self.caches[host].use_file(call, clocks, clocks.wall_ms, written, true);
            }
        }
        self.host(who).drop_process(who);
        Some(())
    }

    /// As `worker/reset.rs`.
    pub(crate) fn reset(&mut self, who: usize, worker_id: u32, written: Written) -> Option<()> {
        let (setting, now_ms) = (self.setting, self.clocks(who).wall_ms);
        let open = RecordOpen::new("n", worker_id, setting.layout(), FileAdvice::StateDir).of_any_values();
        let slots = self.hosts[0].files.get(&worker_id)?.slots();
        if slots.newest.record.check().is_err() {
            self.check(Err(Wrong::OwnRecordRefused));
        }
        let found = open.read_slots(slots.clone(), "r").into_result().ok()??;
        let (mut record, _) = found.into_file(&setting.rules, now_ms);
        let mut write = record.reset(now_ms, Writer::default()).ok()??;
        write.check_slots(Some(&slots)).ok()?;
        let (slot, stored) = (write.slot(), write.record(0).clone());
        let file = self.hosts[0].files.get_mut(&worker_id)?;
        file.write(slot, stored, written);
        if written == Written::Whole {
            file.synced(slot);
        }
        Some(())
    }
}
