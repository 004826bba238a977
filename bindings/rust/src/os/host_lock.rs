//! The lock of a worker id on a host, for all users and state directories.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
pub(crate) use linux::*;
#[cfg(target_os = "macos")]
pub(crate) use macos::*;
#[cfg(windows)]
pub(crate) use windows::*;

use crate::os::env::HostLock;
use leafid_core::{Code, Error, Result};

/// The host lock of a worker id that its user leases without [`crate::Snowflake`], as leafid-server does. It is held
/// until it is dropped.
pub struct WorkerLock(Box<dyn HostLock>);

impl WorkerLock {
    /// Locks the worker id of this name on this host. Errors: `worker_in_use`, which names the holder; `state_io`.
    pub fn take(name: &str, worker_id: u32) -> Result<WorkerLock> {
        if let Some(lock) = lock_worker(name, worker_id)? {
            return Ok(WorkerLock(lock));
        }
        let holder = holder(name, worker_id).unwrap_or_else(|| "another process".to_owned());
        let message = format!(
            "worker id {worker_id} of {name:?} is held on this host by {holder}: end that process, or use another worker id"
        );
        Err(Error::new(Code::WorkerInUse, message))
    }

    /// Closes the connections of processes that asked who holds the worker id. Call it now and then.
    pub fn drain_queries(&self) {
        self.0.drain_queries();
    }
}

/// The name of a holder in this process.
pub(crate) const THIS_PROCESS: &str = "this process";
