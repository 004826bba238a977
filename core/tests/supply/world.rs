//! The world: processes, the disk that they share, the counters and servers that they ask, and time. [`World::turn`] lets
//! one thing happen, whatever it is; [`World::turns_kind`] lets nothing go wrong from then on, and asserts that every
//! process gets ids.

use crate::common::Random;
use crate::counters::Counters;
use crate::disk::Disk;
use crate::judge::Judge;
use crate::process::{Half, Process, Waits, ids_of};
use crate::scenario::Scenario;
use crate::servers::Servers;
use leafid_core::call::Clocks;
use leafid_core::supply::{Collected, Ticket, Wish};
use leafid_core::{Empty, Fetched, IdOrder};
use std::collections::BTreeMap;
use std::time::Duration;

/// How long a caller waits.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(2);
/// Once nothing goes wrong any more, every process has ids within this time.
pub(crate) const SOON: Duration = Duration::from_secs(30);

#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) scenario: Scenario,
    pub(crate) random: Random,
    pub(crate) boot: Duration,
    pub(crate) wall_ms: i64,
    pub(crate) counters: Counters,
    pub(crate) servers: Servers,
    pub(crate) disk: Disk,
    pub(crate) judge: Judge,
    pub(crate) processes: Vec<Process>,
    pub(crate) started: u64,
    pub(crate) seen: BTreeMap<&'static str, u64>,
}

impl World {
    pub(crate) fn new(scenario: Scenario, seed: u64) -> World {
        let ascends = scenario.order() == IdOrder::Ascending;
        let mut world = World {
            random: Random(seed),
            boot: Duration::from_secs(1_000),
            wall_ms: 1_800_000_000_000,
            counters: Counters::default(),
            servers: Servers::new(scenario.kind, scenario.step),
            disk: Disk::default(),
            judge: Judge::new(ascends && !scenario.holds_marks, !scenario.holds_marks),
            processes: Vec::new(),
            started: 0,
            seen: BTreeMap::new(),
            scenario,
        };
        for _ in 0..world.scenario.processes {
            world.start();
        }
        world
    }

    pub(crate) fn saw(&mut self, what: &'static str) {
        *self.seen.entry(what).or_default() += 1;
    }

    fn one_in(&mut self, many: u64) -> bool {
        self.random.below(many) == 0
    }

    pub(crate) fn clocks(&self, who: usize) -> Clocks {
        Clocks { wall_ms: self.wall_ms + self.processes[who].skew_ms, boot: self.boot }
    }

    /// A process starts.
    pub(crate) fn start(&mut self) {
        self.started += 1;
        let process = Process::new(self.started, self.scenario.settings(), self.random.next());
        self.processes.push(process);
    }

    /// A process is killed, with all its calls and callers.
    pub(crate) fn kill(&mut self, who: usize) {
        let process = self.processes.remove(who);
        self.disk.unlock_all(process.number);
        self.judge.ended(process.number);
    }

    pub(crate) fn pass(&mut self, time: Duration) {
        self.boot += time;
        self.wall_ms += time.as_millis() as i64;
    }

    /// A caller takes what the buffer has.
    pub(crate) fn ask(&mut self, who: usize, tag: &str, count: usize) -> Half {
        let process = &self.processes[who];
        let begun = self.judge.begins(process.number, tag);
        Half { tag: tag.to_owned(), begun, runs: Vec::new(), count, timeout: TIMEOUT }
    }

    /// A caller goes on: it takes what the buffer has, and waits for the rest. Returns its ticket, if it waits.
    pub(crate) fn go_on(&mut self, who: usize, mut half: Half) -> Option<Ticket> {
        let clocks = self.clocks(who);
        let process = &mut self.processes[who];
        let (id, buffer) = process.tag(&half.tag)?;
        loop {
            let left = half.count - half.runs.iter().map(|run| run.count).sum::<usize>();
            if left == 0 {
                let ids = ids_of(&half.runs);
                let is_alone = process.waits.values().all(|other| other.tag != half.tag);
                self.judge.issued(process.number, &half.tag, &ids, half.begun, is_alone);
                process.had.push((half.tag, half.runs));
                return None;
            }
            match buffer.take_many(left) {
                Ok((run, wants_more)) => {
                    half.runs.push(run);
                    if wants_more {
                        process.supply.wants_more(id, clocks);
                    }
                }
                // What it had is a gap.
                Err(Empty::Sealed) => return None,
                Err(Empty::UsedUp) => {
                    let Half { tag, begun, count, runs, timeout } = half;
                    let wish = Wish { count: left, had: runs, timeout, blocks_at_most: None };
                    let ticket = process.supply.wait(id, wish, clocks);
                    let waits = Waits { tag, begun, count, is_woken: false };
                    assert!(process.waits.insert(ticket, waits).is_none(), "{ticket:?} was given twice");
                    // It may have ended at once.
                    return self.collect(who, ticket).is_none().then_some(ticket);
                }
            }
        }
    }

