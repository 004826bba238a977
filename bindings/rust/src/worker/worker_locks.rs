//! What a generator has locked for its worker id, and the calls that lock, read and write it.

use crate::os::env::{Env, FileAccess, HostLock, LockedFile, NewFile};
use crate::os::host_lock::THIS_PROCESS;
use crate::storage::io_failure::io_failure;
use leafid_core::Result;
use leafid_core::call::FileAction;
use leafid_core::run::record_open::{RecordOpen, RecordOpened, RecordPeek, record_file_name};
use leafid_core::run::record_write::{RecordWrite, RecordWritten};
use leafid_core::run::{Holder, HolderCall, HostLockCall, NamesCall, RecordsCall, RunCallEnd};
use std::path::{Path, PathBuf};

/// The records of an id space.
pub(crate) struct RecordFiles<'a> {
    pub(crate) env: &'a Env,
    pub(crate) directory: &'a Path,
    pub(crate) access: FileAccess,
}

/// The locks of a worker id. They are held until they are given back, or until this is dropped.
#[derive(Default)]
pub(crate) struct WorkerLocks {
    /// Dropped first: the record's lock is released before the host lock.
    file: Option<Box<dyn LockedFile>>,
    host_lock: Option<Box<dyn HostLock>>,
}

impl WorkerLocks {
    pub(crate) fn lock_host(&mut self, env: &Env, call: HostLockCall) -> RunCallEnd {
        match env.disk.lock_worker(call.name(), call.worker_id()) {
            Ok(Some(host_lock)) => {
                self.host_lock = Some(host_lock);
                call.taken()
            }
            Ok(None) => call.held(),
            Err(error) => call.failed(error),
        }
    }

    pub(crate) fn unlock_host(&mut self) {
        self.host_lock = None;
    }

    pub(crate) fn open(&mut self, files: &RecordFiles<'_>, call: RecordOpen) -> RecordOpened {
        let path = files.path(call.worker_id());
        let bytes = match call.initial() {
            Ok(bytes) => bytes,
            Err(error) => return call.refused(error),
        };
        let new = NewFile { bytes: &bytes, access: files.access };
        let file = match files.env.disk.open(&path, Some(new)) {
            Ok(Some(file)) => file,
            Ok(None) => return call.held(),
            Err(error) => return call.failed(FileAction::Open, path.display(), &io_failure(&error)),
        };
        match file.read() {
            Ok(bytes) => {
                self.file = Some(file);
                call.read(&bytes, path.display())
            }
            Err(error) => {
                drop(file);
                call.failed(FileAction::Read, path.display(), &io_failure(&error))
            }
        }
    }

    /// `random` is drawn for this write.
    pub(crate) fn write(
        &mut self,
        mut call: RecordWrite,
        random: impl Fn() -> Result<u128>,
    ) -> RecordWritten {
        self.host_lock.iter().for_each(|host_lock| host_lock.drain_queries());
        let Some(file) = &self.file else {
            let lost = call.check(None);
            return call.end(lost);
        };
        let found = match file.is_in_place() {
            Ok(true) => file.read().map(Some),
            Ok(false) => Ok(None),
            Err(error) => Err(error),
        };
        let found = match found {
            Ok(found) => found,
            Err(error) => return call.failed(FileAction::Read, &io_failure(&error)),
        };
        let bytes = call.check(found.as_deref()).and_then(|()| call.bytes(random()?));
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(error) => return call.end(Err(error)),
        };
        if call.syncs_name()
            && let Err(error) = file.sync_name()
        {
            return call.failed(FileAction::SyncName, &io_failure(&error));
        }
        match file.write(call.offset(), &bytes) {
            Ok(()) => call.end(Ok(())),
            Err(error) => call.failed(FileAction::Write, &io_failure(&error)),
        }
    }

    pub(crate) fn close(&mut self) {
        self.file = None;
    }
}

impl RecordFiles<'_> {
    fn path(&self, worker_id: u32) -> PathBuf {
        self.directory.join(record_file_name(worker_id))
    }

    pub(crate) fn peek(&self, call: RecordPeek) -> RunCallEnd {
        let path = self.path(call.worker_id());
        let end = match self.env.disk.peek(&path) {
            Ok(None) => call.missing(),
            Ok(Some(bytes)) => call.read(&bytes, path.display()),
            Err(error) => call.failed(path.display(), &io_failure(&error)),
        };
        end.into()
    }

    pub(crate) fn list(&self, call: RecordsCall) -> RunCallEnd {
        let names = self.env.disk.list(self.directory).unwrap_or_default();
        call.end(names.iter().filter_map(|name| name.to_str()))
    }

    pub(crate) fn holder(&self, call: HolderCall) -> RunCallEnd {
        let (name, worker_id, disk) = (call.name(), call.worker_id(), &self.env.disk);
        let by = if call.wants_name() { disk.holder(name, worker_id) } else { None };
        let is_ours = by.as_ref().is_some_and(|by| by.starts_with(THIS_PROCESS));
        let stranger = disk.foreign_holder(name, worker_id, &self.path(worker_id));
        call.end(Holder { by, is_ours, stranger })
    }

    /// The other id spaces are beside this one.
    pub(crate) fn names(&self, call: NamesCall) -> RunCallEnd {
        let names = self.env.disk.names_of(call.worker_id(), self.directory.parent());
        call.end(names)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use leafid_core::Layout;
    use leafid_core::call::FileAdvice;
    use std::fs::File;

    /// A lock of F_SETLK ends with the first of them, and this process never meets its own.
    #[test]
    fn a_lock_outlives_other_descriptors_of_its_file() {
        let (env, directory) = (Env::system(), tempfile::tempdir().unwrap());
        let files = RecordFiles { env: &env, directory: directory.path(), access: FileAccess::Own };
        let opens = |locks: &mut WorkerLocks| {
            let open = RecordOpen::new("default", 7, Layout::LEAF, FileAdvice::StateDir);
            locks.open(&files, open).into_result().unwrap().is_some()
        };
        let (mut held, mut other) = (WorkerLocks::default(), WorkerLocks::default());
        assert!(opens(&mut held));
        for _ in 0..2 {
            drop(File::open(files.path(7)).unwrap());
            assert!(!opens(&mut other));
        }
        held.close();
        assert!(opens(&mut other));
    }
}
