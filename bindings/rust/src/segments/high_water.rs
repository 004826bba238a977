//! The marks of a source's tags, in the state directory or in the memory of this process: the calls of the core's supply
//! for them are carried out here.

#[cfg(feature = "cli")]
mod by_hand;
mod in_memory;

#[cfg(feature = "cli")]
pub(crate) use by_hand::{Listed, forget, list, source_of};

use crate::os::disk::root;
use crate::os::env::{Env, FileAccess, FileId, NewFile, Sharing};
use crate::storage::io_failure::io_failure;
use crate::storage::shared_file::Stored;
use crate::storage::shared_lock::{self, SharedLock};
use crate::storage::state_file;
use leafid_core::call::{FileAction, FileAdvice, SharedFailure};
use leafid_core::format::mark::Mark;
use leafid_core::format::unused::MachineStart;
use leafid_core::options::deployment;
use leafid_core::place::machine_start;
use leafid_core::supply::MarkStore;
use leafid_core::supply::mark_read::{MarkFound, MarkKey, MarkList, MarkRead, MarksListed};
use leafid_core::supply::mark_update::{MarkUpdate, MarkUpdated};
use leafid_core::{IdOrder, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the marks of one source's tags are.
pub(crate) struct HighWaterMarks {
    env: Arc<Env>,
    order: IdOrder,
    /// `None` with `persist = false`: then only this process knows the marks.
    files: Option<MarkFiles>,
}

struct MarkFiles {
    directory: PathBuf,
    access: FileAccess,
    /// The root directory of this process when it was opened.
    root: Option<FileId>,
    /// To which stored unused ids belong; `None` where they cannot be stored.
    start: Option<MachineStart>,
}

impl HighWaterMarks {
    /// The marks in the sub-directory of the id space, which is created if it is missing. Without a directory they are
    /// in memory. It locks and reads nothing yet.
    ///
    /// Errors: `state_io`, also for a network file system without `shared_fs`.
    pub(crate) fn new(
        env: Arc<Env>,
        directory: Option<&Path>,
        order: IdOrder,
        sharing: impl Into<Sharing>,
    ) -> Result<HighWaterMarks> {
        let sharing = sharing.into();
        let files = directory.map(|directory| {
            let made = env.disk.directory(directory, sharing.access());
            let (_, fs) = made.map_err(|error| state_file::failed("make", directory, &error))?;
            deployment::refuse_network(&fs, directory.display(), sharing.fs, deployment::LOCAL_STATE)?;
            let start = machine_start(&fs, env.disk.machine_id(), env.clock.boot_id());
            Ok(MarkFiles { directory: directory.to_owned(), access: sharing.access(), root: root(), start })
        });
        Ok(HighWaterMarks { env, order, files: files.transpose()? })
    }

    pub(crate) fn store(&self) -> MarkStore {
        if self.files.is_some() { MarkStore::Files } else { MarkStore::Memory }
    }

    /// The start of the machine to which stored unused ids belong; `None` where they cannot be stored.
    pub(crate) fn machine_start(&self) -> Option<MachineStart> {
        self.files.as_ref()?.start.clone()
    }

    /// Reads a mark. It may wait for the disk.
    pub(crate) fn read(&self, read: MarkRead) -> MarkFound {
        let Some(files) = &self.files else {
            let whose = of_source(read.key());
            return in_memory::with_mark(whose, self.order, |mark| read.end_in_memory(Some(mark)));
        };
        if files.is_elsewhere() {
            return read.failed(files.directory.display(), &SharedFailure::Chrooted);
        }
        let path = files.directory.join(read.key().file_name());
        match self.env.disk.peek(&path) {
            Ok(found) => read.end(found.as_deref(), path.display()),
            Err(error) => read.failed(path.display(), &shared_lock::failed(FileAction::Read)(error)),
        }
    }

    /// Changes a mark, durably. It may wait for the disk and for other processes.
    pub(crate) fn update(&self, mut update: MarkUpdate) -> MarkUpdated {
        let Some(files) = &self.files else {
            let whose = of_source(update.key());
            return in_memory::with_mark(whose, self.order, |mark| update.end_in_memory(mark));
        };
        if files.is_elsewhere() {
            return update.failed(files.directory.display(), &SharedFailure::Chrooted);
        }
        let path = files.directory.join(update.key().file_name());
        // Of ids that cannot be joined a file holds few, but this process stores more in memory.
        if update.needs_memory() {
            let whose = (path.to_string_lossy().into_owned(), update.key().tag.to_string());
            in_memory::with_mark(whose, self.order, |memory| update.recall(memory));
        }
        let new = match update.initial() {
            Ok(new) => new,
            Err(error) => return update.refused(error),
        };
        let new = new.as_ref().map(|bytes| NewFile { bytes, access: files.access });
        let now_ms = || self.env.clock.filtered_ms();
        let step = |bytes: &[u8], facts| update.step(bytes, facts, path.display());
        match SharedLock::change(&*self.env.disk, &path, new, now_ms, step) {
            Ok(Some(())) => update.end(),
            Ok(None) => update.missing(),
            Err(failure) => update.failed(path.display(), &failure),
        }
    }

    /// Lists the tags that were fetched lately. It may wait for the disk.
    pub(crate) fn list(&self, mut list: MarkList) -> MarksListed {
        let now_ms = self.env.clock.filtered_ms();
        let Some(files) = &self.files else { return list.end(now_ms) };
        let names = match self.env.disk.list(&files.directory) {
            Ok(names) => names,
            Err(error) => return list.failed(files.directory.display(), &io_failure(&error)),
        };
        let prefix = list.prefix();
        for name in names.iter().filter_map(|name| name.to_str()).filter(|name| name.starts_with(&prefix)) {
            if let Ok(Some(bytes)) = self.env.disk.peek(&files.directory.join(name)) {
                list.add(name, &bytes);
            }
        }
        list.end(now_ms)
    }
}

fn of_source(key: &MarkKey) -> (String, String) {
    (key.source.to_string(), key.tag.to_string())
}

impl Stored for Mark {
    const FILES: FileAdvice = FileAdvice::StateDir;
}

impl MarkFiles {
    /// Whether this process changed its root since: the path leads elsewhere.
    fn is_elsewhere(&self) -> bool {
        self.root != root()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(crate) mod tests;
