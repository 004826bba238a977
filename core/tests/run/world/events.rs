//! What may happen in a state, and what it does.

use super::caches::is_of_cache;
use super::carry::{another_s, failed};
use super::disk::Written;
use super::process::Flight;
use super::setting::{Ids, Kind};
use super::state::State;
use super::told::Told;
use leafid_core::run::RunCall;

/// A process or a clock by its place, and a call by its place among those under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    Pass,
    /// Less than a tick.
    PassMs(i64),
    Open(usize),
    NextId(usize),
    Close(usize),
    /// The call has its effect, and its end is reported.
    Ends(usize, usize),
    /// The call takes longer.
    IsLate(usize, usize),
    /// A late call has its effect. Its end comes later.
    HasEffect(usize, usize),
    /// An operator resets the record by the clock of this machine.
    Reset(usize, Written),
    /// The machine starts again, and what was written and not synced is gone.
    UnsyncedIsLost,
    Fails(usize, usize),
    FailsAfterEffect(usize, usize),
    IsTorn(usize, usize),
    EndsTwice(usize, usize),
    /// The end of the call is reported as that of the other one.
    EndsAsAnother(usize, usize, usize),
    /// The answer to somebody else comes.
    AnotherIsAnswered(usize, usize),
    Kill(usize, Written),
    /// Time passes while this process is stopped.
    PassWithout(usize),
    ClockIsSet(usize, i64),
    ClockStops(usize),
    ServerForgets(usize),
    ServerLosesSpan(usize),
    /// The newest slot of the record is lost, and its holder ends.
    SlotIsLost,
    StartsAgain(usize),
    Forks(usize),
    CallerLeaves(usize),
    ClosesQuietly(usize),
    /// A host is cut off from the server, or reaches it again.
    IsCutOff(usize),
    CacheIsCopied(usize),
    /// The record of this worker id is deleted on this host, while it is held.
    RecordIsDeleted(usize, u32),
}

/// The numbers are for a whole run, both processes together.
#[derive(Clone, Copy, Debug)]
pub struct RunBounds {
    /// The number of ticks that pass.
    pub ticks: i64,
    /// The number of ids that are issued. The last one ends the run.
    pub ids: usize,
    /// The number of times that a process starts.
    pub starts: u32,
    /// The number of faults.
    pub faults: u32,
    /// The number of calls that are late.
    pub late: u32,
    /// The number of times that an operator resets the record.
    pub resets: u32,
}

impl State {
    /// All that may happen now.
    pub(crate) fn events(&self, bounds: &RunBounds, events: &mut Vec<Event>) {
        let slow = self.late < bounds.late;
        let faulty = |kind| self.faults < bounds.faults && self.setting.goes_wrong(kind);
        let processes =
            || self.processes.iter().enumerate().filter_map(|(who, its)| Some((who, its.as_ref()?)));
        let prompt = processes()
            .find_map(|(who, its)| Some((who, its.flights.iter().position(|call| call.is_prompt)?)));
        if let Some((who, at)) = prompt {
            events.push(Event::Ends(who, at));
            let call = self.processes[who].as_ref().and_then(|its| its.flights[at].call.as_ref());
            // It has no effect here.
            if matches!(call, Some(RunCall::Names(_))) {
                return;
            }
            if slow {
                events.push(Event::IsLate(who, at));
            }
            self.faults_of(who, at, bounds, events);
            return;
        }
        if self.passed_ms < bounds.ticks * self.setting.tick_ms {
            events.push(Event::Pass);
            let stopped = (0..2).filter(|who| faulty(Kind::Stop) && self.processes[*who].is_some());
            events.extend(stopped.map(Event::PassWithout));
        }
        for (who, its) in self.processes.iter().enumerate() {
            let Some(its) = its else {
                // The processes of one host are alike.
                if self.starts < bounds.starts && (who == 0 || self.starts > 0 || !self.setting.is_alike()) {
                    events.push(Event::Open(who));
                }
                continue;
            };
            events.extend([Event::NextId(who), Event::Close(who)]);
            for at in 0..its.flights.len() {
                events.extend([Event::HasEffect(who, at), Event::Ends(who, at)]);
                self.faults_of(who, at, bounds, events);
            }
            if faulty(Kind::Kill) && its.flights.is_empty() {
                events.push(Event::Kill(who, Written::Nothing));
            }
        }
        if self.setting.ids == Ids::Fixed {
            self.events_of_record(bounds, events);
        }
        if faulty(Kind::Clock) {
            for at in 0..if self.clock_of(1) == 1 { 2 } else { 1 } {
                events.extend(self.setting.set_at(at).map(|ticks| Event::ClockIsSet(at, ticks)));
                // Of longer ticks, a clock that stood and is set ahead would leap by more than 60 s.
                if self.setting.tick_ms == 1_000 {
                    events.push(Event::ClockStops(at));
                }
            }
        }
        self.events_of_hosts(faulty, events);
        if faulty(Kind::Loss) {
            let ids = 0..self.setting.leased_ids();
            events.extend(ids.flat_map(|id| [Event::ServerForgets(id), Event::ServerLosesSpan(id)]));
        }
    }

