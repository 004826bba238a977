//! A file that processes share: opened, locked, read, written and closed for each action.
//!
//! It has two slots as a state file has, and is never renamed, replaced or unlinked either.

use crate::os;
use crate::os::env::{Env, FileAccess, FileId, LockedFile, NewFile};
use crate::storage::two_slots::{self, Head, NUMBER_OF_NEW, SLOT_BYTES};
use leafid_core::{Code, Error, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a file that others have locked is waited for: each holds it for a write, but a disk may be slow and they many.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);
/// How often it is asked for: always as often, so that whoever has waited longest is not the one who asks least.
const POLL: Duration = Duration::from_micros(500);
const FORMAT: u32 = 1;

/// The kernel's stamp of a write may be so much before the clock, by the tick of its timer, and so much after it.
const NEAR_MS: RangeInclusive<i64> = -10..=3;

/// Whether a file that was changed last at one time, as the kernel says, is as it was written at the other: sooner after
/// that nobody has copied it, used what it held, and put the copy in its place.
pub(crate) fn is_stamp_of(changed_ms: i64, written_ms: i64) -> bool {
    NEAR_MS.contains(&changed_ms.saturating_sub(written_ms))
}

/// What such a file holds; whatever it can be fits a slot.
pub(crate) trait Content: Serialize + DeserializeOwned {
    /// What the file is called, in its slots and in messages.
    const KIND: &'static str;
    /// What to do where it is damaged.
    const ADVICE: &'static str;

    /// `state_io`: what failed, where, and what to do.
    fn failed(doing: &str, path: &Path, error: &io::Error) -> Error;
}

/// An open file whose lock this process holds.
pub(crate) struct Store<C> {
    file: Box<dyn LockedFile>,
    path: PathBuf,
    number: u64,
    spare: usize,
    found: Found<C>,
    /// The process that locked it.
    generation: u64,
}

/// What a file holds.
#[derive(Debug)]
pub(crate) struct Found<C> {
    pub(crate) content: C,
    /// The other slot cannot be read: it may have held what was written later than this.
    pub(crate) damaged: bool,
}

/// How a slot says what it is.
#[derive(Deserialize)]
struct Format {
    leafid: String,
    format: u32,
    number: u64,
}

impl Head for Format {
    fn number(&self) -> u64 {
        self.number
    }
}

#[derive(Serialize)]
struct Slot<'c, C> {
    leafid: &'static str,
    format: u32,
    number: u64,
    #[serde(flatten)]
    content: &'c C,
}

/// Reads without the lock: a hint, or what never goes back. None if there is no such file. Errors: as [`Store::open`].
pub(crate) fn peek<C: Content>(env: &Env, path: &Path) -> Result<Option<Found<C>>> {
    let bytes = env.disk.peek(path).map_err(|error| C::failed("read", path, &error))?;
    bytes.map(|bytes| Ok(read(path, &bytes)?.0)).transpose()
}

impl<C: Content> Store<C> {
    /// Opens, locks and reads a file, made with `initial`, for `access`, if it is missing.
    ///
    /// Errors: `segment_unavailable` when others hold the lock for [`PATIENCE`], `state_io`, `state_corrupt`,
    /// `state_mismatch` for a newer format.
    pub(crate) fn open(env: &Env, path: PathBuf, initial: &C, access: FileAccess) -> Result<Store<C>> {
        let bytes = two_slots::new_file(|number| seal(number, initial))?;
        match lock(env, &path, Some(NewFile { bytes: &bytes, access })) {
            Ok(file) => Store::read(path, file),
            Err(Locking::Failed(error)) => Err(C::failed("open", &path, &error)),
            Err(Locking::Late) => Err(late(&path)),
        }
    }

    /// As [`Store::open`]; none if there is no such file.
    pub(crate) fn open_existing(env: &Env, path: PathBuf) -> Result<Option<Store<C>>> {
        match lock(env, &path, None) {
            Ok(file) => Store::read(path, file).map(Some),
            Err(Locking::Failed(error)) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(Locking::Failed(error)) => Err(C::failed("open", &path, &error)),
            Err(Locking::Late) => Err(late(&path)),
        }
    }

    /// What was found.
    pub(crate) fn found(&self) -> &Found<C> {
        &self.found
    }

    /// Which file it is.
    pub(crate) fn id(&self) -> Result<FileId> {
        self.file.id().map_err(|error| C::failed("read", &self.path, &error))
    }

    /// When it was written or changed last, by the kernel's clock in Unix milliseconds.
    pub(crate) fn changed_ms(&self) -> Result<i64> {
        self.file.changed_ms().map_err(|error| C::failed("read", &self.path, &error))
    }

    /// The permission bits of other users, none where only its owner may open it.
    pub(crate) fn others_bits(&self) -> Result<u32> {
        self.file.others_bits().map_err(|error| C::failed("read", &self.path, &error))
    }

    /// Makes what the file is to hold durable. After an error either may stand, and the store is of no more use.
    pub(crate) fn write(&mut self, content: &C) -> Result<()> {
        let failed = |error: io::Error| C::failed("write", &self.path, &error);
        if !self.file.is_in_place().map_err(failed)? {
            return Err(failed(io::Error::other("it was deleted, moved or replaced meanwhile")));
        }
        let bytes = seal(self.number + 1, content)?;
        self.file.write(self.spare * SLOT_BYTES, &bytes).map_err(failed)?;
        self.number += 1;
        self.spare = 1 - self.spare;
        Ok(())
    }

