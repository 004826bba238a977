//! The places of processes besides a machine's own disk: network namespaces, whose host locks the machine does not see, and
//! pods, which move to another machine without their files.

use super::machine::{Draw, Machine};
use super::snowflakes::Unit;
use super::{DISKS, Simulation};
use crate::SnowflakeBuilder;
use leafid_core::Layout;
use leafid_core::options::deployment::{FilesystemKind, Scope};
use std::sync::Arc;

/// How far ahead of the clock a lost record may have been, and how far clocks may differ by `no_record_wait_ms`.
pub(crate) const WAITS_MS: i64 = 20_000;
/// The first worker id of pods.
const PODS: i64 = 50;
/// The first worker id of namespaces, with some ids for each machine.
const NAMESPACES: i64 = 64;

/// Where the processes of a unit run, one after another.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Home {
    /// On one machine, or in one namespace of it.
    Stays,
    /// Each starts on its own machine, with an empty disk. After this time by any clock, it is known how far the clock
    /// of the last machine was ahead.
    Moves { waits_ms: i64 },
    /// As [`Home::Stays`], without records.
    Forgets,
}

impl Home {
    /// How far a clock may be below the highest reading of an earlier process for a safe start.
    fn bridged_ms(self) -> i64 {
        match self {
            Home::Moves { waits_ms } => waits_ms - super::faults::FORGETS_MS,
            _ => -1,
        }
    }
}

fn unit(
    machine: &Arc<Machine>,
    layout: Layout,
    home: Home,
    builder: SnowflakeBuilder,
    draw: &mut Draw,
) -> Unit {
    let unit = Unit::with(machine, builder, false, layout, draw);
    Unit { home, ..unit }
}

/// The units of these places.
pub(crate) fn units(machines: &[Arc<Machine>], layout: Layout, draw: &mut Draw) -> Vec<Unit> {
    let builder = crate::Snowflake::builder;
    let mut units = Vec::new();
    for (waits_ms, pod) in [(0, PODS), (WAITS_MS, PODS + 1), (WAITS_MS, PODS + 2)] {
        let machine = machines[0].apart(FilesystemKind::Local, Scope::Container);
        let pod = builder().worker(pod as u32).no_record_wait_ms(waits_ms);
        units.push(unit(&machine, layout, Home::Moves { waits_ms }, pod, draw));
    }
    for (at, machine) in machines.iter().enumerate().take(DISKS) {
        let apart = machine.apart(FilesystemKind::Local, Scope::OwnNetwork);
        let first = (NAMESPACES + 4 * at as i64) as u32;
        let given = builder().worker(first..=first + 2).exclusive_range(true);
        // The range of the machine's own processes, which see none of its locks: refused, whatever the environment
        // says.
        let others = builder().worker(8 * at as u32..=8 * at as u32 + 3).exclusive_range(false);
        for builder in [given.clone(), given, others] {
            units.push(unit(&apart, layout, Home::Stays, builder, draw));
        }
        let forgets = builder().worker(first + 3).persist(false);
        units.push(unit(&apart, layout, Home::Forgets, forgets, draw));
    }
    units
}

impl Simulation {
    /// Whether the next process of a unit may start. If the unit moves, this is on another machine.
    pub(crate) fn may_start(&mut self, at: usize) -> bool {
        let unit = &mut self.snowflakes[at];
        if unit.home == Home::Stays {
            let machine = unit.machine.number;
            return self.is_open(machine);
        }
        if let Home::Moves { .. } = unit.home {
            let node = &self.machines.0[self.draw.below(DISKS as i64) as usize];
            unit.machine = node.apart(FilesystemKind::Local, Scope::Container);
        }
        let safe = unit.machine.now_ms() + unit.home.bridged_ms() > unit.highest_ms;
        if safe && unit.highest_ms > 0 && unit.home != Home::Forgets {
            let behind = unit.machine.now_ms() < unit.highest_ms;
            self.count(if behind { "pod moved to a clock behind" } else { "pod moved" });
        }
        safe
    }
}
