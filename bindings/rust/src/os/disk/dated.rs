//! The real disk under a clock that a test sets: what is written bears the time of that clock, however busy the machine
//! is. A file's time of modification, which can be set, stands for the kernel's time of its last change: whoever else
//! writes the file leaves the time of the system's clock there.

use super::SystemDisk;
use crate::os::clock::{Clock, ClockReader};
use crate::os::env::{Disk, Env, FileAccess, FileId, HostLock, LockedFile, NewFile};
use leafid_core::options::deployment::FileSystem;
use leafid_core::{ClockFilter, Result};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Long before any run of the tests.
const DATE: Duration = Duration::from_secs(1_700_000_000);

/// So many milliseconds after [`DATE`].
#[derive(Clone, Copy)]
struct Dated(u64);

struct DatedFile {
    file: Box<dyn LockedFile>,
    path: PathBuf,
    date: SystemTime,
}

impl Env {
    /// The system at a time, in milliseconds after one in the past.
    pub(crate) fn dated(ms: u64) -> Env {
        let clock = Clock::Other(Arc::new(Dated(ms)), Arc::new(ClockFilter::new()));
        Env { clock, disk: Box::new(Dated(ms)), ..Env::system() }
    }
}

impl Dated {
    fn since_epoch(self) -> Duration {
        DATE + Duration::from_millis(self.0)
    }
}

impl ClockReader for Dated {
    fn now_ns(&self) -> i64 {
        self.since_epoch().as_nanos() as i64
    }
    fn boot_time(&self) -> Duration {
        Duration::from_millis(self.0)
    }
    fn sleep(&self, _: Duration) {}
    fn boot_id(&self) -> String {
        "this start".into()
    }
}

impl Disk for Dated {
    fn directory(&self, path: &Path, access: FileAccess) -> io::Result<(FileId, FileSystem)> {
        SystemDisk.directory(path, access)
    }
    fn peek(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        SystemDisk.peek(path)
    }
    fn list(&self, path: &Path) -> io::Result<Vec<OsString>> {
        SystemDisk.list(path)
    }
    fn open(&self, path: &Path, new: Option<NewFile<'_>>) -> io::Result<Option<Box<dyn LockedFile>>> {
        let date = UNIX_EPOCH + self.since_epoch();
        let file = SystemDisk.open(path, new)?;
        Ok(file.map(|file| Box::new(DatedFile { file, path: path.to_owned(), date }) as Box<_>))
    }
    fn machine_id(&self) -> Option<String> {
        SystemDisk.machine_id()
    }
    fn lock_worker(&self, name: &str, worker_id: u32) -> Result<Option<Box<dyn HostLock>>> {
        SystemDisk.lock_worker(name, worker_id)
    }
    fn holder(&self, name: &str, worker_id: u32) -> Option<String> {
        SystemDisk.holder(name, worker_id)
    }
}

impl LockedFile for DatedFile {
    fn read(&self) -> io::Result<Vec<u8>> {
        self.file.read()
    }
    fn put(&self, offset: usize, bytes: &[u8]) -> io::Result<()> {
        self.file.put(offset, bytes)
    }
    /// Dates the file last: Windows notes the time of a write only then.
    fn sync(&self) -> io::Result<()> {
        self.file.sync()?;
        File::options().write(true).open(&self.path)?.set_modified(self.date)
    }
    fn sync_name(&self) -> io::Result<()> {
        self.file.sync_name()
    }
    fn is_in_place(&self) -> io::Result<bool> {
        self.file.is_in_place()
    }
    fn id(&self) -> io::Result<FileId> {
        self.file.id()
    }
    fn changed_ms(&self) -> io::Result<i64> {
        let modified = self.path.metadata()?.modified()?;
        Ok(modified.duration_since(UNIX_EPOCH).map_err(io::Error::other)?.as_millis() as i64)
    }
    fn unlock(&self) {
        self.file.unlock();
    }
}
