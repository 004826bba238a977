//! A state of the model, and what each event does to it.

use super::Ids;
use super::carry::failed;
use super::host::Host;
use super::lease_server::LeaseServer;
use super::process::{Flight, Process, Wish};
use super::told::{BadUse, Told};
use crate::bounds::RunBounds;
use leafid_core::call::{Clocks, FileAdvice};
use leafid_core::format::state::Writer;
use leafid_core::place::Place;
use leafid_core::run::{Need, RunCall, RunSettings, WorkerRun, Workers};
use leafid_core::{Action, ClockFilter, Layout, LayoutFields, Order, Rules};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

pub(super) const TICK_MS: i64 = 1_000;
/// What the clock reads at the beginning.
const START_MS: i64 = 20 * TICK_MS;
pub(super) const LEASE_MS: i64 = 2 * TICK_MS;
/// Within this time of a kind world there are ids.
pub(super) const SOON_MS: i64 = 30_000;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub(super) passed_ms: i64,
    /// How far the clock of the host is from the server's.
    off_ms: i64,
    pub(super) ids: Ids,
    pub(super) processes: [Option<Process>; 2],
    pub(super) host: Host,
    pub(super) server: LeaseServer,
    issued: BTreeSet<i64>,
    by: [bool; 2],
    pub(super) starts: u32,
    faults: u32,
    late: u32,
    pub(super) wrong: Option<Wrong>,
}

/// Which write a killed process leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Left {
    Whole,
    Half,
    Nothing,
}

