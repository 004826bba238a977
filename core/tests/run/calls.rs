//! The carrying out of calls: as a host does it, but for the plan of each.

use super::caches::is_of_cache;
use super::disk::{Pid, Written, broken};
use super::plan::Plan;
use super::seen::Wrong;
use super::sources::{is_of_source, serve, unanswered};
use super::told::Told;
use super::world::{LEASE_MS, Workers, World};
use leafid_core::call::{CallId, Clocks};
use leafid_core::run::{Claimed, Lane, RunCall, RunCallEnd, RunState, SourceFailure};
use leafid_core::{Code, Error};

/// A call that is under way.
pub(crate) struct Flight {
    pub(crate) pid: Pid,
    host: usize,
    id: CallId,
    pub(crate) lane: Lane,
    asked: Clocks,
    /// As long as it had no effect.
    pub(crate) call: Option<RunCall>,
    /// Its end, once it is known.
    end: Option<(RunCallEnd, Told)>,
    plan: Plan,
    effect_at: Option<u64>,
    pub(crate) end_at: Option<u64>,
    /// Whether it ended before.
    again: bool,
    /// Whether no caller waits for it any more.
    abandoned: bool,
}

impl Flight {
    /// When something of it happens next.
    pub(crate) fn next(&self) -> Option<u64> {
        let effect = self.effect_at.filter(|_| self.call.is_some());
        effect.into_iter().chain(self.end_at).min()
    }

    /// The world has turned kind: what never ended ends soon, if it is the disk's.
    pub(crate) fn ends_well(&mut self, now: u64) {
        let soon = now + 50;
        if self.lane == Lane::Disk || self.lane == Lane::Cache || self.end_at.is_some() {
            self.end_at = Some(self.end_at.map_or(soon, |at| at.min(soon)));
            if self.call.is_some() && !self.plan.fails {
                self.effect_at = Some(self.effect_at.map_or(soon, |at| at.min(soon)));
            }
        }
    }
}

impl World {
    /// A machine asks for a call.
    pub(crate) fn start(&mut self, pid: Pid, id: CallId, lane: Lane, call: RunCall) {
        let goes_well = self.kind || self.processes[&pid].well_until > self.now;
        let mut plan = if goes_well { Plan::well(&mut self.random) } else { Plan::any(&mut self.random) };
        let asked = self.clocks(pid);
        self.tell(|| format!("{pid} asks {id:?} {}: {plan:?}", name_of(&call)));
        if let RunCall::WriteRecord(write) = &call {
            let now_ms = self.filtered_ms(pid);
            let (process, layout) = (&self.processes[&pid], self.layout);
            let file = self.hosts[process.host].disk.held(pid);
            process.keeps(pid, process.seen.writes(write, file, now_ms, asked.boot, layout));
        }
        if lane == Lane::Disk {
            let busy =
                self.flights.iter().any(|flight| flight.pid == pid && flight.lane == lane && !flight.again);
            assert!(!busy, "process {pid} has two calls on the lane of the disk");
        }
        match call {
            // The host leaves nothing locked after a failure.
            RunCall::LockHost(_) | RunCall::OpenRecord(_) if plan.fails => plan.effect_in = None,
            RunCall::UnlockHost(_)
            | RunCall::CloseRecord(_)
            | RunCall::Holder(_)
            | RunCall::Names(_)
            | RunCall::ListLeaseCaches(_)
            | RunCall::ListRecords(_) => {
                plan.fails = false;
                plan.effect_in = plan.effect_in.or(plan.end_in);
            }
            _ => {}
        }
        let at = |within: Option<u64>| within.map(|ms| self.now + ms);
        let (effect_at, end_at) = (at(plan.effect_in), at(plan.end_in));
        let host = self.processes[&pid].host;
        let flight = Flight {
            pid,
            host,
            id,
            lane,
            asked,
            call: Some(call),
            end: None,
            plan,
            effect_at,
            end_at,
            again: false,
            abandoned: false,
        };
        self.flights.push(flight);
    }

    /// All effects and ends that are due.
    pub(crate) fn fly(&mut self) {
        // An end makes new calls, at the end of the list.
        let mut at = 0;
        while at < self.flights.len() {
            let flight = &self.flights[at];
            if flight.call.is_some() && flight.effect_at.is_some_and(|due| due <= self.now) {
                self.take_effect(at);
            }
            let flight = &mut self.flights[at];
            let Some(due) = flight.end_at.filter(|due| *due <= self.now) else {
                at += 1;
                continue;
            };
            let pid = flight.pid;
            let stopped = self.processes.get(&pid).map_or(due, |process| process.stopped_until);
            if stopped > self.now {
                flight.end_at = Some(stopped);
                at += 1;
                continue;
            }
            let flight = self.flights.remove(at);
            self.finish(flight);
        }
    }

    /// The call at this place does what it was asked to do.
    fn take_effect(&mut self, at: usize) {
        let Flight { pid, host, plan, .. } = &self.flights[at];
        let (pid, host, plan) = (*pid, *host, *plan);
        let Some(call) = self.flights[at].call.take() else { return };
        let lives = self.processes.contains_key(&pid);
        let random = self.random_number();
        let end = match call {
            // A request that is on its way arrives, also from a process that is gone.
            RunCall::Http(call) if self.hosts[host].reaches_from[call.server] > self.now => {
                (unanswered(RunCall::Http(call), random), Told::Nothing)
            }
            RunCall::Claim(call) if self.workers == Workers::Callback => {
                let worker_id = self.callback_id(pid);
                (call.end(Ok(Some(Claimed::Id(worker_id)))), Told::Nothing)
            }
            call if is_of_source(&call) => {
                let now_ms = self.server_ms();
                serve(&mut self.server, call, plan.fails, now_ms, random)
            }
            call if lives && is_of_cache(&call) => self.use_cache(pid, call, &plan),
            call if lives => (self.use_disk(pid, call, &plan), Told::Nothing),
            _ => return,
        };
        self.flights[at].end = Some(end);
    }

