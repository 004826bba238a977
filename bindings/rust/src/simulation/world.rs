//! A machine whose clock and disk do as they are told.

use super::*;

pub(super) const START_MS: i64 = 1_700_000_000_000;

/// A world of one machine: what survives a crash.
#[derive(Clone, Default)]
pub(super) struct World(pub(super) Arc<State>);

#[derive(Default)]
pub(super) struct State {
    pub(super) now_ns: AtomicI64,
    pub(super) monotonic_ns: AtomicI64,
    pub(super) files: Mutex<BTreeMap<PathBuf, Vec<u8>>>,
    pub(super) locked: Mutex<BTreeSet<PathBuf>>,
    pub(super) failing: Mutex<Option<io::ErrorKind>>,
    pub(super) hanging: AtomicBool,
    pub(super) numbers: AtomicI64,
}

impl World {
    pub(super) fn new() -> World {
        let world = World::default();
        world.0.now_ns.store(START_MS * 1_000_000, SeqCst);
        world
    }

    pub(super) fn pass(&self, ms: i64) {
        self.0.now_ns.fetch_add(ms * 1_000_000, SeqCst);
        self.0.monotonic_ns.fetch_add(ms * 1_000_000, SeqCst);
    }

    /// As a process that starts: it believes the clock it finds.
    pub(super) fn line(&self) -> Arc<Timeline> {
        Arc::new(Timeline::new())
    }

    pub(super) fn set_clock(&self, by_ms: i64) {
        self.0.now_ns.fetch_add(by_ms * 1_000_000, SeqCst);
    }

    pub(super) fn fail(&self, kind: Option<io::ErrorKind>) {
        *lock(&self.0.failing) = kind;
    }

    /// A process of this world; its locks end with it, as a kill would end them.
    pub(super) fn process(&self) -> Process {
        lock(&self.0.locked).clear();
        let env = Env {
            clock: AnyClock::Other(Arc::new(self.clone()), self.line()),
            disk: Box::new(self.clone()),
            random: Box::new(self.clone()),
        };
        Process(Host::new(env))
    }
}

pub(super) struct Process(Host);

fn settings(builder: SnowflakeBuilder) -> Settings {
    Settings::parse(&builder.worker(7).state_dir("/simulated")).unwrap()
}

impl Process {
    pub(super) fn open(&self, builder: SnowflakeBuilder) -> Result<Open> {
        let settings = Arc::new(settings(builder));
        Ok(Open { live: self.0.attach(&settings, false)?, settings })
    }
}

pub(super) struct Open {
    pub(super) live: Arc<Live>,
    pub(super) settings: Arc<Settings>,
}

impl Open {
    pub(super) fn next(&self) -> Result<i64> {
        let mut never = || false;
        let mut wait = Wait::new(&self.settings, &mut never);
        loop {
            match self.live.core.next(self.live.env.clock.believed_ms()) {
                Ok(id) => return Ok(id),
                Err(deed) => wait.until_done(&self.live, deed)?,
            }
        }
    }

    pub(super) fn next_ms(&self) -> i64 {
        leafid_core::Layout::LEAF.decode(self.next().unwrap()).unwrap().timestamp_ms
    }
}

impl Clock for World {
    fn now_ns(&self) -> i64 {
        self.0.now_ns.load(SeqCst)
    }
    fn counted(&self) -> Duration {
        Duration::from_nanos(self.0.monotonic_ns.load(SeqCst) as u64)
    }
    fn sleep(&self, time: Duration) {
        self.pass((time.as_millis() as i64).max(1));
    }
}

impl Random for World {
    fn number(&self) -> io::Result<u128> {
        Ok(self.0.numbers.fetch_add(1, SeqCst) as u128 + 1)
    }
}

struct Alone;
impl Presence for Alone {}

impl Disk for World {
    fn directory(&self, _: &Path) -> io::Result<DirectoryId> {
        Ok((0, 0))
    }
    fn peek(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        Ok(lock(&self.0.files).get(path).cloned())
    }
    fn open(&self, path: &Path, initial: &[u8; FILE_BYTES]) -> io::Result<Option<Box<dyn LockedFile>>> {
        if !lock(&self.0.locked).insert(path.to_owned()) {
            return Ok(None);
        }
        lock(&self.0.files).entry(path.to_owned()).or_insert_with(|| initial.to_vec());
        Ok(Some(Box::new(SimulatedFile { world: self.clone(), path: path.to_owned() })))
    }
    fn appear(&self, _: &str, _: u32) -> Result<Option<Box<dyn Presence>>> {
        Ok(Some(Box::new(Alone)))
    }
    fn holder(&self, _: &str, _: u32) -> Option<String> {
        None
    }
}

struct SimulatedFile {
    world: World,
    path: PathBuf,
}

impl LockedFile for SimulatedFile {
    fn read(&self) -> io::Result<Vec<u8>> {
        Ok(lock(&self.world.0.files)[&self.path].clone())
    }
    fn write(&self, offset: usize, bytes: &[u8]) -> io::Result<()> {
        // At most 10 s, so that a test that is wrong ends.
        for _ in 0..10_000 {
            if !self.world.0.hanging.load(SeqCst) {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        if let Some(kind) = *lock(&self.world.0.failing) {
            // Torn: half of it reached the disk.
            let half = bytes.len() / 2;
            lock(&self.world.0.files).get_mut(&self.path).unwrap()[offset..offset + half]
                .copy_from_slice(&bytes[..half]);
            return Err(kind.into());
        }
        lock(&self.world.0.files).get_mut(&self.path).unwrap()[offset..offset + bytes.len()]
            .copy_from_slice(bytes);
        Ok(())
    }
    fn is_in_place(&self) -> io::Result<bool> {
        Ok(true)
    }
}
