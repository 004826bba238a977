//! A file that processes share, while this process has it open and locked: what the steps of the core's updates need.

use super::io_failure::io_failure;
use crate::os;
use crate::os::env::{Disk, LockedFile, NewFile};
use leafid_core::call::{FileAction, LOCK_TIMEOUT, SharedFailure};
use leafid_core::format::file_steps::{FileFacts, FileStep};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// How often the lock is tried. It is constant, so that a process that waits long does not try less often.
const POLL_INTERVAL: Duration = Duration::from_micros(500);

type Result<T> = std::result::Result<T, SharedFailure>;

/// An open file whose lock this process holds.
pub(crate) struct SharedLock {
    file: Box<dyn LockedFile>,
    /// The generation of the process that locked it.
    generation: u64,
}

/// The failure of an operation on such a file.
pub(crate) fn failed(action: FileAction) -> impl Fn(io::Error) -> SharedFailure {
    move |error| SharedFailure::Io(action, io_failure(&error))
}

impl SharedLock {
    /// Opens and locks a file. A missing one is made of `new`; without it `None` is returned.
    pub(crate) fn open(disk: &dyn Disk, path: &Path, new: Option<NewFile<'_>>) -> Result<Option<SharedLock>> {
        let deadline = Instant::now() + LOCK_TIMEOUT;
        loop {
            match disk.open(path, new) {
                Ok(Some(file)) => {
                    return Ok(Some(SharedLock { file, generation: os::process::generation() }));
                }
                Ok(None) if Instant::now() >= deadline => return Err(SharedFailure::Locked),
                Ok(None) => std::thread::sleep(POLL_INTERVAL),
                Err(error) if new.is_none() && error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(failed(FileAction::Open)(error)),
            }
        }
    }

    /// Changes a file by steps, as [`SharedLock::carry_out`]; then it is unlocked. `None` as from [`SharedLock::open`].
    pub(crate) fn change(
        disk: &dyn Disk,
        path: &Path,
        new: Option<NewFile<'_>>,
        now_ms: impl Fn() -> i64,
        step: impl FnMut(&[u8], FileFacts) -> FileStep,
    ) -> Result<Option<()>> {
        let file = SharedLock::open(disk, path, new)?;
        file.map(|file| file.carry_out(now_ms, step)).transpose()
    }

    /// All of the file.
    pub(crate) fn read(&self) -> Result<Vec<u8>> {
        self.file.read().map_err(failed(FileAction::Read))
    }

    /// What the system tells of the file, at this filtered time.
    pub(crate) fn facts(&self, now_ms: i64) -> Result<FileFacts> {
        let read = failed(FileAction::Read);
        let (id, changed_ms) = (self.file.id().map_err(&read)?, self.file.changed_ms().map_err(&read)?);
        Ok(FileFacts { id, changed_ms, now_ms })
    }

    /// The permission bits of other users; 0 if only the owner may open it.
    pub(crate) fn others_bits(&self) -> Result<u32> {
        self.file.others_bits().map_err(failed(FileAction::Read))
    }

    /// Makes the name of the file durable.
    pub(crate) fn sync_name(&self) -> Result<()> {
        self.file.sync_name().map_err(failed(FileAction::SyncName))
    }

    /// Writes in place and makes it durable. After an error the file may hold the old or the new content.
    pub(crate) fn write(&self, offset: usize, bytes: &[u8], syncs_name: bool) -> Result<()> {
        if !self.file.is_in_place().map_err(failed(FileAction::Write))? {
            return Err(SharedFailure::Replaced);
        }
        if syncs_name {
            self.sync_name()?;
        }
        self.file.write(offset, bytes).map_err(failed(FileAction::Write))
    }

    /// Carries out the steps of a change; each sees all of the file as it is then. `now_ms` reads the filtered clock.
    pub(crate) fn carry_out(
        &self,
        now_ms: impl Fn() -> i64,
        mut step: impl FnMut(&[u8], FileFacts) -> FileStep,
    ) -> Result<()> {
        loop {
            let bytes = self.read()?;
            // As late as possible: the kernel's time of the write is to be that of the clock.
            let facts = self.facts(now_ms())?;
            match step(&bytes, facts) {
                FileStep::Write { offset, bytes, syncs_name } => {
                    self.write(offset, &bytes[..], syncs_name)?
                }
                FileStep::Done => return Ok(()),
            }
        }
    }
}

impl Drop for SharedLock {
    /// Unlocks, so that a forked child whose fork handlers did not run does not keep the lock. A child does not unlock
    /// its parent's file.
    fn drop(&mut self) {
        if self.generation == os::process::generation() {
            self.file.unlock();
        }
    }
}
