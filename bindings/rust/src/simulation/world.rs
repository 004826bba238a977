//! A simulated machine whose clock and disk the tests control.

use super::*;
use crate::worker::worker_ids::Worker;

pub(super) const START_MS: i64 = 1_700_000_000_000;

/// The world of one machine: the state that survives a crash.
#[derive(Clone)]
pub(super) struct World(pub(super) Arc<State>);

pub(super) struct State {
    pub(super) now_ns: AtomicI64,
    pub(super) monotonic_ns: AtomicI64,
    /// The files as every process sees them.
    pub(super) files: Mutex<BTreeMap<PathBuf, Vec<u8>>>,
    /// The files after a power cut.
    pub(super) durable: Mutex<BTreeMap<PathBuf, Vec<u8>>>,
    /// The time of each file's last write.
    pub(super) changed_ms: Mutex<BTreeMap<PathBuf, i64>>,
    /// Each lock with the number of its holder.
    pub(super) locked: Mutex<BTreeMap<PathBuf, i64>>,
    pub(super) crash: Mutex<Option<Crash>>,
    pub(super) failing: Mutex<Option<io::ErrorKind>>,
    pub(super) hanging: AtomicBool,
    /// Whether leafid's own code panics where it uses the disk.
    pub(super) panicking: AtomicBool,
    pub(super) file_system: Mutex<FileSystem>,
    pub(super) numbers: AtomicI64,
    /// How often the machine was started.
    pub(super) starts: AtomicI64,
}

/// How the next write ends. The process ends with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Crash {
    /// Nothing was written.
    Before,
    /// This number of bytes reached the disk.
    Torn(usize),
    /// All was written, and nothing was made durable.
    Written,
    /// All was made durable, but the process does not know it.
    After,
}

impl World {
    pub(super) fn new() -> World {
        World(Arc::new(State {
            now_ns: AtomicI64::new(START_MS * 1_000_000),
            monotonic_ns: AtomicI64::default(),
            files: Mutex::default(),
            durable: Mutex::default(),
            changed_ms: Mutex::default(),
            locked: Mutex::default(),
            crash: Mutex::default(),
            failing: Mutex::default(),
            hanging: AtomicBool::default(),
            panicking: AtomicBool::default(),
            file_system: Mutex::new(FileSystem { name: "ext4".into(), kind: FilesystemKind::Local }),
            numbers: AtomicI64::default(),
            starts: AtomicI64::default(),
        }))
    }

    pub(super) fn pass(&self, ms: i64) {
        self.0.now_ns.fetch_add(ms * 1_000_000, SeqCst);
        self.0.monotonic_ns.fetch_add(ms * 1_000_000, SeqCst);
    }

    /// As in a process that starts: it accepts the clock as it is.
    pub(super) fn line(&self) -> Arc<ClockFilter> {
        Arc::new(ClockFilter::new())
    }

    fn may_panic(&self) {
        assert!(!self.0.panicking.load(SeqCst), "played");
    }

    pub(super) fn set_clock(&self, by_ms: i64) {
        self.0.now_ns.fetch_add(by_ms * 1_000_000, SeqCst);
    }

    /// Stores this record of worker id 7.
    pub(super) fn record(&self, record: Record) {
        let writer = leafid_core::format::state::Writer::default();
        let stored =
            leafid_core::format::state::StoredRecord { number: 0, name: "default".into(), record, writer };
        let path = crate::storage::state_file::path_of(Path::new("/simulated/default"), 7);
        lock(&self.0.files).insert(path, leafid_core::format::state::unused_file(stored).unwrap().to_vec());
    }

    pub(super) fn fail(&self, kind: Option<io::ErrorKind>) {
        *lock(&self.0.failing) = kind;
    }

    /// Sets how the next write ends.
    pub(super) fn crash_at_next_write(&self, how: Crash) {
        *lock(&self.0.crash) = Some(how);
    }

    /// Ends all processes and drops everything that was not made durable.
    pub(super) fn cut_power(&self) {
        lock(&self.0.locked).clear();
        *lock(&self.0.files) = lock(&self.0.durable).clone();
    }

    /// The environment of a process of this world.
    pub(super) fn env(&self) -> Env {
        Env {
            clock: Clock::Other(Arc::new(self.clone()), self.line()),
            disk: Box::new(self.clone()),
            random: Box::new(self.clone()),
            built_ms: 0,
        }
    }

    /// A process of this world. Its locks end with it, as after a kill.
    pub(super) fn process(&self) -> Process {
        lock(&self.0.locked).clear();
        let env = self.env();
        let again = Env { clock: env.clock.clone(), ..self.env() };
        Process(Registry::new(env.into()), again)
    }
}

pub(super) struct Process(Registry, Env);

fn settings(builder: SnowflakeBuilder) -> SnowflakeSettings {
    SnowflakeSettings::parse(&builder.state_dir("/simulated").options).unwrap()
}

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

impl ClockReader for World {
    fn now_ns(&self) -> i64 {
        self.0.now_ns.load(SeqCst)
    }
    fn boot_time(&self) -> Duration {
        Duration::from_nanos(self.0.monotonic_ns.load(SeqCst) as u64)
    }
    fn boot_id(&self) -> String {
        format!("start {}", self.0.starts.load(SeqCst))
    }
    fn sleep(&self, time: Duration) {
        self.pass((time.as_millis() as i64).max(1));
    }
}

