//! The calls of the cache of leases, whose files lie beside the records.

use crate::os::env::{Env, FileAccess, NewFile};
use crate::storage::shared_lock::SharedLock;
use leafid_core::call::SharedFailure;
use leafid_core::run::cache_drop::{CacheDrop, CacheDropped};
use leafid_core::run::cache_read::{CacheFound, CacheList, CacheRead, CachesListed, lease_file_name};
use leafid_core::run::cache_write::{CacheWrite, CacheWritten};
use std::path::{Path, PathBuf};

/// The cached leases in a directory.
pub(crate) struct LeaseFiles<'a> {
    pub(crate) env: &'a Env,
    pub(crate) directory: &'a Path,
}

impl LeaseFiles<'_> {
    fn path(&self, worker_id: u32) -> PathBuf {
        self.directory.join(lease_file_name(worker_id))
    }

    /// Whether a copy of a file in this directory can be detected.
    fn tells_copies(&self) -> bool {
        let directory = self.env.disk.directory(self.directory, FileAccess::Own);
        directory.is_ok_and(|(_, fs)| fs.tells_copies())
    }

    pub(crate) fn list(&self, mut call: CacheList) -> CachesListed {
        for name in self.env.disk.list(self.directory).unwrap_or_default() {
            let Some(name) = name.to_str().filter(|name| CacheList::wants(name)) else { continue };
            if let Ok(Some(bytes)) = self.env.disk.peek(&self.directory.join(name)) {
                call.add(name, &bytes);
            }
        }
        let clock = &self.env.clock;
        call.end(clock.boot_time(), clock.filtered_ms())
    }

    pub(crate) fn find(&self, call: CacheRead) -> CacheFound {
        let path = self.path(call.worker_id());
        let read = || {
            let Some(file) = SharedLock::open(&*self.env.disk, &path, None)? else { return Ok(None) };
            Ok(Some((file.read()?, file.facts(self.env.clock.filtered_ms())?)))
        };
        match read() {
            Ok(None) => call.missing(),
            // The clock is read only now, under the locks: the wait for them may have lasted longer than the lease.
            Ok(Some((bytes, facts))) => {
                let boot = self.env.clock.boot_time();
                call.end(&bytes, facts, boot, self.tells_copies(), path.display())
            }
            Err(failure) => call.failed(path.display(), &failure),
        }
    }

    pub(crate) fn write(&self, mut call: CacheWrite) -> CacheWritten {
        let path = self.path(call.worker_id());
        match call.initial(self.tells_copies()) {
            Ok(None) => call.end(path.display()),
            Ok(Some(bytes)) => {
                // A process with the token can renew and release the lease.
                let new = NewFile { bytes: &bytes, access: FileAccess::Private };
                match self.write_to(&path, new, &mut call) {
                    Ok(()) => call.end(path.display()),
                    Err(failure) => call.failed(path.display(), &failure),
                }
            }
            Err(error) => call.refused(path.display(), error),
        }
    }

    fn write_to(&self, path: &Path, new: NewFile<'_>, call: &mut CacheWrite) -> Result<(), SharedFailure> {
        let Some(file) = SharedLock::open(&*self.env.disk, path, Some(new))? else { return Ok(()) };
        let (others_bits, now_ms) = (file.others_bits()?, || self.env.clock.filtered_ms());
        file.carry_out(now_ms, |bytes, facts| call.step(bytes, facts, others_bits, path.display()))
    }

    pub(crate) fn drop_lease(&self, mut call: CacheDrop) -> CacheDropped {
        let (path, now_ms) = (self.path(call.worker_id()), || self.env.clock.filtered_ms());
        let step = |bytes: &[u8], facts| call.step(bytes, facts, path.display());
        match SharedLock::change(&*self.env.disk, &path, None, now_ms, step) {
            Ok(Some(())) => call.end(),
            Ok(None) => call.missing(path.display()),
            Err(failure) => call.failed(path.display(), &failure),
        }
    }
}