    /// A driver without a call to carry out: it begins the next one, if there is one.
    pub(crate) fn pull(&mut self, who: usize) -> bool {
        let clocks = self.clocks(who);
        let process = &mut self.processes[who];
        let Some((id, call)) = process.supply.next_call(clocks) else { return false };
        // A call may be there because another one was given up.
        self.listen(who);
        let process = &mut self.processes[who];
        process.begins(id, call, &self.scenario);
        true
    }

    /// The host takes all notices.
    pub(crate) fn listen(&mut self, who: usize) {
        let clocks = self.clocks(who);
        let process = &mut self.processes[who];
        while let Some(notice) = process.supply.next_notice(clocks) {
            process.hears(notice);
        }
    }

    /// A caller looks how its ticket ended. Returns whether it got ids; `None` while it waits.
    pub(crate) fn collect(&mut self, who: usize, ticket: Ticket) -> Option<bool> {
        let process = &mut self.processes[who];
        let collected = process.supply.collect(ticket);
        if collected == Collected::Waits {
            return None;
        }
        let waits = process.waits.remove(&ticket).expect("a ticket is collected once");
        process.gone.push((ticket, "collected"));
        match collected {
            Collected::Ids(runs) => {
                let ids = ids_of(&runs);
                assert_eq!(ids.len(), waits.count, "{waits:?} got {ids:?}");
                let is_alone = process.waits.values().all(|other| other.tag != waits.tag);
                self.judge.issued(process.number, &waits.tag, &ids, waits.begun, is_alone);
                process.had.push((waits.tag, runs));
                self.saw("served");
                Some(true)
            }
            Collected::Failed { error, .. } => {
                self.judge.goes_back(process.number, &waits.tag);
                self.saw(error.code().name());
                Some(false)
            }
            other => panic!("{waits:?} ended with {other:?}"),
        }
    }

    /// One thing happens.
    pub(crate) fn turn(&mut self) {
        if self.processes.is_empty() || (self.processes.len() < self.scenario.processes && self.one_in(8)) {
            self.start();
        }
        let who = self.random.below(self.processes.len() as u64) as usize;
        match self.random.below(100) {
            0..=24 => _ = self.pull(who),
            25 if self.scenario.faults > 0 => self.ends_again(who),
            25..=49 => self.calls_go_on(who),
            50..=59 => self.listen(who),
            60..=74 => self.callers_go_on(who),
            75..=80 => self.collect_some(who),
            81..=93 => self.time_passes(who),
            94 => self.gives_up(who),
            95 => self.put_back(who),
            96 => self.counters_change(),
            97 if self.one_in(2) => self.forget(who),
            97 if self.one_in(2) => self.close(who),
            // The next server of its store.
            98 if self.scenario.holds_marks && self.processes[who].closed == 1 => self.kill(who),
            98 if self.scenario.holds_marks => self.take_range(who),
            98 if self.one_in(4) => {
                self.saw("killed");
                self.kill(who);
            }
            99 if self.one_in(10) && !self.scenario.holds_marks => {
                self.saw("power cut");
                (0..self.processes.len()).rev().for_each(|who| self.kill(who));
                self.disk.cut_power();
            }
            _ => {}
        }
    }

    fn calls_go_on(&mut self, who: usize) {
        let calls = self.processes[who].calls.len() as u64;
        if calls > 0 {
            let (at, fate) = (self.random.below(calls) as usize, self.fate());
            self.carry_on(who, at, fate);
        }
    }

    fn callers_go_on(&mut self, who: usize) {
        let halves = self.processes[who].halves.len() as u64;
        let half = match halves > 0 && self.one_in(2) {
            true => self.processes[who].halves.remove(self.random.below(halves) as usize),
            false => {
                let tag = self.random.pick(self.scenario.tags);
                let count = self.random.pick(&[1, 1, 1, 2, 5, 30]);
                self.ask(who, tag, count)
            }
        };
        if self.processes[who].waits.len() > 12 {
            return;
        }
        match self.one_in(4) {
            true => self.takes_some(who, half),
            false => _ = self.go_on(who, half),
        }
    }

    /// A caller takes once from the buffer, and is then interrupted.
    fn takes_some(&mut self, who: usize, mut half: Half) {
        let process = &mut self.processes[who];
        let Some((_, buffer)) = process.tag(&half.tag) else { return };
        let left = half.count - half.runs.iter().map(|run| run.count).sum::<usize>();
        if let Ok((run, _)) = buffer.take_many(left.min(3)) {
            half.runs.push(run);
        }
        process.halves.push(half);
    }

