//! A state of the model, and what a process does in it.

use super::clock::HostClock;
use super::disk::Disk;
use super::lease_server::LeaseServer;
use super::process::{Flight, Process, Wish};
use super::seen::Wrong;
use super::setting::{Ids, Setting};
use leafid_core::Action;
use leafid_core::call::Clocks;
use leafid_core::format::state::Writer;
use leafid_core::place::Place;
use leafid_core::run::{Need, RunCall, RunSettings, RunState, WorkerRun};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// A lease lasts for so many ticks.
const LEASE_TICKS: i64 = 2;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub(super) setting: Setting,
    pub(super) passed_ms: i64,
    pub(super) clocks: [HostClock; 2],
    pub(super) processes: [Option<Process>; 2],
    pub(super) hosts: [Disk; 2],
    pub(super) server: LeaseServer,
    /// Whether the server lost a span, so that it may give it again.
    pub(super) lost_span: bool,
    issued: BTreeSet<i64>,
    by: [bool; 2],
    pub(super) starts: u32,
    pub(super) faults: u32,
    pub(super) late: u32,
    pub(super) resets: u32,
    pub(super) wrong: Option<Wrong>,
}

impl State {
    pub(super) fn new(setting: Setting) -> State {
        let lease_ms = LEASE_TICKS * setting.tick_ms;
        State {
            setting,
            passed_ms: 0,
            clocks: setting.off.map(|ticks| HostClock::new(ticks * setting.tick_ms)),
            processes: [None, None],
            hosts: [Disk::default(), Disk::default()],
            server: LeaseServer::new(setting.leased_ids(), lease_ms, setting.tick_ms, false),
            lost_span: false,
            issued: BTreeSet::new(),
            by: [false, false],
            starts: 0,
            faults: 0,
            late: 0,
            resets: 0,
            wrong: None,
        }
    }

    pub(super) fn wrong(&self) -> Option<Wrong> {
        self.wrong
    }

    pub(super) fn issued(&self) -> usize {
        self.issued.len()
    }

    pub(super) fn both_issue(&self) -> bool {
        self.by == [true, true]
    }

    /// Whether an id is issued under a lease that was renewed.
    pub(super) fn has_renewed(&self) -> bool {
        self.processes.iter().flatten().any(|its| its.seen.last.is_some() && its.seen.leases.has_renewed())
    }

    /// Whether an id is issued although the record has spans of runs before, and spans that a reset skipped.
    pub(super) fn remembers(&self) -> [bool; 2] {
        let record = self.hosts[0].files.get(&0).map(|file| file.slots().newest.record);
        let issues = self.processes.iter().flatten().any(|its| its.seen.last.is_some());
        record.filter(|_| issues).map_or([false; 2], |its| [!its.former.is_empty(), !its.skipped.is_empty()])
    }

    /// The clock that this process reads. Machines with one volume have clocks of their own.
    pub(super) fn clock_of(&self, who: usize) -> usize {
        if self.setting.apart || self.setting.ids == Ids::Fixed { who } else { 0 }
    }

    pub(super) fn host(&mut self, who: usize) -> &mut Disk {
        &mut self.hosts[self.host_of(who)]
    }

    fn host_of(&self, who: usize) -> usize {
        if self.setting.apart { who } else { 0 }
    }

    pub(super) fn clocks(&self, who: usize) -> Clocks {
        self.clocks[self.clock_of(who)].read(&self.setting)
    }

    pub(super) fn server_ms(&self) -> i64 {
        let mut clock = HostClock::new(0);
        clock.pass(self.passed_ms);
        clock.read(&self.setting).wall_ms
    }

    /// This time passes.
    pub(super) fn pass(&mut self, ms: i64) {
        self.passed_ms += ms;
        for (clock, speed) in self.clocks.iter_mut().zip(self.setting.speed) {
            clock.pass(ms * speed / 2);
        }
    }

    fn settings(&self) -> RunSettings {
        let Setting { rules, .. } = self.setting;
        RunSettings {
            name: "n".into(),
            layout: self.setting.layout(),
            rules,
            workers: self.setting.workers(),
            persist: self.setting.persists(),
            locks_host: self.setting.persists(),
            start_after: 0,
            timeout: Duration::from_secs(2),
            lazy: false,
            peer_times: false,
            disk_needs_loop: false,
            leases_end: false,
        }
    }

    pub(super) fn flight(&mut self, who: usize, at: usize) -> Option<&mut Flight> {
        self.processes[who].as_mut()?.flights.get_mut(at)
    }

    pub(super) fn check(&mut self, found: Result<(), Wrong>) {
        if let (None, Err(wrong)) = (self.wrong, found) {
            self.wrong = Some(wrong);
        }
    }

    pub(super) fn poll(&mut self, who: usize) {
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

    pub(super) fn poll_all(&mut self) {
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
                its.seen.leases.none_is_kept()
            });
            self.check(none_is_kept.map_err(Wrong::Lease));
        }
    }

    pub(super) fn open(&mut self, who: usize) {
        self.starts += 1;
        let at = self.clock_of(who).to_string();
        let writer = Writer { host: at.clone(), boot: at, ..Writer::default() };
        let nowhere = Place::without_files(Arc::default());
        let place = Place { writer, directory: "d".into(), ..nowhere };
        let mut process = Process::new(WorkerRun::new(self.settings(), place, 1));
        process.run.want(Need::Open { longest: None, loops: false }, self.clocks(who));
        self.processes[who] = Some(process);
        self.poll(who);
    }

    pub(super) fn close(&mut self, who: usize) -> Option<()> {
        let clocks = self.clocks(who);
        let process = self.processes[who].as_mut().filter(|its| !its.closes)?;
        process.closes = true;
        process.run.want(Need::Close { quietly: false, waits_for_source: true }, clocks);
        self.poll(who);
        Some(())
    }

    /// An id, or the wish for a span.
    pub(super) fn next_id(&mut self, who: usize) -> Option<()> {
        let clocks = self.clocks(who);
        let process = self.processes[who].as_mut().filter(|its| !its.closes)?;
        let Some(generator) = process.run.generator() else {
            if matches!(process.run.state(), RunState::Failed(_)) {
                process.run.want(Need::Open { longest: None, loops: false }, clocks);
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
            Err(Action::NeedSpan | Action::Sealed) => {
                if process.wishes() {
                    return None;
                }
                process.span = Wish(Some(process.run.want(Need::Span, clocks)));
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
        if setting.persists() && file.is_none() {
            return Err(Wrong::Locks);
        }
        let Some(process) = &mut self.processes[who] else { return Ok(()) };
        let (layout, leased) = (setting.layout(), setting.ids != Ids::Fixed);
        process.seen.issues(id, now_ms, (layout, setting.rules), file, leased)
    }
}
