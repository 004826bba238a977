//! The machines, their clocks, and the environment of their processes.

use super::disk::{File, ProcessDisk};
use crate::os::clock::{Clock, ClockReader};
use crate::os::env::{Env, Random};
use crate::os::mutex::lock;
use leafid_core::ClockFilter;
use leafid_core::options::deployment::{FileSystem, FilesystemKind, Scope};
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub(crate) const START_MS: i64 = 1_700_000_000_000;
const MS: i64 = 1_000_000;

/// Pseudo-random decisions from a seed.
#[derive(Clone)]
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) fn new(seed: u64) -> Draw {
        Draw(seed ^ 0x5851_f42d_4c95_7f2d)
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, end: i64) -> i64 {
        (self.number() % end as u64) as i64
    }

    /// As [`Draw::below`], but one in eight is at a boundary: the smallest, the largest, or beside them.
    pub(crate) fn amount(&mut self, end: i64) -> i64 {
        match self.below(8) {
            0 => self.of(&[0, 1, end - 2, end - 1]).clamp(0, end - 1),
            _ => self.below(end),
        }
    }

    /// True once in `many` times on average.
    pub(crate) fn one_in(&mut self, many: i64) -> bool {
        self.below(many) == 0
    }

    pub(crate) fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as i64) as usize]
    }
}

struct MachineClock {
    now_ns: AtomicI64,
    counted_ns: AtomicI64,
    /// Parts per million.
    drift: i64,
    boots: AtomicI64,
}

/// A machine: clocks, a disk, and the host locks of the held worker ids.
pub(crate) struct Machine {
    pub(crate) number: usize,
    clock: Arc<MachineClock>,
    /// The processes that see the host locks taken here.
    pub(crate) scope: Scope,
    pub(crate) file_system: Mutex<FileSystem>,
    pub(crate) files: Mutex<BTreeMap<PathBuf, Arc<Mutex<File>>>>,
    /// The unsynced changes of its directories: a name that is new or gone, with what a power cut may restore there.
    pub(crate) names: Mutex<BTreeMap<PathBuf, Option<Arc<Mutex<File>>>>>,
    /// Each host lock with the number of its process.
    pub(crate) host_locks: Mutex<BTreeMap<(String, u32), u64>>,
    /// Writes fail: the disk is full or broken.
    pub(crate) failing: AtomicBool,
    /// Whether writes and syncs also fail by themselves now and then.
    wears_out: bool,
    /// The number of those that did.
    pub(crate) failures: AtomicI64,
    /// Writes take until it ends.
    pub(crate) hanging: AtomicBool,
    /// leafid's own code panics where it uses the disk.
    pub(crate) panicking: AtomicBool,
}

impl Machine {
    pub(crate) fn new(number: usize, kind: FilesystemKind, draw: &mut Draw) -> Arc<Machine> {
        let clock = MachineClock {
            now_ns: AtomicI64::new((START_MS + draw.below(4_000)) * MS),
            counted_ns: AtomicI64::new(draw.below(1_000_000) * MS),
            drift: draw.below(401) - 200,
            boots: AtomicI64::new(0),
        };
        Machine::with(number, Arc::new(clock), kind, Scope::Host, true)
    }

    /// A machine that does only what it is told to do.
    pub(crate) fn obedient() -> Arc<Machine> {
        let clock = MachineClock {
            now_ns: AtomicI64::new(START_MS * MS),
            counted_ns: AtomicI64::default(),
            drift: 0,
            boots: AtomicI64::default(),
        };
        Machine::with(0, Arc::new(clock), FilesystemKind::Local, Scope::Host, false)
    }

    /// A part of the machine with its own host locks and disk: a namespace or a container.
    pub(crate) fn apart(&self, kind: FilesystemKind, scope: Scope) -> Arc<Machine> {
        Machine::with(self.number, Arc::clone(&self.clock), kind, scope, self.wears_out)
    }

    fn with(
        number: usize,
        clock: Arc<MachineClock>,
        kind: FilesystemKind,
        scope: Scope,
        wears_out: bool,
    ) -> Arc<Machine> {
        let name = if kind == FilesystemKind::Ephemeral { "overlay" } else { "ext4" };
        Arc::new(Machine {
            number,
            clock,
            scope,
            file_system: Mutex::new(FileSystem { name: name.into(), kind }),
            files: Mutex::default(),
            names: Mutex::default(),
            host_locks: Mutex::default(),
            failing: AtomicBool::new(false),
            wears_out,
            failures: AtomicI64::new(0),
            hanging: AtomicBool::new(false),
            panicking: AtomicBool::new(false),
        })
    }

    pub(crate) fn kind(&self) -> FilesystemKind {
        lock(&self.file_system).kind
    }

