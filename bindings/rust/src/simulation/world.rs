//! A simulated machine whose clock and disk the tests control.

use super::machine::{self, Machine, Machines};
use super::*;
use crate::worker::worker_ids::Worker;
use std::sync::atomic::AtomicU64;

pub(super) use super::machine::START_MS;

/// The world of one machine: the state that survives a crash.
pub(super) struct World {
    pub(super) machine: Arc<Machine>,
    /// The processes that were not killed yet.
    living: Mutex<Vec<machine::World>>,
    number: AtomicU64,
}

impl World {
    pub(super) fn new() -> World {
        World { machine: Machine::obedient(), living: Mutex::default(), number: AtomicU64::new(1) }
    }

    pub(super) fn pass(&self, ms: i64) {
        self.machines().pass(ms);
    }

    fn machines(&self) -> Machines {
        Machines(Arc::new(vec![Arc::clone(&self.machine)]))
    }

    /// Stores this record of worker id 7.
    pub(super) fn record(&self, record: Record) {
        let writer = leafid_core::format::state::Writer::default();
        let stored =
            leafid_core::format::state::StoredRecord { number: 0, name: "default".into(), record, writer };
        let path = crate::storage::state_file::path_of(Path::new("/simulated/default"), 7);
        let bytes = leafid_core::format::state::unused_file(stored).unwrap().to_vec();
        self.machine.place(&path, bytes, 0, false);
    }

    /// The files as every process sees them.
    pub(super) fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let files = lock(&self.machine.files);
        files.iter().map(|(path, file)| (path.clone(), lock(file).bytes.clone())).collect()
    }

    /// The environment of a process of this world.
    pub(super) fn env(&self) -> Env {
        self.env_until(-1)
    }

    /// That of a process that is killed after so many writes and syncs; below 0 it is not.
    pub(super) fn env_until(&self, left: i64) -> Env {
        let number = self.number.fetch_add(1, SeqCst);
        let process = machine::World::new(&self.machines(), &self.machine, number, number, None);
        process.fate.arm(left);
        let env = process.env();
        lock(&self.living).push(process);
        env
    }

    /// A process of this world. Those before end, as by a kill.
    pub(super) fn process(&self) -> Process {
        lock(&self.living).drain(..).for_each(|process| process.fate.kill());
        self.machine.unlock_all();
        let env = self.env();
        let again = Env { clock: env.clock.clone(), ..self.env() };
        Process(Registry::new(env.into()), again)
    }
}

fn settings(builder: SnowflakeBuilder) -> SnowflakeSettings {
    SnowflakeSettings::parse(&builder.state_dir("/simulated").options).unwrap()
}

pub(super) struct Process(Registry, Env);

impl Process {
    pub(super) fn open(&self, builder: SnowflakeBuilder) -> Result<Open> {
        self.open_worker(7..=7, builder)
    }

    /// An opening whose caller is interrupted. Returns its error.
    pub(super) fn interrupted(&self, builder: SnowflakeBuilder) -> Error {
        let settings = Arc::new(settings(builder.worker(7..=7)));
        self.0.open(&settings, None, &mut || true).err().unwrap()
    }

    pub(super) fn open_worker(&self, worker: impl Into<Worker>, builder: SnowflakeBuilder) -> Result<Open> {
        let settings = Arc::new(settings(builder.worker(worker)));
        Ok(Open { generator: self.0.open(&settings, None, &mut || false)?, settings })
    }

    pub(super) fn reset(&self) -> Result<crate::worker::reset::Reset> {
        crate::worker::reset::reset(&self.1, &settings(Snowflake::builder().worker(7)), 7)
    }
}

pub(super) struct Open {
    pub(super) generator: Generator,
    pub(super) settings: Arc<SnowflakeSettings>,
}

impl Open {
    pub(super) fn next(&self) -> Result<i64> {
        let mut never = || false;
        let mut wait = Wait::new(&self.settings, &mut never);
        loop {
            // After a lost lease it is another one.
            let generator = Generator::of(&self.generator.driver).unwrap();
            match generator.core.next(generator.now_ms()) {
                Ok(id) => return Ok(id),
                Err(action) => wait.until_done(&generator, action)?,
            }
        }
    }

    pub(super) fn next_ms(&self) -> i64 {
        leafid_core::Layout::LEAF.decode(self.next().unwrap()).unwrap().timestamp_ms
    }
}
