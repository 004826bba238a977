//! The schedule: chooses what happens next, turn by turn.

use super::faults::Flavour;
use super::homes::Home;
use super::machine::Draw;
use super::segments::Asks;
use super::{CONTAINERS, MOST_UNITS, Simulation};
use crate::FetchRequest;
use crate::os::simulated;
use leafid_core::Code;
use std::sync::Arc;

impl Simulation {
    /// Plays one of the possible next events.
    pub(crate) fn turn(&mut self) -> Result<(), String> {
        let passes_ms = match self.draw.below(100) {
            0 => self.draw.amount(5_000),
            1..=9 => self.draw.amount(300),
            _ => self.draw.below(6),
        };
        self.pass(passes_ms);
        if self.draw.one_in(12) {
            let at = self.draw.below(CONTAINERS as i64 + 1) as usize;
            self.tidy(at);
            self.trouble(at);
        }
        if self.draw.one_in(40) {
            self.come_to_a_boundary()?;
        }
        if self.draw.one_in(60) {
            self.fork_among_segments()?;
        }
        if self.draw.one_in(500) {
            let down = self.draw.one_in(2);
            self.lease_server.set_down(down);
            self.count("lease server away or back");
        }
        if self.draw.one_in(300) {
            let at = self.draw.below(self.ranges.len() as i64) as usize;
            self.ranges[at].lies = !self.ranges[at].lies;
        }
        if self.draw.one_in(20) {
            self.all_at_once()?;
        }
        if self.draw.one_in(40) {
            self.leases_are_renewed()?;
        }
        match self.draw.below(5) {
            0 => self.turn_of_segments(),
            _ => self.turn_of_flakes(),
        }
    }

    /// All processes issue a few ids in each of many ticks.
    fn all_at_once(&mut self) -> Result<(), String> {
        for _ in 0..self.draw.below(200) {
            self.pass(1);
            for unit in &mut self.snowflakes {
                if let Some(process) = &mut unit.running
                    && self.now_ms >= process.stopped_until_ms
                {
                    process.issue_few(&mut self.issued, self.now_ms)?;
                }
            }
            for (number, generator) in &self.lingering {
                simulated::play(*number);
                if let Ok(run) = generator.core.reserve(generator.now_ms(), 100) {
                    self.issued.snowflakes(generator.core.layout(), generator.worker_id(), run)?;
                }
            }
        }
        Ok(())
    }

    /// Time passes. Each holder of a lease runs often enough to renew it again and again.
    fn leases_are_renewed(&mut self) -> Result<(), String> {
        for _ in 0..self.draw.below(60) {
            self.pass(400);
            for unit in self.snowflakes.iter_mut().filter(|unit| unit.leased) {
                if let Some(process) = &mut unit.running
                    && self.now_ms >= process.stopped_until_ms
                {
                    process.background(self.now_ms);
                    process.issue_few(&mut self.issued, self.now_ms)?;
                }
            }
        }
        Ok(())
    }

    /// Time passes until the end of a span or a lease, to the millisecond before or after it. Then ids are issued
    /// there.
    fn come_to_a_boundary(&mut self) -> Result<(), String> {
        let at = self.draw.below(self.snowflakes.len() as i64) as usize;
        let beside = self.draw.of(&[-1, 0, 1]);
        let Some(process) = &self.snowflakes[at].running else { return Ok(()) };
        let generator = process.newest();
        let core = &generator.core;
        let span_ms = core.layout().tick_start_ms(core.until()) - self.snowflakes[at].machine.now_ms();
        let of_lease = self.draw.one_in(2);
        let wait_ms =
            if of_lease { self.lease_server.until_boundary(&mut self.draw) } else { span_ms } + beside;
        if !(1..20_000).contains(&wait_ms) {
            return Ok(());
        }
        self.pass(wait_ms);
        self.count("clock comes to a boundary");
        let (issued, draw, now_ms) = (&mut self.issued, &mut self.draw, self.now_ms);
        match &mut self.snowflakes[at].running {
            Some(process) if now_ms >= process.stopped_until_ms => process.issue(draw, issued, now_ms),
            _ => Ok(()),
        }
    }

