//! A file that processes share, as commands use it: each action opens, locks, reads, writes and closes it.
//!
//! It has two slots, as a state file has. It is never renamed, replaced or unlinked.

use crate::os::env::{Env, FileAccess, NewFile};
use crate::storage::shared_lock::{self, SharedLock};
use leafid_core::Result;
use leafid_core::call::{FileAction, FileAdvice, SharedFailure};
use leafid_core::format::shared::{self, Content, Found};
use leafid_core::format::two_slots::{self, NUMBER_OF_NEW, SLOT_BYTES};
use std::path::{Path, PathBuf};

/// The content of a file that processes share.
pub(crate) trait Stored: Content {
    /// What a user can do about a file that cannot be used.
    const FILES: FileAdvice;
}

/// An open file whose lock this process holds.
pub(crate) struct SharedFile<C> {
    lock: SharedLock,
    path: PathBuf,
    number: u64,
    spare: usize,
    found: Found<C>,
}

/// Reads without the lock: for hints and for values that never decrease. `None` if there is no such file. Errors: as
/// [`SharedFile::open`].
pub(crate) fn peek<C: Stored>(env: &Env, path: &Path) -> Result<Option<Found<C>>> {
    let bytes = env.disk.peek(path).map_err(shared_lock::failed(FileAction::Read));
    let bytes = bytes.map_err(|failure| failure.error(path.display(), C::FILES))?;
    bytes.map(|bytes| Ok(shared::read(path.display(), &bytes)?.0)).transpose()
}

impl<C: Stored> SharedFile<C> {
    /// Opens, locks and reads a file. If it is missing, creates it with `initial` and `access`.
    ///
    /// Errors: `segment_unavailable` when other processes hold the lock too long, `state_io`, `state_corrupt`,
    /// `state_mismatch` for a newer format.
    pub(crate) fn open(env: &Env, path: PathBuf, initial: &C, access: FileAccess) -> Result<SharedFile<C>> {
        let bytes = two_slots::new_file(|number| shared::seal(number, initial))?;
        let gone = SharedFailure::Replaced.error(path.display(), C::FILES);
        SharedFile::locked(env, path, Some(NewFile { bytes: &bytes, access }))?.ok_or(gone)
    }

    /// As [`SharedFile::open`], but returns `None` if there is no such file.
    pub(crate) fn open_existing(env: &Env, path: PathBuf) -> Result<Option<SharedFile<C>>> {
        SharedFile::locked(env, path, None)
    }

    fn locked(env: &Env, path: PathBuf, new: Option<NewFile<'_>>) -> Result<Option<SharedFile<C>>> {
        let failed = |failure: SharedFailure| failure.error(path.display(), C::FILES);
        let Some(lock) = SharedLock::open(&*env.disk, &path, new).map_err(failed)? else { return Ok(None) };
        let (found, number, spare) = shared::read(path.display(), &lock.read().map_err(failed)?)?;
        if number <= NUMBER_OF_NEW {
            lock.sync_name().map_err(failed)?;
        }
        Ok(Some(SharedFile { lock, path, number, spare, found }))
    }

    /// The content that was read.
    pub(crate) fn found(&self) -> &Found<C> {
        &self.found
    }

    /// Writes a new content and syncs it. After an error the file may hold the old or the new one, and must be opened
    /// again.
    pub(crate) fn write(&mut self, content: &C) -> Result<()> {
        let bytes = shared::seal(self.number + 1, content)?;
        let written = self.lock.write(self.spare * SLOT_BYTES, &bytes, false);
        written.map_err(|failure| failure.error(self.path.display(), C::FILES))?;
        self.number += 1;
        self.spare = 1 - self.spare;
        Ok(())
    }
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
    use leafid_core::Code;
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

    impl Stored for Count {
        const FILES: FileAdvice = FileAdvice::StateDir;
    }

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
