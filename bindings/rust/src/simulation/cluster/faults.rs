//! The faults of machines: clocks, power, disks, files.
//!
//! They are only faults that the promise covers. After a record was lost or put back, the simulation does what the
//! README requires: nothing starts there before the clock has passed `max_backwards_ms` and three seconds more, and no
//! clock steps back meanwhile. One damaged slot is covered while the clock does not go back. Not simulated: several of
//! these together with such a clock, and a record's lock and a host lock that vanish at once.

use super::Simulation;
use super::homes::Home;
use super::machine::Machine;
use crate::os::mutex::lock;
use crate::os::simulated;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// How far ahead of the clock a lost record may have granted.
pub(crate) const FORGETS_MS: i64 = 8_100;

/// The faults of a machine that are active.
#[derive(Default)]
pub(crate) struct Troubles {
    /// Its clock will be corrected by this much, at this time of the simulation.
    pub(crate) step_back: Option<(i64, i64)>,
    /// The highest reading of its clock, and until when it may not step back by itself.
    pub(crate) highest_ms: i64,
    pub(crate) steady_until_ms: i64,
    /// Nothing starts before this time of its clock.
    pub(crate) closed_until_ms: i64,
    disk_fails_until_ms: i64,
    /// The starts of the leaps that were reset. `copied` is a copy of a file.
    burnt_ms: Vec<i64>,
    pub(crate) copied: Option<(PathBuf, Vec<u8>)>,
    /// A copy of a mark file, and the time of its last change.
    pub(crate) marked: Option<(PathBuf, Vec<u8>, i64)>,
}

/// The faults of a world besides crashes: those of clocks, or those of files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flavour {
    Clocks,
    Files,
}

impl Simulation {
    /// Perhaps causes a fault of a machine.
    pub(crate) fn trouble(&mut self, at: usize) {
        let machine = Arc::clone(&self.machines.0[at]);
        let now_ms = self.now_ms;
        let clock_ms = machine.now_ms();
        let troubles = &mut self.troubles[at];
        troubles.highest_ms = troubles.highest_ms.max(clock_ms);
        if machine.failing.load(Relaxed) && now_ms >= troubles.disk_fails_until_ms {
            machine.failing.store(false, Relaxed);
        }
        if let Some((by_ms, due_ms)) = troubles.step_back
            && now_ms >= due_ms
        {
            troubles.step_back = None;
            let leapt = by_ms.abs() > 60_000;
            machine.step_clock(by_ms);
            if leapt && by_ms < 0 {
                self.reset(at);
            }
        }
        let draw = &mut self.draw;
        if draw.one_in(60) {
            self.cut_power(at);
        } else if draw.one_in(60) {
            machine.failing.store(true, Relaxed);
            self.troubles[at].disk_fails_until_ms = now_ms + draw.below(8_000);
            self.count("disk fails for a while");
        } else if draw.one_in(4) {
            match self.flavour {
                Flavour::Clocks => self.trouble_clock(at, &machine),
                Flavour::Files => self.trouble_files(at, &machine),
            }
        }
    }

    fn cut_power(&mut self, at: usize) {
        self.count("power cut");
        self.kill_all(at);
        let machine = Arc::clone(&self.machines.0[at]);
        machine.cut_power(&mut self.draw);
        machine.boot_id();
        for unit in self.snowflakes.iter().filter(|unit| unit.machine.number == at) {
            unit.machine.cut_power(&mut self.draw);
            lock(&unit.machine.host_locks).clear();
        }
        if self.flavour == Flavour::Clocks
            && at != crate::simulation::cluster::CONTAINERS
            && self.draw.one_in(3)
        {
            // By the clock of its battery.
            machine.step_clock(self.draw.below(4_000) - 3_000);
        }
    }