    fn read(path: PathBuf, file: Box<dyn LockedFile>) -> Result<Store<C>> {
        let bytes = file.read().map_err(|error| C::failed("read", &path, &error))?;
        let (found, number, spare) = read(&path, &bytes)?;
        if number <= NUMBER_OF_NEW {
            file.sync_name().map_err(|error| C::failed("make durable the name of", &path, &error))?;
        }
        Ok(Store { file, path, number, spare, found, generation: os::process::generation() })
    }
}

impl<C> Drop for Store<C> {
    /// A child that a fork made meanwhile, and that has no handlers to close what it inherited, must not go on holding the
    /// lock; nor lets it go of its parent's.
    fn drop(&mut self) {
        if self.generation == os::process::generation() {
            self.file.unlock();
        }
    }
}

/// Why a file was not locked.
enum Locking {
    Failed(io::Error),
    Late,
}

fn lock(
    env: &Env,
    path: &Path,
    new: Option<NewFile<'_>>,
) -> std::result::Result<Box<dyn LockedFile>, Locking> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(file) = env.disk.open(path, new).map_err(Locking::Failed)? {
            return Ok(file);
        }
        if Instant::now() >= deadline {
            return Err(Locking::Late);
        }
        std::thread::sleep(POLL);
    }
}

fn late(path: &Path) -> Error {
    let message = format!(
        "{} was locked by others for {} ms; try again, and see what holds it that long",
        path.display(),
        PATIENCE.as_millis()
    );
    Error::new(Code::SegmentUnavailable, message)
}

/// A slot's bytes.
pub(crate) fn seal<C: Content>(number: u64, content: &C) -> Result<[u8; SLOT_BYTES]> {
    two_slots::seal(&Slot { leafid: C::KIND, format: FORMAT, number, content })
}

/// What a file's bytes say: the content, its number, and the slot to write next.
fn read<C: Content>(path: &Path, bytes: &[u8]) -> Result<(Found<C>, u64, usize)> {
    let newest = two_slots::newest::<Format>(bytes, C::KIND).map_err(|what| corrupt::<C>(path, &what))?;
    let Format { leafid, format, number } = newest.head;
    if leafid != C::KIND {
        return Err(corrupt::<C>(path, &format!("a leafid {leafid:?} file, not a {} file", C::KIND)));
    }
    if format != FORMAT {
        let message = format!(
            "{} was written in format {format}, this leafid reads {FORMAT}; use the version that wrote it",
            path.display()
        );
        return Err(Error::new(Code::StateMismatch, message));
    }
    let content = serde_json::from_str(newest.text)
        .map_err(|error| corrupt::<C>(path, &format!("not as it was written: {error}")))?;
    Ok((Found { content, damaged: newest.damaged }, number, newest.spare))
}

/// Reads a file, and writes what it held: the slot, and whether the other one was damaged.
#[cfg(fuzzing)]
pub(crate) fn again<C: Content>(bytes: &[u8]) -> Result<(Vec<u8>, bool)> {
    let (found, number, _) = read::<C>(Path::new("file"), bytes)?;
    Ok((seal(number, &found.content)?.to_vec(), found.damaged))
}

/// `state_corrupt`: what the file is, and what to do.
pub(crate) fn corrupt<C: Content>(path: &Path, what: &str) -> Error {
    let message = format!("{} is {what}; nothing was changed. {}", path.display(), C::ADVICE);
    Error::new(Code::StateCorrupt, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Count {
        count: u64,
    }

    impl Content for Count {
        const KIND: &'static str = "count";
        const ADVICE: &'static str = "";

        fn failed(doing: &str, path: &Path, error: &io::Error) -> Error {
            crate::storage::state_file::failed(doing, path, error)
        }
    }

    fn open(directory: &Path) -> Store<Count> {
        let path = directory.join("count");
        Store::open(&Env::system(), path, &Count { count: 0 }, FileAccess::Own).unwrap()
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
        let existing = |path| Store::<Count>::open_existing(&Env::system(), path);
        assert!(existing(directory.path().join("missing")).unwrap().is_none());
        assert_eq!(existing(directory.path().into()).err().unwrap().code(), Code::StateIo);
    }

    /// As a child that a runtime's own fork made, which runs no handlers.
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
        let again = Store::<Count>::open_existing(&Env::system(), directory.path().join("count"));
        // SAFETY: ends the child made above, and waits for it.
        unsafe {
            libc::kill(child, libc::SIGKILL);
            libc::waitpid(child, std::ptr::null_mut(), 0);
        }
        assert!(again.unwrap().is_some());
    }

    #[test]
    fn times_that_no_clock_has_are_no_stamp() {
        for (changed_ms, written_ms) in [(1_800_000_000_000, i64::MIN), (-1, i64::MAX), (i64::MIN, i64::MAX)]
        {
            assert!(!is_stamp_of(changed_ms, written_ms));
        }
        assert!(is_stamp_of(1_000, 1_000) && is_stamp_of(1_003, 1_000) && !is_stamp_of(1_004, 1_000));
    }
}
