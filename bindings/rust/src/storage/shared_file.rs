//! A file that processes share: each action opens, locks, reads, writes and closes it.
//!
//! It has two slots, as a state file has. It is never renamed, replaced or unlinked.

use crate::os;
use crate::os::env::{Env, FileAccess, LockedFile, NewFile};
use crate::storage::state_file;
use leafid_core::format::shared::{self, Content, Found};
use leafid_core::format::two_slots::{self, NUMBER_OF_NEW, SLOT_BYTES};
use leafid_core::{Code, Error, Result};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long to wait for a file that other processes lock. Each holds it for one write, but a disk may be slow.
pub(crate) const LOCK_TIMEOUT: Duration = Duration::from_secs(2);
/// How often the lock is tried. It is constant, so that a process that waits long does not try less often.
const POLL_INTERVAL: Duration = Duration::from_micros(500);
/// The content of a file that processes share.
pub(crate) trait Stored: Content {
    /// `state_io` with the failed operation, the path and what to do.
    fn failed(doing: &str, path: &Path, error: &io::Error) -> Error {
        state_file::failed(doing, path, error)
    }
}

/// An open file whose lock this process holds.
pub(crate) struct SharedFile<C> {
    file: Box<dyn LockedFile>,
    path: PathBuf,
    number: u64,
    spare: usize,
    found: Found<C>,
    /// The generation of the process that locked it.
    generation: u64,
}

/// Reads without the lock: for hints and for values that never decrease. `None` if there is no such file. Errors: as
/// [`SharedFile::open`].
pub(crate) fn peek<C: Stored>(env: &Env, path: &Path) -> Result<Option<Found<C>>> {
    let bytes = env.disk.peek(path).map_err(|error| C::failed("read", path, &error))?;
    bytes.map(|bytes| Ok(shared::read(path.display(), &bytes)?.0)).transpose()
}

impl<C: Stored> SharedFile<C> {
    /// Opens, locks and reads a file. If it is missing, creates it with `initial` and `access`.
    ///
    /// Errors: `segment_unavailable` when other processes hold the lock for [`LOCK_TIMEOUT`], `state_io`,
    /// `state_corrupt`, `state_mismatch` for a newer format.
    pub(crate) fn open(env: &Env, path: PathBuf, initial: &C, access: FileAccess) -> Result<SharedFile<C>> {
        let bytes = two_slots::new_file(|number| shared::seal(number, initial))?;
        let locked = lock(env, &path, Some(NewFile { bytes: &bytes, access }));
        let file = locked.map_err(|error| C::failed("open", &path, &error))?.ok_or_else(|| late(&path))?;
        SharedFile::read(path, file)
    }