    fn turn_of_flakes(&mut self) -> Result<(), String> {
        let at = self.draw.below(self.snowflakes.len() as i64) as usize;
        if self.snowflakes[at].running.is_none() {
            return self.start_flake(at);
        }
        let (draw, now_ms) = (&mut self.draw, self.now_ms);
        let (unit, issued) = (&mut self.snowflakes[at], &mut self.issued);
        if let Some(process) = &mut unit.running {
            if now_ms < process.stopped_until_ms {
                return Ok(());
            }
            if !draw.one_in(8) {
                process.background(now_ms);
            }
            if !process.world.fate.is_dead() {
                process.issue(draw, issued, now_ms)?;
            }
            // Where no records are removed.
            if self.flavour == Flavour::Clocks
                && draw.one_in(4)
                && !process.world.fate.is_dead()
                && !process.is_durable()
            {
                return Err(format!(
                    "worker id {} may use what is not durable",
                    process.generator.worker_id()
                ));
            }
            if process.world.fate.is_dead() {
                unit.kill();
                self.ended(at, "killed at a write");
                return Ok(());
            }
        }
        match draw.below(200) {
            0..=1 => {
                self.snowflakes[at].kill();
                self.ended(at, "killed");
            }
            2..=3 => {
                let closed = self.snowflakes[at].close();
                if self.lingering.len() < 4 || self.draw.one_in(2) {
                    self.lingering.truncate(3);
                    self.lingering.splice(0..0, closed);
                }
                self.ended(at, "closed");
            }
            4 => {
                let until_ms = now_ms + self.draw.amount(30_000);
                if let Some(process) = &mut self.snowflakes[at].running {
                    process.stopped_until_ms = until_ms;
                }
                self.count("stopped and continued");
            }
            5 if self.snowflakes.len() < MOST_UNITS && self.snowflakes[at].home == Home::Stays => {
                self.fork(at)?
            }
            _ => {}
        }
        Ok(())
    }

    fn start_flake(&mut self, at: usize) -> Result<(), String> {
        if self.now_ms < self.snowflakes[at].starts_at_ms || !self.may_start(at) {
            return Ok(());
        }
        let doomed = self.draw.one_in(3);
        let machine = Arc::clone(&self.snowflakes[at].machine);
        let world = self.world(&machine, doomed);
        if let Err(refused) = self.snowflakes[at].start(world.clone()) {
            world.fate.kill();
            if refused.code() == Code::InvalidArgument {
                self.count("range refused where its locks are not seen");
            }
            let dead_child = self.snowflakes[at].child;
            self.snowflakes[at].starts_at_ms = self.now_ms + self.draw.below(4_000);
            if dead_child {
                self.snowflakes.remove(at);
            }
        }
        Ok(())
    }

    /// A process has ended. A container's record is removed with it. A child is not started again.
    fn ended(&mut self, at: usize, how: &'static str) {
        self.count(how);
        let unit = &mut self.snowflakes[at];
        unit.starts_at_ms = self.now_ms + if self.draw.one_in(3) { self.draw.amount(10_000) } else { 0 };
        if unit.machine.number == CONTAINERS {
            unit.machine.forget_all();
            self.closed_until_the_highest(CONTAINERS);
        }
        if self.snowflakes[at].child {
            self.snowflakes.remove(at);
        }
    }

    fn fork(&mut self, at: usize) -> Result<(), String> {
        self.count("forked");
        self.processes += 1;
        let child = self.snowflakes[at].fork(self.processes, self.draw.number(), &self.machines);
        if let Some(mut child) = child {
            child.child_uses_its_copy(&mut self.issued)?;
            // Its parent continues at the same ticks.
            if let Some(parent) = &mut self.snowflakes[at].running {
                parent.issue(&mut self.draw, &mut self.issued, self.now_ms)?;
            }
            self.snowflakes.push(child);
        }
        Ok(())
    }

    fn turn_of_segments(&mut self) -> Result<(), String> {
        let at = self.draw.below(self.segment_users.len() as i64) as usize;
        let (space, machine) =
            (self.segment_users[at].space(&self.ranges), self.segment_users[at].machine.number);
        if self.segment_users[at].running.is_none() {
            if self.now_ms >= self.segment_users[at].starts_at_ms {
                let doomed = self.draw.one_in(3);
                let world = self.world(&Arc::clone(&self.machines.0[machine]), doomed);
                let tag = self.draw.one_in(12).then_some(self.now_ms / 20_000);
                let started = self.segment_users[at].start(world.clone(), &self.ranges, tag);
                if matches!(started, Ok(true)) {
                    self.count("rest taken up");
                }
                if started.is_err() {
                    world.fate.kill();
                    self.segment_users[at].starts_at_ms = self.now_ms + self.draw.below(1_000);
                } else if self.draw.one_in(4) {
                    self.put_back(machine, &Arc::clone(&self.machines.0[machine]));
                }
            }
            return Ok(());
        }
        let (unit, ranges, faults) = (&mut self.segment_users[at], &mut self.ranges, &mut self.faults);
        let Some(issuer) = &mut unit.running else { return Ok(()) };
        let mut draw = Draw::new(self.draw.number());
        let asks = unit.asks;
        let mut ask = |request: &FetchRequest| match asks {
            Asks::Ranges(of) => ranges[of]
                .ask(machine, request, &mut draw, &mut |fault| *faults.entry(fault).or_default() += 1),
            Asks::File => None,
        };
        issuer.issue(&mut ask, &mut self.draw, space, &mut self.issued, self.now_ms)?;
        if issuer.world.fate.is_dead() || self.draw.one_in(100) {
            unit.kill();
            self.count("killed");
        } else if self.draw.one_in(80) {
            unit.close(space, &mut self.issued)?;
            self.count("closed");
            if self.flavour == Flavour::Files {
                self.copy_mark(machine);
            }
        }
        Ok(())
    }
}