impl Random for World {
    fn number(&self) -> io::Result<u128> {
        let number = self.0.numbers.fetch_add(1, SeqCst) as u128 + 1;
        Ok(number << 64 | number)
    }
}

struct Alone;
impl HostLock for Alone {}

impl Disk for World {
    fn directory(&self, _: &Path, _: FileAccess) -> io::Result<(FileId, FileSystem)> {
        Ok(((0, 0), lock(&self.0.file_system).clone()))
    }
    fn peek(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        self.may_panic();
        Ok(lock(&self.0.files).get(path).cloned())
    }
    fn list(&self, path: &Path) -> io::Result<Vec<OsString>> {
        let files = lock(&self.0.files);
        let inside = files.keys().filter(|file| file.parent() == Some(path));
        Ok(inside.filter_map(|file| Some(file.file_name()?.to_owned())).collect())
    }
    fn open(&self, path: &Path, new: Option<NewFile<'_>>) -> io::Result<Option<Box<dyn LockedFile>>> {
        self.may_panic();
        let missing = !lock(&self.0.files).contains_key(path);
        let initial = match new {
            None if missing => return Err(io::ErrorKind::NotFound.into()),
            None => &[0; FILE_BYTES],
            Some(new) => new.bytes,
        };
        let holder = self.0.numbers.fetch_add(1, SeqCst);
        if *lock(&self.0.locked).entry(path.to_owned()).or_insert(holder) != holder {
            return Ok(None);
        }
        if missing {
            lock(&self.0.files).insert(path.to_owned(), initial.to_vec());
        }
        Ok(Some(Box::new(SimulatedFile { world: self.clone(), path: path.to_owned(), holder })))
    }
    fn machine_id(&self) -> Option<String> {
        Some("the only one".into())
    }
    fn lock_worker(&self, _: &str, _: u32) -> Result<Option<Box<dyn HostLock>>> {
        Ok(Some(Box::new(Alone)))
    }
    fn holder(&self, _: &str, _: u32) -> Option<String> {
        None
    }
}

struct SimulatedFile {
    world: World,
    path: PathBuf,
    holder: i64,
}

impl SimulatedFile {
    fn copy(&self, offset: usize, bytes: &[u8]) {
        let now_ms = self.world.0.now_ns.load(SeqCst) / 1_000_000;
        lock(&self.world.0.changed_ms).insert(self.path.clone(), now_ms);
        lock(&self.world.0.files).get_mut(&self.path).unwrap()[offset..offset + bytes.len()]
            .copy_from_slice(bytes);
    }

    /// A file whose name is not durable is gone after a power cut.
    fn keep(&self) {
        if lock(&self.world.0.durable).contains_key(&self.path) {
            self.keep_named();
        }
    }

    fn keep_named(&self) {
        let bytes = lock(&self.world.0.files)[&self.path].clone();
        lock(&self.world.0.durable).insert(self.path.clone(), bytes);
    }
}

impl Drop for SimulatedFile {
    /// If the world released the lock, it may belong to another process.
    fn drop(&mut self) {
        let mut locked = lock(&self.world.0.locked);
        if locked.get(&self.path) == Some(&self.holder) {
            locked.remove(&self.path);
        }
    }
}

impl LockedFile for SimulatedFile {
    fn read(&self) -> io::Result<Vec<u8>> {
        Ok(lock(&self.world.0.files)[&self.path].clone())
    }
    fn write(&self, offset: usize, bytes: &[u8]) -> io::Result<()> {
        self.world.may_panic();
        // At most 10 s, so that a failing test ends.
        for _ in 0..10_000 {
            if !self.world.0.hanging.load(SeqCst) {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        // A thread of a killed process may still run. It writes nothing any more.
        let locked = lock(&self.world.0.locked);
        if locked.get(&self.path) != Some(&self.holder) {
            return Err(io::Error::other("the process was killed before"));
        }
        if let Some(kind) = *lock(&self.world.0.failing) {
            // Torn: half of it reached the disk.
            self.copy(offset, &bytes[..bytes.len() / 2]);
            return Err(kind.into());
        }
        let crash = lock(&self.world.0.crash).take();
        match crash {
            Some(Crash::Before) => {}
            Some(Crash::Torn(most)) => self.copy(offset, &bytes[..most.min(bytes.len())]),
            _ => self.copy(offset, bytes),
        }
        if !matches!(crash, Some(Crash::Before | Crash::Written)) {
            self.keep();
        }
        crash.map_or(Ok(()), |_| Err(io::Error::other("the process was killed")))
    }
    fn put(&self, offset: usize, bytes: &[u8]) -> io::Result<()> {
        self.copy(offset, bytes);
        Ok(())
    }
    fn sync(&self) -> io::Result<()> {
        self.keep();
        Ok(())
    }
    fn sync_name(&self) -> io::Result<()> {
        self.keep_named();
        Ok(())
    }
    fn is_in_place(&self) -> io::Result<bool> {
        Ok(true)
    }
    fn id(&self) -> io::Result<FileId> {
        Ok((0, 0))
    }
    fn changed_ms(&self) -> io::Result<i64> {
        Ok(lock(&self.world.0.changed_ms).get(&self.path).copied().unwrap_or(0))
    }
    fn unlock(&self) {}
}
