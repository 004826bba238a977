//! A state of the model, and what a process does in it.

use super::caches::Caches;
use super::clock::HostClock;
use super::disk::{Disk, Written};
use super::lease_server::LeaseServer;
use super::process::{Flight, Number, Process, Wish};
use super::seen::Wrong;
use super::setting::{Ids, Kind, Setting};
use leafid_core::Action;
use leafid_core::call::Clocks;
use leafid_core::format::state::Writer;
use leafid_core::place::Place;
use leafid_core::run::{Lane, Need, RunCall, RunSettings, RunState, WorkerRun};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub(crate) setting: Setting,
    pub(crate) passed_ms: i64,
    pub(crate) clocks: [HostClock; 2],
    pub(crate) processes: [Option<Process>; 2],
    pub(crate) hosts: [Disk; 2],
    pub(crate) caches: [Caches; 2],
    /// Whether a host is cut off from the server.
    pub(crate) cut_off: [bool; 2],
    /// The number of cached leases that were used.
    pub(crate) cached: u32,
    pub(crate) server: LeaseServer,
    /// Whether the server lost a span, so that it may give it again.
    pub(crate) lost_span: bool,
    /// Whether a slot of the record was lost.
    pub(crate) lost_slot: bool,
    issued: BTreeSet<i64>,
    by: [bool; 2],
    pub(crate) starts: u32,
    pub(crate) faults: u32,
    pub(crate) late: u32,
    pub(crate) resets: u32,
    pub(crate) wrong: Option<Wrong>,
}

impl State {
    pub(crate) fn new(setting: Setting) -> State {
        let [lease_ms, threshold_ms] = setting.lease_ticks.map(|ticks| ticks * setting.tick_ms);
        State {
            setting,
            passed_ms: 0,
            clocks: setting.off.map(|ticks| HostClock::new(ticks * setting.tick_ms)),
            processes: [None, None],
            hosts: [Disk::default(), Disk::default()],
            caches: [Caches::default(), Caches::default()],
            cut_off: [false; 2],
            cached: 0,
            server: LeaseServer::new(setting.leased_ids(), lease_ms, threshold_ms, setting.gives_more),
            lost_span: false,
            lost_slot: false,
            issued: BTreeSet::new(),
            by: [false, false],
            starts: 0,
            faults: 0,
            late: 0,
            resets: 0,
            wrong: None,
        }
    }

    pub(crate) fn wrong(&self) -> Option<Wrong> {
        self.wrong
    }

    pub(crate) fn issued(&self) -> usize {
        self.issued.len()
    }

    pub(crate) fn both_issue(&self) -> bool {
        self.by == [true, true]
    }

    /// Whether an id is issued under a lease that was renewed.
    pub(crate) fn has_renewed(&self) -> bool {
        self.processes.iter().flatten().any(|its| its.seen.last.is_some() && its.seen.leases.has_renewed())
    }

    /// Whether an id is issued although the record has spans of runs before, and spans that a reset skipped.
    pub(crate) fn remembers(&self) -> [bool; 2] {
        let record = self.hosts[0].files.get(&0).map(|file| file.slots().newest.record);
        let issues = self.processes.iter().flatten().any(|its| its.seen.last.is_some());
        record.filter(|_| issues).map_or([false; 2], |its| [!its.former.is_empty(), !its.skipped.is_empty()])
    }

    /// Whether the clocks of all hosts are as fast as the server's.
    pub(crate) fn keeps_time(&self) -> bool {
        self.setting.speed == [2, 2]
    }

    /// The clock that has stood so long that it has to be set, or would leap by more than 60 s.
    pub(crate) fn stood_long(&self) -> Option<usize> {
        self.clocks.iter().position(HostClock::stood_long)
    }

    /// Whether a process has two calls at once that have to come one after the other.
    pub(crate) fn is_disk_shared(&self) -> bool {
        let of_disk = |call: &&Flight| call.lane == Lane::Disk && !call.again;
        self.processes.iter().flatten().any(|its| its.flights.iter().filter(of_disk).count() > 1)
    }