    fn trouble_clock(&mut self, at: usize, machine: &Machine) {
        let draw = &mut self.draw;
        if self.troubles[at].step_back.is_some() {
            return;
        }
        if at == crate::simulation::cluster::CONTAINERS {
            // The record is removed with the container. Its clock steps back while it runs, and the next one starts at
            // that clock.
            machine.step_clock(-draw.amount(2_000));
            return self.count("clock steps back");
        }
        match draw.below(8) {
            0..=2 => {
                // Exactly the bound, and beside it.
                let bound_ms = draw.of(&[2_999, 3_000, 3_001, 4_999, 5_000, 5_001]);
                machine.step_clock(if draw.one_in(4) { -bound_ms } else { -1 - draw.amount(4_500) });
                self.count("clock steps back");
            }
            3 => {
                machine.step_clock(1 + draw.amount(20_000));
                self.count("clock steps ahead");
            }
            4 => {
                let by_ms = 5_000 + draw.amount(40_000);
                machine.step_clock(-by_ms);
                self.troubles[at].step_back = Some((by_ms, self.now_ms + draw.below(10_000)));
                self.count("clock far back for a while");
            }
            5 => {
                // A leap that ends before it is followed.
                let by_ms = draw.of(&[59_999, 60_000, 60_001, 90_000, 600_000, 86_400_000, 315_360_000_000]);
                machine.step_clock(by_ms);
                self.troubles[at].step_back = Some((-by_ms, self.now_ms + draw.amount(50_000)));
                self.count("clock leaps and comes back");
            }
            _ => self.leap(at, machine),
        }
    }

    /// A leap that lasts until it is followed; or the return to a time that a reset skipped.
    fn leap(&mut self, at: usize, machine: &Machine) {
        let clock_ms = machine.now_ms();
        let (draw, troubles) = (&mut self.draw, &mut self.troubles[at]);
        let skipped = troubles.burnt_ms.iter().copied().find(|&ms| ms > clock_ms);
        let (by_ms, kind) = match skipped.filter(|_| !draw.one_in(4)) {
            Some(burnt_ms) => (burnt_ms - clock_ms - draw.below(3_000), "skipped time comes round"),
            None => (draw.of(&[90_000, 600_000, 86_400_000, 315_360_000_000]), "leap is followed"),
        };
        machine.step_clock(by_ms);
        let stays_ms = 70_000 + draw.below(20_000);
        troubles.step_back = Some((-by_ms, self.now_ms + stays_ms));
        troubles.burnt_ms.push(machine.now_ms());
        self.count(kind);
        // A process detects it before it ends, and few ids are issued meanwhile.
        self.pass(55_000);
    }

    /// The action of an operator for records ahead of the clock: resets them while they have no holder.
    fn reset(&mut self, at: usize) {
        self.kill_all(at);
        let units: Vec<_> = self
            .snowflakes
            .iter()
            .filter(|unit| unit.machine.number == at && unit.home == Home::Stays)
            .collect();
        let Some(settings) = units.first().map(|unit| Arc::clone(&unit.settings)) else { return };
        let machine = Arc::clone(&self.machines.0[at]);
        let ids: Vec<u32> = lock(&machine.files)
            .keys()
            .filter_map(|path| {
                path.file_name()?.to_str()?.strip_prefix("worker-")?.strip_suffix(".state")?.parse().ok()
            })
            .collect();
        for id in ids {
            let world = self.world(&machine, false);
            simulated::play(world.fate.number);
            if crate::worker::reset::reset(&world.env(), &settings, id).is_ok() {
                self.count("record reset");
            }
        }
    }

    /// Without records, the next process starts when the clock has passed its earlier readings, and the start takes
    /// some time.
    pub(crate) fn closed_until_the_highest(&mut self, at: usize) {
        let highest_ms = self.troubles[at].highest_ms.max(self.machines.0[at].now_ms());
        self.troubles[at].closed_until_ms = highest_ms + 1;
    }

    /// Whether processes may start there.
    pub(crate) fn is_open(&self, at: usize) -> bool {
        self.machines.0[at].now_ms() >= self.troubles[at].closed_until_ms
    }
}
