//! The source `file:DIR`: counters in a directory that several processes of one host share, under locks.

mod directory;

use crate::os::env::{Env, NewFile, Sharing};
use crate::storage::shared_lock::{self, SharedLock};
pub(crate) use directory::CounterDirectory;
use leafid_core::Result;
use leafid_core::call::{FileAction, FileAdvice, SharedFailure};
use leafid_core::format::counter::Counter;
use leafid_core::options::FileTag;
use leafid_core::supply::Source;
use leafid_core::supply::counter_update::{
    self, CounterInput, CounterStep, CounterUpdate, CounterUpdated, NamedCounter,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A directory of counters, one for each tag.
pub(crate) struct FileSource {
    env: Arc<Env>,
    directory: CounterDirectory,
    /// As it was opened.
    known: Arc<counter_update::CounterDirectory>,
    /// The tags that the user named.
    tags: Vec<(String, NamedCounter)>,
}

impl FileSource {
    /// Opens a directory of counters. With `create` a missing one is created, and an existing one is used unchanged. A
    /// tag of `tags` without a counter gets one at its first fetch.
    ///
    /// Errors: `unknown_tag` for a directory without its marker; `state_io`, also for a
    /// network file system without `shared_fs`; `state_corrupt`, `state_mismatch`.
    pub(crate) fn open(
        env: Arc<Env>,
        path: &Path,
        create: bool,
        tags: &[(String, FileTag)],
        sharing: impl Into<Sharing>,
    ) -> Result<FileSource> {
        let directory = match create {
            true => CounterDirectory::create(&env, path, sharing)?,
            false => CounterDirectory::open(&env, path, sharing)?,
        };
        let named = |how: &FileTag| NamedCounter { start: how.start, step: how.step, told: false };
        let tags = tags.iter().map(|(tag, how)| (tag.clone(), named(how))).collect();
        let known = Arc::new(directory.known());
        Ok(FileSource { env, directory, known, tags })
    }

    /// What the supply knows of it.
    pub(crate) fn of_supply(&self) -> Source {
        Source::File { directory: Arc::clone(&self.known), tags: self.tags.clone() }
    }

    /// Makes or changes the counter of a tag by hand: see [`CounterUpdate::by_hand`]. Returns the new content.
    ///
    /// Errors: `segment_unavailable` when other processes hold the lock of a file too long, `unknown_tag`, `state_io`,
    /// `state_corrupt`, `state_mismatch`.
    #[cfg_attr(not(feature = "cli"), allow(dead_code, reason = "the command line makes counters by hand"))]
    pub(crate) fn make_by_hand(&self, tag: &str, new: FileTag, step: Option<i64>) -> Result<Counter> {
        let known = Arc::clone(&self.known);
        let updated = self.update(CounterUpdate::by_hand(known, tag.into(), new, step));
        updated.notes().iter().for_each(|(_, line)| log::warn!("leafid: {line}"));
        updated.into_counter()
    }

    #[cfg_attr(not(feature = "cli"), allow(dead_code, reason = "the command line shows it"))]
    pub(crate) fn directory(&self) -> &CounterDirectory {
        &self.directory
    }

    /// Takes ids from a counter, durably. It may wait for the disk and for other processes.
    pub(crate) fn update(&self, mut update: CounterUpdate) -> CounterUpdated {
        if self.directory.is_elsewhere() {
            let path = self.directory.path().display();
            return update.refused(SharedFailure::Chrooted.error(path, FileAdvice::Counters));
        }
        let mut locked = BTreeMap::new();
        let mut step = update.step(CounterInput::Begin, "");
        while let Some((path, found)) = self.carry_out(step, &mut locked) {
            let input = match &found {
                Ok(FoundInFile::Bytes(bytes)) => CounterInput::Read(bytes.as_deref()),
                Ok(FoundInFile::Names(names)) => CounterInput::Names(names),
                Err(failure) => CounterInput::Failed(failure),
            };
            step = update.step(input, path.display());
        }
        drop(locked);
        update.end()
    }

    /// Carries out a step; returns the path of its file, and what was found. `None` after the last step.
    fn carry_out(
        &self,
        step: CounterStep,
        locked: &mut BTreeMap<String, SharedLock>,
    ) -> Option<(PathBuf, std::result::Result<FoundInFile, SharedFailure>)> {
        let (disk, directory) = (&*self.env.disk, self.directory.path());
        let read = shared_lock::failed(FileAction::Read);
        Some(match step {
            CounterStep::Peek(name) => {
                let path = directory.join(name);
                let found = disk.peek(&path).map(FoundInFile::Bytes).map_err(&read);
                (path, found)
            }
            CounterStep::Open(name, new) => {
                let path = directory.join(&name);
                let new = new.as_ref().map(|bytes| NewFile { bytes, access: self.directory.access() });
                let found = SharedLock::open(disk, &path, new).and_then(|file| {
                    if let Some(file) = file.as_ref().filter(|_| new.is_some()) {
                        file.sync_name()?;
                    }
                    let bytes = file.as_ref().map(SharedLock::read).transpose();
                    locked.extend(file.map(|file| (name, file)));
                    bytes.map(FoundInFile::Bytes)
                });
                (path, found)
            }
            CounterStep::List => {
                let names = disk.list(directory).map_err(&read);
                let names = names.map(|names| names.into_iter().filter_map(|name| name.into_string().ok()));
                (directory.to_owned(), names.map(|names| FoundInFile::Names(names.collect())))
            }
            CounterStep::Write { name, offset, bytes, syncs_name } => {
                let path = directory.join(&name);
                let found = match locked.get(&name) {
                    Some(file) => file
                        .write(offset, &bytes[..], syncs_name)
                        .and_then(|()| file.read())
                        .map(|bytes| FoundInFile::Bytes(Some(bytes))),
                    None => Ok(FoundInFile::Bytes(None)),
                };
                (path, found)
            }
            CounterStep::Done => return None,
        })
    }
}

/// What a step found.
enum FoundInFile {
    Bytes(Option<Vec<u8>>),
    Names(Vec<String>),
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