/// A process by its place, and a call by its place among those under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    Pass,
    Open(usize),
    NextId(usize),
    Close(usize),
    /// The call has its effect, and its end is reported.
    Ends(usize, usize),
    /// The call takes longer.
    IsLate(usize, usize),
    /// A late call has its effect. Its end comes later.
    HasEffect(usize, usize),
    Fails(usize, usize),
    FailsAfterEffect(usize, usize),
    IsTorn(usize, usize),
    EndsTwice(usize, usize),
    Kill(usize, Left),
    ClockIsSet(i64),
    ServerForgets(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Wrong {
    IssuedTwice,
    GoesBack,
    NotDurable,
    NotSealed,
    BelowItsOwn,
    Lease(BadUse),
    Locks,
    OverTheNewest,
    OldNumber,
    ClosedTwice,
    SleepsOver,
    Busy,
}

pub(super) fn layout() -> Layout {
    let (timestamp_bits, worker_bits, sequence_bits) = (20, 2, 0);
    let (order, tick_ms) = (Order::WorkerSequence, TICK_MS);
    let fields = LayoutFields { epoch_ms: 0, tick_ms, timestamp_bits, worker_bits, sequence_bits, order };
    Layout::new(fields).expect("at most 63 bits")
}

fn rules() -> Rules {
    Rules { max_backwards_ms: 3 * TICK_MS, random_start: 0, ..Rules::default() }
}

impl State {
    pub(super) fn new(ids: Ids) -> State {
        State {
            passed_ms: 0,
            off_ms: 0,
            ids,
            processes: [None, None],
            host: Host::default(),
            server: LeaseServer::new(ids.leased(), LEASE_MS, TICK_MS, false),
            issued: BTreeSet::new(),
            by: [false, false],
            starts: 0,
            faults: 0,
            late: 0,
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

    pub(super) fn clocks(&self) -> Clocks {
        let boot = Duration::from_millis((100_000 + self.passed_ms) as u64);
        Clocks { wall_ms: START_MS + self.passed_ms + self.off_ms, boot }
    }

    pub(super) fn server_ms(&self) -> i64 {
        START_MS + self.passed_ms
    }

    fn settings(&self) -> RunSettings {
        RunSettings {
            name: "n".into(),
            layout: layout(),
            rules: rules(),
            workers: match self.ids {
                Ids::Fixed => Workers::Within { first: 0, last: 0 },
                Ids::Object(_) => Workers::Callback { leases: true },
            },
            persist: true,
            locks_host: true,
            start_after: 0,
            timeout: Duration::from_secs(2),
            lazy: false,
            peer_times: false,
            disk_needs_loop: false,
            leases_end: false,
        }
    }

    /// All that may happen now.
    pub(super) fn events(&self, bounds: &RunBounds, events: &mut Vec<Event>) {
        let (faulty, slow) = (self.faults < bounds.faults, self.late < bounds.late);
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
            if faulty {
                self.faults_of(who, at, events);
            }
            return;
        }
        if self.passed_ms < bounds.ticks * TICK_MS {
            events.push(Event::Pass);
        }
        for (who, its) in self.processes.iter().enumerate() {
            let Some(its) = its else {
                if self.starts < bounds.starts {
                    events.push(Event::Open(who));
                }
                continue;
            };
            events.extend([Event::NextId(who), Event::Close(who)]);
            for at in 0..its.flights.len() {
                events.extend([Event::HasEffect(who, at), Event::Ends(who, at)]);
                if faulty {
                    self.faults_of(who, at, events);
                }
            }
            if faulty && its.flights.is_empty() {
                events.push(Event::Kill(who, Left::Nothing));
            }
        }
        if faulty {
            events.extend([Event::ClockIsSet(-2 * TICK_MS), Event::ClockIsSet(2 * TICK_MS)]);
            events.extend((0..self.ids.leased()).map(Event::ServerForgets));
        }
    }

    fn faults_of(&self, who: usize, at: usize, events: &mut Vec<Event>) {
        events.extend([Event::Fails(who, at), Event::FailsAfterEffect(who, at), Event::IsTorn(who, at)]);
        events.push(Event::EndsTwice(who, at));
        events.extend([Left::Whole, Left::Half, Left::Nothing].map(|left| Event::Kill(who, left)));
    }

    /// `None`: it cannot happen.
    pub(super) fn happens(&mut self, event: Event) -> Option<()> {
        match event {
            Event::Pass => {
                self.passed_ms += TICK_MS;
                self.poll(0);
                self.poll(1);
            }
            Event::Open(who) => self.open(who),
            Event::NextId(who) => self.next_id(who)?,
            Event::Close(who) => self.close(who)?,
            Event::Ends(who, at) => self.ends(who, at)?,
            Event::IsLate(who, at) => {
                self.late += 1;
                self.flight(who, at)?.is_prompt = false;
            }
            Event::HasEffect(who, at) => self.takes_effect(who, at, Left::Whole, false)?,
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
                self.takes_effect(who, at, Left::Whole, true)?;
                self.ends(who, at)
            }
            Event::IsTorn(who, at) => {
                let is_write = matches!(self.flight(who, at)?.call, Some(RunCall::WriteRecord(_)));
                self.takes_effect(who, at, Left::Half, true).filter(|()| is_write)?;
                self.ends(who, at)
            }
            Event::EndsTwice(who, at) => {
                let flight = self.flight(who, at)?;
                if flight.again {
                    return None;
                }
                flight.is_prompt = false;
                self.takes_effect(who, at, Left::Whole, false);
                let flight = self.flight(who, at)?;
                let again = Flight { again: true, ..flight.clone() };
                self.processes[who].as_mut()?.flights.push(again);
                self.ends(who, at)
            }
            Event::Kill(who, left) => self.kill(who, left),
            Event::ClockIsSet(off_ms) => {
                self.off_ms = off_ms;
                self.poll(0);
                self.poll(1);
                Some(())
            }
            Event::ServerForgets(worker_id) => {
                self.server.forget(worker_id);
                Some(())
            }
            _ => None,
        }
    }

    fn flight(&mut self, who: usize, at: usize) -> Option<&mut Flight> {
        self.processes[who].as_mut()?.flights.get_mut(at)
    }

    pub(super) fn check(&mut self, found: Result<(), Wrong>) {
        if let (None, Err(wrong)) = (self.wrong, found) {
            self.wrong = Some(wrong);
        }
    }

    pub(super) fn poll(&mut self, who: usize) {
        let clocks = self.clocks();
        let Some(process) = &mut self.processes[who] else { return };
        let before = process.flights.len();
        let found = process.poll(clocks);
        let writes: Vec<_> =
            process.flights[before..].iter().filter_map(|flight| flight.call.clone()).collect();
        self.check(found);
        for call in writes {
            let found = self.check_write(who, &call, clocks.boot);
            self.check(found);
        }
        self.bury(who);
    }

    /// A closed process whose calls have all ended is gone.
    fn bury(&mut self, who: usize) {
        let gone = self.processes[who].as_ref().is_some_and(|its| its.closed && its.flights.is_empty());
        if gone {
            if !self.host.is_free_of(who) {
                self.check(Err(Wrong::Locks));
            }
            let none_is_kept = self.processes[who].take().map_or(Ok(()), |its| its.leases.none_is_kept());
            self.check(none_is_kept.map_err(Wrong::Lease));
        }
    }

    pub(super) fn open(&mut self, who: usize) {
        self.starts += 1;
        let writer = Writer { host: "h".into(), boot: "b".into(), ..Writer::default() };
        let place = Place {
            clock: Arc::new(ClockFilter::new()),
            writer,
            directory: "d".into(),
            advice: FileAdvice::StateDir,
            forgets: false,
            moves: false,
            no_record_wait_ms: 0,
            machine_start: None,
            inherited: None,
        };
        let mut process = Process::new(WorkerRun::new(self.settings(), place, u64::from(self.starts)));
        process.run.want(Need::Open { longest: None, loops: false }, self.clocks());
        self.processes[who] = Some(process);
        self.poll(who);
    }

    pub(super) fn close(&mut self, who: usize) -> Option<()> {
        let clocks = self.clocks();
        let process = self.processes[who].as_mut().filter(|its| !its.closes)?;
        process.closes = true;
        process.run.want(Need::Close { quietly: false, waits_for_source: true }, clocks);
        self.poll(who);
        Some(())
    }

    /// An id, or the wish for a span.
    pub(super) fn next_id(&mut self, who: usize) -> Option<()> {
        let clocks = self.clocks();
        let process = self.processes[who].as_mut().filter(|its| !its.closes)?;
        let Some(generator) = process.run.generator() else {
            if matches!(process.run.state(), leafid_core::run::RunState::Failed(_)) {
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
        let parts = layout().decode(id).expect("a generator's own");
        let ms = parts.timestamp_ms;
        let tick = layout().tick_at(ms).unwrap_or(0);
        self.by[who] = true;
        if !self.issued.insert(id) {
            return Err(Wrong::IssuedTwice);
        }
        let file = self.host.locked(who).ok_or(Wrong::Locks)?;
        let run = file.slots().newest.record;
        if run.worker_id != parts.worker_id || !(run.run.from..run.run.until).contains(&tick) {
            return Err(Wrong::NotDurable);
        }
        let Some(process) = &mut self.processes[who] else { return Ok(()) };
        if process.last.is_some_and(|last| last >= tick) {
            return Err(Wrong::GoesBack);
        }
        process.last = Some(tick);
        match self.ids {
            Ids::Fixed => Ok(()),
            _ => process.leases.issue(parts.worker_id, ms, tick).map_err(Wrong::Lease),
        }
    }
}
