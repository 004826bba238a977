//! Processes that issue snowflake ids with the host's own code, from the opening to the close.

use super::homes::Home;
use super::issued::IssuedIds;
use super::lease_server::{Client, LeaseServer};
use super::machine::{Draw, Machine, Machines, World};
use crate::os::simulated::{self, Action as Left};
use crate::snowflake::generator::Generator;
use crate::snowflake::registry::Registry;
use crate::worker::settings::SnowflakeSettings;
use crate::{Snowflake, SnowflakeBuilder, WorkerSource};
use leafid_core::options::deployment::FilesystemKind;
use leafid_core::{Code, Error, Layout, OnClockBackwards, OnExhausted, Run};
use std::sync::Arc;

/// A unit: starts processes with the same settings, one after another.
pub(crate) struct Unit {
    pub(crate) settings: Arc<SnowflakeSettings>,
    pub(crate) machine: Arc<Machine>,
    /// Whether its worker ids are leased.
    pub(crate) leased: bool,
    pub(crate) running: Option<Process>,
    /// The time of its next start, by the time of the simulation.
    pub(crate) starts_at_ms: i64,
    /// The number of starts in a row that were refused because of the clock.
    pub(crate) refused: u32,
    /// Whether it is a forked child, which is not started again.
    pub(crate) child: bool,
    /// The worker id of its parent.
    pub(crate) parents: Option<u32>,
    pub(crate) home: Home,
    /// The highest reading of its processes' clocks.
    pub(crate) highest_ms: i64,
}

pub(crate) struct Process {
    pub(crate) world: World,
    pub(crate) registry: Registry,
    pub(crate) generator: Generator,
    pub(crate) flake: Snowflake,
    /// The running calls of the lease server, and the time of each one's turn.
    pub(crate) calls: Vec<(i64, Left)>,
    /// A reading of the clock by a thread that then slept.
    pub(crate) old_ms: i64,
    /// The highest reading of its clock.
    pub(crate) highest_ms: i64,
    pub(crate) stopped_until_ms: i64,
}

/// The result of one turn.
pub(crate) type Turn = Result<(), String>;

impl Unit {
    pub(crate) fn new(settings: SnowflakeSettings, machine: &Arc<Machine>, leased: bool) -> Unit {
        Unit {
            settings: Arc::new(settings),
            machine: Arc::clone(machine),
            leased,
            running: None,
            starts_at_ms: 0,
            refused: 0,
            child: false,
            parents: None,
            home: Home::Stays,
            highest_ms: 0,
        }
    }

    /// A unit of this machine, with options from a draw.
    pub(crate) fn of(
        machine: &Arc<Machine>,
        ids: [i64; 2],
        lease_server: Option<&Arc<LeaseServer>>,
        layout: Layout,
        draw: &mut Draw,
    ) -> Unit {
        let builder = match lease_server {
            Some(lease_server) => {
                Snowflake::builder().worker(WorkerSource::leases(Client::new(lease_server, machine.number)))
            }
            None => Snowflake::builder().worker(ids[0] as u32..=ids[1] as u32),
        };
        Unit::with(machine, builder, lease_server.is_some(), layout, draw)
    }

    /// A unit with the worker ids of the builder. A draw decides the rest.
    pub(crate) fn with(
        machine: &Arc<Machine>,
        builder: SnowflakeBuilder,
        leased: bool,
        layout: Layout,
        draw: &mut Draw,
    ) -> Unit {
        let wait = draw.one_in(4);
        let (backwards, borrow) =
            if wait { (OnClockBackwards::Wait, false) } else { (OnClockBackwards::Continue, draw.one_in(3)) };
        let forgets = SnowflakeSettings::parse(&builder.options).is_ok_and(|said| !said.options.persist);
        let ephemeral = forgets || machine.kind() == FilesystemKind::Ephemeral;
        let builder = builder
            .state_dir("/simulated")
            .layout(layout)
            .on_clock_backwards(backwards)
            .on_exhausted(if borrow && !ephemeral { OnExhausted::Borrow } else { OnExhausted::Wait })
            .random_start(draw.of(&[0, 100]));
        let settings = SnowflakeSettings::parse(&builder.options);
        Unit::new(settings.unwrap_or_else(|error| panic!("{error}")), machine, leased)
    }

    /// Starts a process. Errors: why it was refused.
    pub(crate) fn start(&mut self, world: World) -> Result<(), Error> {
        simulated::play(world.fate.number);
        let registry = Registry::new(world.env().into());
        let opened = registry.open(&self.settings, self.parents, &mut || false);
        let started = opened.and_then(|generator| match world.fate.is_dead() {
            true => Err(Error::new(Code::Internal, "killed")),
            false => Ok(generator),
        });
        let started = started.map(|generator| {
            let (flake, old_ms) = (Snowflake::of(generator.clone()), world.machine.now_ms());
            Process {
                world,
                registry,
                generator,
                flake,
                calls: Vec::new(),
                old_ms,
                highest_ms: old_ms,
                stopped_until_ms: 0,
            }
        });
        self.refused = match &started {
            Err(error) if error.code() == Code::ClockBackwards => self.refused + 1,
            _ => 0,
        };
        self.running = Some(started?);
        Ok(())
    }

    /// A fork of it: a child with a copy of the generator, which it must not use.
    pub(crate) fn fork(&self, number: u64, seed: u64, machines: &Machines) -> Option<Unit> {
        let parent = self.running.as_ref()?;
        let world = World::new(machines, &self.machine, number, seed, Some(&parent.world));
        simulated::play(parent.world.fate.number);
        let copied = parent.copy()?;
        let mut child = Unit::new(SnowflakeSettings::clone(&self.settings), &self.machine, self.leased);
        child.home = self.home;
        (child.child, child.parents) = (true, Some(parent.generator.worker_id()));
        child.running = Some(Process {
            registry: Registry::new(world.env().into()),
            flake: Snowflake::of(copied.clone()),
            generator: copied,
            world,
            calls: Vec::new(),
            old_ms: 0,
            highest_ms: 0,
            stopped_until_ms: 0,
        });
        Some(child)
    }

    /// The child asks for ids before it has its own generator. Ids from the copy would be its parent's.
    pub(crate) fn child_uses_its_copy(&mut self, issued: &mut IssuedIds) -> Turn {
        let Some(process) = &mut self.running else { return Ok(()) };
        simulated::play(process.world.fate.number);
        for _ in 0..4 {
            while let Some(id) = process.flake.try_next() {
                let run = Run { first: id, stride: 1, count: 1 };
                issued.snowflakes(process.generator.core.layout(), process.generator.worker_id(), run)?;
            }
            process.world.machines.pass(1);
        }
        simulated::play(process.generator.driver.generation);
        self.running = None;
        Ok(())
    }

    /// Ends it as a kill does: nothing is written any more.
    pub(crate) fn kill(&mut self) {
        if let Some(process) = self.running.take() {
            self.highest_ms = self.highest_ms.max(process.highest_ms);
            process.world.fate.kill();
            simulated::play(process.generator.driver.generation);
            drop(process);
        }
    }

    /// Closes it. Returns its process and its generator, which no thread can use any more.
    pub(crate) fn close(&mut self) -> Option<(u64, Generator)> {
        let mut process = self.running.take()?;
        self.highest_ms = self.highest_ms.max(process.highest_ms);
        simulated::play(process.world.fate.number);
        process.call_all();
        let generator = process.newest();
        // An error loses the unused ticks.
        let _ = process.registry.close(&generator.driver);
        (!process.world.fate.is_dead()).then(|| (process.world.fate.number, generator))
    }
}