    fn use_cache(&mut self, pid: Pid, call: RunCall, plan: &Plan) -> (RunCallEnd, Told) {
        let now_ms = self.filtered_ms(pid);
        let host = &mut self.hosts[self.processes[&pid].host];
        let written = if plan.torn { Written::Half } else { Written::Whole };
        host.caches.use_file(call, host.clocks(self.now), now_ms, written, plan.fails)
    }

    fn use_disk(&mut self, pid: Pid, call: RunCall, plan: &Plan) -> RunCallEnd {
        let random = u128::from(self.random.next());
        let process = self.processes.get_mut(&pid).expect("it lives");
        let disk = &mut self.hosts[process.host].disk;
        let (end, found) = match call {
            RunCall::PeekRecord(call) if plan.fails => (call.failed("the record", &broken()).into(), Ok(())),
            RunCall::WriteRecord(write) => {
                let torn = plan.torn && self.torn_left > 0;
                self.torn_left -= u32::from(torn);
                let written = if torn { Written::Half } else { Written::Whole };
                return disk.write(pid, *write, Some(random), (written, plan.fails)).expect("it is locked");
            }
            call => {
                // Where its server has leased it to this host, it is left to end.
                if let (RunCall::LockHost(lock), Workers::Servers) = (&call, self.workers)
                    && disk.holder(lock.worker_id()).is_some()
                {
                    process.seen.leases.may_end(lock.worker_id());
                }
                disk.carry_out(pid, call)
            }
        };
        process.keeps(pid, found);
        end
    }

    /// A call that fails without an effect.
    fn failed(call: RunCall, random: u128) -> RunCallEnd {
        match is_of_source(&call) {
            true => unanswered(call, random),
            false => call.refused(SourceFailure::Coded(Error::new(Code::StateIo, "the disk is broken"))),
        }
    }

    /// The end of a call is reported.
    fn finish(&mut self, mut flight: Flight) {
        let (pid, id, clocks) = (flight.pid, flight.id, flight.asked);
        if !self.processes.contains_key(&pid) {
            return;
        }
        let (end, told) = match (flight.end.take(), flight.call.take()) {
            (Some(end), _) => end,
            (None, Some(call)) => (World::failed(call, self.random_number()), Told::Nothing),
            (None, None) => return,
        };
        self.tell(|| format!("{pid} gets {id:?}: {told:?}"));
        // A renewal in whose place another one came says nothing.
        let says_nothing = matches!(told, Told::NotHeld { .. }) && flight.abandoned && self.holds(pid);
        if !flight.again && !says_nothing {
            self.judge.cached += u64::from(matches!(told, Told::Cached(..)));
            let process = self.processes.get_mut(&pid).expect("it is there");
            let found = process.seen.leases.learn(&told, clocks.boot, LEASE_MS).map_err(Wrong::Lease);
            process.keeps(pid, found);
        }
        let now = self.clocks(pid);
        let process = self.processes.get_mut(&pid).expect("it is there");
        process.run.done(id, end.clone(), now);
        if flight.plan.twice && !flight.again {
            let end_at = Some(self.now + self.random.below(3_000));
            self.flights.push(Flight { again: true, end: Some((end, told)), end_at, ..flight });
        }
        self.drive(pid);
    }

    fn holds(&self, pid: Pid) -> bool {
        matches!(self.processes[&pid].run.state(), RunState::Held { lost: false, .. })
    }

    /// This call is not needed any more. Some hosts can stop it.
    pub(crate) fn abandon(&mut self, pid: Pid, id: CallId) {
        let (now, stops) = (self.now, self.random.below(2) == 0);
        let mut its = self.flights.iter_mut().filter(|flight| flight.pid == pid && flight.id == id);
        let Some(flight) = its.find(|flight| !flight.again) else { return };
        flight.abandoned = true;
        if stops && flight.call.is_some() {
            (flight.effect_at, flight.end_at) = (None, Some(now + 1));
        }
    }

    /// A process ends at once. What its disk was writing is written, half of it, or not at all; its requests may arrive.
    pub(crate) fn end_calls_of(&mut self, pid: Pid) {
        let (host, random) = (self.processes[&pid].host, u128::from(self.random.next()));
        for mut flight in std::mem::take(&mut self.flights) {
            if flight.pid != pid {
                self.flights.push(flight);
                continue;
            }
            match flight.call.take() {
                Some(RunCall::WriteRecord(write)) => {
                    let written = match self.random.below(3) {
                        0 => Written::Whole,
                        1 if self.torn_left > 0 => Written::Half,
                        _ => Written::Nothing,
                    };
                    if flight.effect_at.is_some() {
                        self.torn_left -= u32::from(written == Written::Half);
                        let disk = &mut self.hosts[host].disk;
                        disk.write(pid, *write, Some(random), (written, true)).expect("it is locked");
                    }
                }
                Some(call) if is_of_source(&call) && self.random.below(2) == 0 => {
                    self.flights.push(Flight { call: Some(call), end_at: None, ..flight });
                }
                Some(call) if is_of_cache(&call) && flight.effect_at.is_some() => {
                    let written = self.random.pick(&[Written::Whole, Written::Half, Written::Nothing]);
                    let now_ms = self.filtered_ms(pid);
                    let host = &mut self.hosts[host];
                    host.caches.use_file(call, host.clocks(self.now), now_ms, written, true);
                }
                _ => {}
            }
        }
    }
}

fn name_of(call: &RunCall) -> String {
    let text = format!("{call:?}");
    text.chars().take(300).collect()
}