    fn events_of_hosts(&self, faulty: impl Fn(Kind) -> bool, events: &mut Vec<Event>) {
        let clocks = 0..if self.clock_of(1) == 1 { 2 } else { 1 };
        let hosts = 0..if self.host_of(1) == 1 { 2 } else { 1 };
        let alive = || (0..2).filter(|who| self.processes[*who].is_some());
        if faulty(Kind::Boot) {
            events.extend(clocks.map(Event::StartsAgain));
        }
        if faulty(Kind::Fork) && self.clock_of(1) == 0 {
            events.extend(alive().filter(|who| self.processes[1 - who].is_none()).map(Event::Forks));
        }
        if faulty(Kind::Leave) {
            events.extend(alive().flat_map(|who| [Event::CallerLeaves(who), Event::ClosesQuietly(who)]));
        }
        if faulty(Kind::Cut) {
            let (server, caches) = (matches!(self.setting.ids, Ids::Server(_)), self.setting.caches());
            events.extend(hosts.clone().filter(|_| server).map(Event::IsCutOff));
            events.extend(hosts.clone().filter(|_| caches).map(Event::CacheIsCopied));
            // Without leases nothing else keeps spans apart.
            let ids = 0..self.setting.leased_ids() as u32;
            events.extend(hosts.flat_map(|host| ids.clone().map(move |id| Event::RecordIsDeleted(host, id))));
        }
    }

    fn events_of_record(&self, bounds: &RunBounds, events: &mut Vec<Event>) {
        let Some(file) = self.hosts[0].files.get(&0) else { return };
        if file.is_free() && self.resets < bounds.resets {
            events.extend([0, 1].map(|who| Event::Reset(who, Written::Whole)));
            if self.faults < bounds.faults && self.setting.goes_wrong(Kind::Kill) {
                events.extend([0, 1].map(|who| Event::Reset(who, Written::Half)));
            }
        }
        if file.is_free() && file.has_unsynced() {
            events.push(Event::UnsyncedIsLost);
        }
        // Of two slots that are lost nothing is left.
        if self.faults < bounds.faults && self.setting.goes_wrong(Kind::Loss) && !self.lost_slot {
            events.push(Event::SlotIsLost);
        }
    }

    fn faults_of(&self, who: usize, at: usize, bounds: &RunBounds, events: &mut Vec<Event>) {
        let faulty = |kind| self.faults < bounds.faults && self.setting.goes_wrong(kind);
        if faulty(Kind::Call) {
            events.extend([Event::Fails(who, at), Event::FailsAfterEffect(who, at), Event::IsTorn(who, at)]);
            events.extend([Event::EndsTwice(who, at), Event::AnotherIsAnswered(who, at)]);
            let calls = self.processes[who].as_ref().map_or(0, |its| its.flights.len());
            let others = (0..calls).filter(|other| *other != at);
            events.extend(others.map(|other| Event::EndsAsAnother(who, at, other)));
        }
        if faulty(Kind::Kill) {
            events
                .extend([Written::Whole, Written::Half, Written::Nothing].map(|left| Event::Kill(who, left)));
        }
    }

    /// `None`: it cannot happen.
    pub(crate) fn happens(&mut self, event: Event) -> Option<()> {
        let happened = self.begins(event);
        // What is wrong has happened, also where the event ended there.
        happened.or(self.wrong.map(drop))
    }