    fn collect_some(&mut self, who: usize) {
        self.collect_ranges(who);
        let only_woken = !self.one_in(4);
        let waits = self.processes[who].waits.iter().filter(|(_, waits)| waits.is_woken || !only_woken);
        let tickets: Vec<Ticket> = waits.map(|(ticket, _)| *ticket).collect();
        for ticket in tickets {
            self.collect(who, ticket);
        }
    }

    fn time_passes(&mut self, who: usize) {
        let ms = self.random.pick(&[0, 0, 1, 1, 5, 20, 100, 300, 800]);
        self.pass(Duration::from_millis(ms));
        if self.one_in(20) {
            // A clock that is set, or leaps for years.
            let random = &mut self.random;
            let leap_ms = random.pick(&[-3_000, 3_000, -86_400_000, 315_360_000_000]);
            self.processes[who].skew_ms += leap_ms;
        }
        if self.one_in(100) {
            // The world sleeps.
            self.pass(Duration::from_secs(3_600));
        }
    }

    /// A caller goes away.
    fn gives_up(&mut self, who: usize) {
        let clocks = self.clocks(who);
        let tickets: Vec<Ticket> = self.processes[who].waits.keys().copied().collect();
        if tickets.is_empty() {
            return;
        }
        let ticket = self.random.pick(&tickets);
        let process = &mut self.processes[who];
        process.supply.cancel(ticket, clocks);
        let waits = process.waits.remove(&ticket).expect("it is listed");
        process.gone.push((ticket, "cancelled"));
        self.judge.goes_back(process.number, &waits.tag);
        self.saw("cancelled");
    }

    fn put_back(&mut self, who: usize) {
        let clocks = self.clocks(who);
        let process = &mut self.processes[who];
        let Some((tag, runs)) = process.had.pop() else { return };
        self.judge.put_back(process.number, &tag, &ids_of(&runs));
        let Some((id, _)) = process.tag(&tag) else { return };
        process.supply.put_back(id, &runs, clocks);
        self.saw("put back");
    }

    fn counters_change(&mut self) {
        if self.one_in(2) && !self.scenario.holds_marks {
            let mut random = Random(self.random.next());
            self.counters.restore(&mut random);
            self.saw("restored");
        } else {
            self.counters.raise();
        }
    }

    /// A tag is unused from now on.
    fn forget(&mut self, who: usize) {
        let tag = self.random.pick(self.scenario.tags);
        let process = &mut self.processes[who];
        let is_used = process.waits.values().any(|waits| waits.tag == tag)
            || process.halves.iter().any(|half| half.tag == tag)
            || process.had.iter().any(|(of, _)| of == tag);
        if let Some(id) = process.tags.get(tag).filter(|_| !is_used) {
            process.supply.forget(*id);
            // It may go later, once its fetch ends. Who uses it again asks for it again.
            let is_gone = process.supply.buffer(*id).is_none();
            process.tags.remove(tag);
            self.saw(if is_gone { "forgotten" } else { "to be forgotten" });
        }
    }

    /// A client of a server takes a range past the buffer.
    fn take_range(&mut self, who: usize) {
        let (clocks, tag) = (self.clocks(who), self.random.pick(self.scenario.tags));
        let step = self.random.pick(&[0, 1, 5]);
        let process = &mut self.processes[who];
        let Some((id, _)) = process.tag(tag) else { return };
        let ticket = process.supply.take_range(id, step, 0, TIMEOUT, clocks);
        process.ranges.insert(ticket, tag.to_owned());
    }

    /// Collects the ranges that came.
    fn collect_ranges(&mut self, who: usize) {
        for (ticket, tag) in self.processes[who].ranges.clone() {
            let collected = self.processes[who].supply.collect(ticket);
            if collected == Collected::Waits {
                continue;
            }
            self.processes[who].ranges.remove(&ticket);
            self.processes[who].gone.push((ticket, "a range"));
            if let Collected::Range(Fetched { segment, .. }) = collected {
                let ids: Vec<i64> = (0..segment.len()).filter_map(|at| segment.id(at)).collect();
                let number = self.processes[who].number;
                let begun = self.judge.begins(number, &tag);
                self.judge.issued(number, &tag, &ids, begun, false);
                self.saw("a range");
            }
        }
    }

    pub(crate) fn close(&mut self, who: usize) {
        let clocks = self.clocks(who);
        let process = &mut self.processes[who];
        process.supply.close(clocks);
        process.is_closing = true;
        process.calls.iter_mut().for_each(|call| call.is_abandoned = true);
        self.saw("closed");
    }
}