    /// The clock in whole milliseconds.
    pub(crate) fn now_ms(&self) -> i64 {
        self.clock.now_ns.load(Relaxed) / MS
    }

    pub(crate) fn step_clock(&self, by_ms: i64) {
        self.clock.now_ns.fetch_add(by_ms * MS, Relaxed);
    }

    /// Starts again after a power cut.
    pub(crate) fn boot_id(&self) {
        self.clock.boots.fetch_add(1, Relaxed);
        self.clock.counted_ns.store(0, Relaxed);
        lock(&self.host_locks).clear();
    }
}

/// All machines. Time passes equally on all of them.
#[derive(Clone)]
pub(crate) struct Machines(pub(crate) Arc<Vec<Arc<Machine>>>);

impl Machines {
    pub(crate) fn pass(&self, ms: i64) {
        for machine in self.0.iter() {
            let clock = &machine.clock;
            clock.now_ns.fetch_add(ms * (MS + clock.drift), Relaxed);
            clock.counted_ns.fetch_add(ms * MS, Relaxed);
        }
    }
}

/// The environment of a process: its number, its end, and its filtered clock.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) machines: Machines,
    pub(crate) machine: Arc<Machine>,
    pub(crate) fate: Arc<Fate>,
    line: Arc<ClockFilter>,
}

/// When a process is killed in the middle of an action.
pub(crate) struct Fate {
    pub(crate) number: u64,
    dead: AtomicBool,
    /// The number of writes and syncs that still succeed; below 0 all do.
    left: AtomicI64,
    pub(crate) draw: Mutex<Draw>,
}

impl Fate {
    pub(crate) fn arm(&self, left: i64) {
        self.left.store(left, Relaxed);
    }

    pub(crate) fn kill(&self) {
        self.dead.store(true, Relaxed);
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.dead.load(Relaxed)
    }

    /// Errors: the process was killed before.
    pub(crate) fn alive(&self) -> io::Result<()> {
        if self.is_dead() { Err(killed()) } else { Ok(()) }
    }

    /// A point where a process may be killed. Returns whether it is.
    pub(crate) fn ends_here(&self) -> bool {
        let left = self.left.load(Relaxed);
        self.left.store((left - 1).max(-1), Relaxed);
        if left == 0 {
            self.kill();
        }
        left == 0
    }

    pub(crate) fn below(&self, end: i64) -> i64 {
        lock(&self.draw).below(end)
    }

    pub(crate) fn amount(&self, end: i64) -> i64 {
        lock(&self.draw).amount(end)
    }
}

impl World {
    /// Whether a write or a sync fails here.
    pub(crate) fn fails(&self) -> bool {
        let now_and_then = self.machine.wears_out && self.fate.below(50) == 0;
        self.machine.failures.fetch_add(i64::from(now_and_then), Relaxed);
        now_and_then || self.machine.failing.load(Relaxed)
    }
}

pub(crate) fn killed() -> io::Error {
    io::Error::other("the process was killed")
}

impl World {
    /// A new process. A forked child continues with its parent's `line`.
    pub(crate) fn new(
        machines: &Machines,
        machine: &Arc<Machine>,
        number: u64,
        seed: u64,
        line: Option<&World>,
    ) -> World {
        let draw = Mutex::new(Draw::new(seed));
        let (dead, left) = (AtomicBool::new(false), AtomicI64::new(-1));
        World {
            machines: machines.clone(),
            machine: Arc::clone(machine),
            fate: Arc::new(Fate { number, dead, left, draw }),
            line: line.map_or_else(|| Arc::new(ClockFilter::new()), |parent| Arc::clone(&parent.line)),
        }
    }

    pub(crate) fn env(&self) -> Env {
        Env {
            clock: Clock::Other(Arc::new(self.clone()), Arc::clone(&self.line)),
            disk: Box::new(ProcessDisk(self.clone())),
            random: Box::new(self.clone()),
            built_ms: 0,
        }
    }
}

impl ClockReader for World {
    #[inline]
    fn now_ns(&self) -> i64 {
        self.machine.now_ms() * MS
    }
    fn boot_time(&self) -> Duration {
        Duration::from_millis((self.machine.clock.counted_ns.load(Relaxed) / MS) as u64)
    }
    fn boot_id(&self) -> String {
        format!("machine {} start {}", self.machine.number, self.machine.clock.boots.load(Relaxed))
    }
    fn sleep(&self, time: Duration) {
        self.machines.pass((time.as_micros() as i64 + 999).max(1_000) / 1_000);
    }
}

impl Random for World {
    fn number(&self) -> io::Result<u128> {
        let mut draw = lock(&self.fate.draw);
        Ok(u128::from(draw.number()) << 64 | u128::from(draw.number()))
    }
}