    pub(crate) fn tick_ms(&self) -> i64 {
        self.setting.tick_ms
    }

    pub(crate) fn cached(&self) -> u32 {
        self.cached
    }

    /// How many milliseconds are left of the newest lease of a process.
    pub(crate) fn lease_ms(&self, who: usize) -> Option<i64> {
        let ends = self.processes[who].as_ref()?.seen.leases.next_end()?;
        Some(ends.checked_sub(self.clocks(who).boot)?.as_millis() as i64)
    }

    /// The clock that this process reads. Machines with one volume have clocks of their own.
    pub(crate) fn clock_of(&self, who: usize) -> usize {
        if self.setting.apart || self.setting.ids == Ids::Fixed { who } else { 0 }
    }

    pub(crate) fn host(&mut self, who: usize) -> &mut Disk {
        &mut self.hosts[self.host_of(who)]
    }

    pub(crate) fn host_of(&self, who: usize) -> usize {
        if self.setting.apart { who } else { 0 }
    }

    pub(crate) fn clocks(&self, who: usize) -> Clocks {
        self.clocks[self.clock_of(who)].read(&self.setting)
    }

    pub(crate) fn server_ms(&self) -> i64 {
        let mut clock = HostClock::new(0);
        clock.pass(self.passed_ms);
        clock.read(&self.setting).wall_ms
    }

    /// This time passes.
    pub(crate) fn pass(&mut self, ms: i64) {
        self.passed_ms += ms;
        for (clock, speed) in self.clocks.iter_mut().zip(self.setting.speed) {
            clock.pass(ms * speed / 2);
        }
    }

    fn settings(&self) -> RunSettings {
        let Setting { rules, persists, gives_more, .. } = self.setting;
        RunSettings {
            name: "n".into(),
            layout: self.setting.layout(),
            rules,
            workers: self.setting.workers(),
            persist: persists,
            locks_host: persists,
            start_after: 0,
            timeout: Duration::from_secs(2),
            lazy: false,
            peer_times: gives_more,
            disk_needs_loop: false,
            leases_end: false,
        }
    }

    pub(crate) fn flight(&mut self, who: usize, at: usize) -> Option<&mut Flight> {
        self.processes[who].as_mut()?.flights.get_mut(at)
    }

    pub(crate) fn check(&mut self, found: Result<(), Wrong>) {
        if let (None, Err(wrong)) = (self.wrong, found) {
            self.wrong = Some(wrong);
        }
    }

    pub(crate) fn poll(&mut self, who: usize) {
        let (clocks, layout, host) = (self.clocks(who), self.setting.layout(), self.host_of(who));
        let Some(process) = &mut self.processes[who] else { return };
        let before = process.flights.len();
        let mut found = process.poll(clocks, layout);
        let disk = &self.hosts[host];
        for flight in &process.flights[before..] {
            if let Some(RunCall::WriteRecord(write)) = &flight.call {
                let written = process.seen.writes(write, disk.held(who), clocks.wall_ms, clocks.boot, layout);
                found = found.and(written);
            }
        }
        self.check(found);
        self.bury(who);
    }

    pub(crate) fn poll_all(&mut self) {
        self.poll(0);
        self.poll(1);
    }

    /// A closed process whose calls have all ended is gone.
    fn bury(&mut self, who: usize) {
        let gone = self.processes[who].as_ref().is_some_and(|its| its.seen.closed && its.flights.is_empty());
        if gone {
            if !self.host(who).is_free_of(who) {
                self.check(Err(Wrong::Locks));
            }
            let boot = self.clocks(who).boot;
            let none_is_kept = self.processes[who].take().map_or(Ok(()), |mut its| {
                its.seen.leases.end_by(boot);
                if its.is_quiet { Ok(()) } else { its.seen.leases.none_is_kept() }
            });
            self.check(none_is_kept.map_err(Wrong::Lease));
        }
    }