    /// As [`SharedFile::open`], but returns `None` if there is no such file.
    pub(crate) fn open_existing(env: &Env, path: PathBuf) -> Result<Option<SharedFile<C>>> {
        match lock(env, &path, None) {
            Ok(Some(file)) => SharedFile::read(path, file).map(Some),
            Ok(None) => Err(late(&path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(C::failed("open", &path, &error)),
        }
    }

    /// The content that was read.
    pub(crate) fn found(&self) -> &Found<C> {
        &self.found
    }

    /// Writes a new content and syncs it. After an error the file may hold the old or the new one, and must be opened
    /// again.
    pub(crate) fn write(&mut self, content: &C) -> Result<()> {
        let failed = |error: io::Error| C::failed("write", &self.path, &error);
        if !self.file.is_in_place().map_err(failed)? {
            return Err(failed(io::Error::other("it was deleted, moved or replaced meanwhile")));
        }
        let bytes = shared::seal(self.number + 1, content)?;
        self.file.write(self.spare * SLOT_BYTES, &bytes).map_err(failed)?;
        self.number += 1;
        self.spare = 1 - self.spare;
        Ok(())
    }

    fn read(path: PathBuf, file: Box<dyn LockedFile>) -> Result<SharedFile<C>> {
        let bytes = file.read().map_err(|error| C::failed("read", &path, &error))?;
        let (found, number, spare) = shared::read(path.display(), &bytes)?;
        if number <= NUMBER_OF_NEW {
            file.sync_name().map_err(|error| C::failed("make durable the name of", &path, &error))?;
        }
        Ok(SharedFile { file, path, number, spare, found, generation: os::process::generation() })
    }
}

impl<C> Drop for SharedFile<C> {
    /// Unlocks, so that a forked child whose fork handlers did not run does not keep the lock. A child does not unlock
    /// its parent's file.
    fn drop(&mut self) {
        if self.generation == os::process::generation() {
            self.file.unlock();
        }
    }
}

/// Returns `None` if others held the lock for [`LOCK_TIMEOUT`].
pub(crate) fn lock(
    env: &Env,
    path: &Path,
    new: Option<NewFile<'_>>,
) -> io::Result<Option<Box<dyn LockedFile>>> {
    let deadline = Instant::now() + LOCK_TIMEOUT;
    loop {
        let file = env.disk.open(path, new)?;
        if file.is_some() || Instant::now() >= deadline {
            return Ok(file);
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

fn late(path: &Path) -> Error {
    let message = format!(
        "{} was locked by others for {} ms; try again, and see what holds it that long",
        path.display(),
        LOCK_TIMEOUT.as_millis()
    );
    Error::new(Code::SegmentUnavailable, message)
}

/// Reads a file and writes its content again: returns the slot, and whether the other one was damaged.
#[cfg(fuzzing)]
pub(crate) fn rewrite<C: Content>(bytes: &[u8]) -> Result<(Vec<u8>, bool)> {
    let (found, number, _) = shared::read::<C>("file", bytes)?;
    Ok((shared::seal(number, &found.content)?.to_vec(), found.damaged))
}

#[cfg(test)]
mod tests {
    use super::*;
    use leafid_core::format::shared::{JsonResult, Object};
    use serde::Serialize;

    #[derive(Debug, PartialEq, Serialize)]
    struct Count {
        count: u64,
    }

    impl Content for Count {
        const KIND: &'static str = "count";
        const ADVICE: &'static str = "";

        fn read(slot: &Object<'_>) -> JsonResult<Count> {
            Ok(Count { count: slot.number("count")? })
        }
    }

    impl Stored for Count {}

    fn open(directory: &Path) -> SharedFile<Count> {
        let path = directory.join("count");
        SharedFile::open(&Env::system(), path, &Count { count: 0 }, FileAccess::Own).unwrap()
    }

    #[test]
    fn the_last_of_several_writes_is_found() {
        let directory = tempfile::tempdir().unwrap();
        for writes in 0..4 {
            let mut store = open(directory.path());
            (1..=writes).for_each(|count| store.write(&Count { count }).unwrap());
            drop(store);
            assert_eq!(open(directory.path()).found().content, Count { count: writes });
        }
    }

    #[test]
    fn only_a_file_that_is_missing_is_none() {
        let directory = tempfile::tempdir().unwrap();
        let existing = |path| SharedFile::<Count>::open_existing(&Env::system(), path);
        assert!(existing(directory.path().join("missing")).unwrap().is_none());
        assert_eq!(existing(directory.path().into()).err().unwrap().code(), Code::StateIo);
    }

    /// A child of a runtime's own fork, which runs no fork handlers.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_child_that_inherited_the_file_does_not_hold_its_lock() {
        let directory = tempfile::tempdir().unwrap();
        let store = open(directory.path());
        // SAFETY: a fork of the kernel's alone; the child waits for a signal and does nothing else.
        let child = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) } as i32;
        if child == 0 {
            loop {
                // SAFETY: it waits.
                unsafe { libc::pause() };
            }
        }
        drop(store);
        let again = SharedFile::<Count>::open_existing(&Env::system(), directory.path().join("count"));
        // SAFETY: ends the child made above, and waits for it.
        unsafe {
            libc::kill(child, libc::SIGKILL);
            libc::waitpid(child, std::ptr::null_mut(), 0);
        }
        assert!(again.unwrap().is_some());
    }
}
