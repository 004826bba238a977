//! A lock file in a folder of all users: macOS has no abstract sockets.

use crate::os::env::HostLock;
use crate::os::lock_file::{self, LockFile};
use leafid_core::Result;
use leafid_core::options::deployment::Scope;
use rustix::fs::Access;
use std::path::Path;

impl HostLock for LockFile {}

/// Locks this worker id on this host; `None` if another process holds it.
pub(crate) fn system_lock(name: &str, worker_id: u32) -> Result<Option<Box<dyn HostLock>>> {
    match lock_file::lock(Path::new(lock_file::LOCK_DIR), name, worker_id) {
        Ok(locked) => Ok(locked.map(|file| Box::new(file) as Box<dyn HostLock>)),
        // As in a sandbox. With what else fails, the id could be held twice.
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            log::warn!(
                "leafid: worker id {worker_id} cannot be locked in {} ({error}): other state directories and users of \
                 the host do not see it",
                lock_file::LOCK_DIR
            );
            Ok(Some(Box::new(NoLock)))
        }
        Err(error) => Err(lock_file::failed(name, worker_id, &error)),
    }
}

struct NoLock;

impl HostLock for NoLock {}

/// The processes that see such a lock.
pub(crate) fn scope() -> Scope {
    match rustix::fs::access(lock_file::LOCK_DIR, Access::WRITE_OK) {
        Ok(()) => Scope::Host,
        // In a sandbox.
        Err(_) => Scope::NoLock,
    }
}

/// macOS does not tell who holds a lock. The record names its holder.
pub(crate) fn system_holder(_name: &str, _worker_id: u32) -> Option<String> {
    None
}

/// The names under which this worker id is locked.
pub(crate) fn names_of(worker_id: u32, _sub_directories: Option<&Path>) -> Vec<String> {
    lock_file::names_of(Path::new(lock_file::LOCK_DIR), worker_id)
}

pub(crate) fn foreign_holder(_name: &str, _worker_id: u32, _record: &Path) -> Option<u32> {
    None
}