    pub(crate) fn open(&mut self, who: usize) {
        self.begin(who, None);
    }

    /// `inherited`: the worker id of the process that it is a fork of.
    pub(crate) fn begin(&mut self, who: usize, inherited: Option<u32>) {
        self.starts += 1;
        let at = self.clock_of(who);
        let (host, boot) = (at.to_string(), format!("{at} {}", self.clocks[at].boots));
        let writer = Writer { host, boot, ..Writer::default() };
        let nowhere = Place::without_files(Arc::default());
        let place = Place { writer, directory: "d".into(), inherited, ..nowhere };
        let seed = if self.setting.goes_wrong(Kind::Leave) { u64::from(self.starts) } else { 1 };
        let mut process = Process::new(WorkerRun::new(self.settings(), place, seed));
        let ticket = process.run.want(Need::Open { longest: None, loops: false }, self.clocks(who));
        process.opening = Number(Some(ticket));
        self.processes[who] = Some(process);
        self.poll(who);
    }

    pub(crate) fn close(&mut self, who: usize, quietly: bool) -> Option<()> {
        let clocks = self.clocks(who);
        let process = self.processes[who].as_mut().filter(|its| !its.closes)?;
        (process.closes, process.is_quiet) = (true, quietly);
        process.tell(|run| run.want(Need::Close { quietly, waits_for_source: true }, clocks));
        self.poll(who);
        Some(())
    }

    /// Who waits for the process to open, or for a span, does so no longer.
    pub(crate) fn caller_leaves(&mut self, who: usize) -> Option<()> {
        let clocks = self.clocks(who);
        let process = self.processes[who].as_mut()?;
        let ticket = process.span.0.take().or_else(|| process.opening.0.take())?;
        process.tell(|run| run.give_up(ticket, clocks));
        self.poll(who);
        Some(())
    }

    /// The machine of a clock starts again, and its processes are gone.
    pub(crate) fn start_again(&mut self, at: usize) {
        for who in 0..2 {
            if self.clock_of(who) == at && self.processes[who].is_some() {
                let _ = self.kill(who, Written::Nothing);
            }
        }
        self.clocks[at].boots();
    }

    /// An id, or the wish for a span.
    pub(crate) fn next_id(&mut self, who: usize) -> Option<()> {
        let clocks = self.clocks(who);
        let process = self.processes[who].as_mut()?;
        let Some(generator) = process.run.generator() else {
            if matches!(process.run.state(), RunState::Failed(_)) && !process.closes {
                let ticket = process.tell(|run| run.want(Need::Open { longest: None, loops: false }, clocks));
                process.opening = Number(Some(ticket));
                self.poll(who);
                return Some(());
            }
            return None;
        };
        match generator.next(clocks.wall_ms) {
            Ok(id) => {
                let found = self.judge(who, id);
                self.check(found);
            }
            Err(Action::NeedSpan | Action::Sealed) if !process.closes => {
                if process.wishes() {
                    return None;
                }
                process.span = Wish(Some(process.tell(|run| run.want(Need::Span, clocks))));
                self.poll(who);
            }
            Err(_) => return None,
        }
        Some(())
    }

    fn judge(&mut self, who: usize, id: i64) -> Result<(), Wrong> {
        let (setting, now_ms) = (self.setting, self.clocks(who).wall_ms);
        self.by[who] = true;
        if !self.issued.insert(id) && !self.lost_span {
            return Err(Wrong::IssuedTwice);
        }
        let file = self.hosts[self.host_of(who)].held(who);
        if setting.persists && file.is_none() {
            return Err(Wrong::Locks);
        }
        let Some(process) = &mut self.processes[who] else { return Ok(()) };
        let (layout, leased) = (setting.layout(), setting.leased_ids() > 0);
        process.seen.issues(id, now_ms, (layout, setting.rules), file, leased)
    }
}