    fn begins(&mut self, event: Event) -> Option<()> {
        match event {
            Event::Pass => {
                self.pass(self.setting.tick_ms);
                self.poll_all();
            }
            Event::PassMs(ms) => {
                self.pass(ms);
                self.poll_all();
            }
            Event::Open(who) => self.open(who),
            Event::NextId(who) => self.next_id(who)?,
            Event::Close(who) => self.close(who, false)?,
            Event::Ends(who, at) => self.ends(who, at)?,
            Event::IsLate(who, at) => {
                self.late += 1;
                self.flight(who, at)?.is_prompt = false;
            }
            Event::HasEffect(who, at) => self.takes_effect(who, at, Written::Whole, false)?,
            Event::Reset(who, Written::Whole) => {
                self.resets += 1;
                self.reset(who, 0, Written::Whole)?;
            }
            Event::UnsyncedIsLost => self.hosts[0].files.get_mut(&0)?.lose_unsynced()?,
            _ => {
                self.faults += 1;
                self.fault(event)?;
            }
        }
        Some(())
    }

    fn fault(&mut self, event: Event) -> Option<()> {
        match event {
            Event::Fails(who, at) => {
                let random = self.random(who, at)?;
                let flight = self.flight(who, at)?;
                flight.end = Some((failed(flight.call.take()?, random)?, Told::Nothing));
                self.ends(who, at)
            }
            Event::FailsAfterEffect(who, at) => {
                self.takes_effect(who, at, Written::Whole, true)?;
                self.ends(who, at)
            }
            Event::IsTorn(who, at) => {
                let call = self.flight(who, at)?.call.as_ref()?;
                let is_write = matches!(call, RunCall::WriteRecord(_)) || is_of_cache(call);
                self.takes_effect(who, at, Written::Half, true).filter(|()| is_write)?;
                self.ends(who, at)
            }
            Event::EndsTwice(who, at) => {
                let flight = self.flight(who, at)?;
                if flight.again {
                    return None;
                }
                flight.is_prompt = false;
                self.takes_effect(who, at, Written::Whole, false);
                let flight = self.flight(who, at)?;
                let again = Flight { again: true, ..flight.clone() };
                self.processes[who].as_mut()?.flights.push(again);
                self.ends(who, at)
            }
            Event::EndsAsAnother(who, at, other) => {
                self.takes_effect(who, at, Written::Whole, false);
                let end = self.flight(who, at)?.end.clone()?.0;
                let (id, clocks) = (self.flight(who, other)?.id.0, self.clocks(who));
                self.processes[who].as_mut()?.tell(|run| run.done(id, end, clocks));
                self.poll(who);
                Some(())
            }
            Event::AnotherIsAnswered(who, at) => {
                let (server, random) = (self.server.clone(), self.random(who, at)?);
                let flight = self.flight(who, at)?;
                flight.end = Some((another_s(&server, flight.call.take()?, random)?, Told::Nothing));
                self.ends(who, at)
            }
            Event::Kill(who, left) => self.kill(who, left),
            Event::PassWithout(who) => {
                self.pass(self.setting.tick_ms);
                self.poll(1 - who);
                Some(())
            }
            Event::ClockIsSet(at, ticks) => {
                self.clocks[at].set(ticks * self.setting.tick_ms);
                self.poll_all();
                Some(())
            }
            Event::ClockStops(at) => self.clocks[at].stops(),
            Event::ServerForgets(worker_id) => {
                self.server.forget(worker_id);
                Some(())
            }
            Event::ServerLosesSpan(worker_id) => {
                self.lost_span = true;
                self.server.lose_span(worker_id);
                Some(())
            }
            Event::Reset(who, left) => {
                self.resets += 1;
                self.reset(who, 0, left)
            }
            Event::SlotIsLost => {
                self.lost_slot = true;
                self.hosts[0].files.get_mut(&0)?.lose_newest()?;
                let holder = (0..2).find(|who| self.hosts[0].holder(0) == Some(*who));
                holder.into_iter().for_each(|who| {
                    self.processes[who] = None;
                    self.hosts[0].drop_process(who);
                });
                Some(())
            }
            Event::StartsAgain(at) => {
                self.start_again(at);
                Some(())
            }
            Event::Forks(who) => {
                let inherited = self.host(who).host_lock_of(who);
                self.begin(1 - who, inherited);
                Some(())
            }
            Event::CallerLeaves(who) => self.caller_leaves(who),
            Event::ClosesQuietly(who) => self.close(who, true),
            Event::IsCutOff(host) => {
                self.cut_off[host] = !self.cut_off[host];
                Some(())
            }
            Event::CacheIsCopied(host) => {
                let wall_ms = self.clocks(host).wall_ms;
                self.caches[host].copy(wall_ms);
                Some(())
            }
            Event::RecordIsDeleted(host, id) => self.hosts[host].delete(id),
            _ => None,
        }
    }
}
