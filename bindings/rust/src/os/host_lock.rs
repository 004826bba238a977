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

use crate::os::PerProcess;
use crate::os::env::HostLock;
use crate::os::mutex::lock_signal_safe;
use crate::os::process;
use leafid_core::{Code, Error, Result};
use std::collections::BTreeSet;
use std::sync::Mutex;

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

/// The worker ids that this process holds. It excludes its own generators also where the system gives no lock.
static HELD: PerProcess<Held> = PerProcess::new();

struct Held {
    ids: Mutex<BTreeSet<(String, u32)>>,
    /// The generation of its process.
    generation: u64,
}

/// Locks this worker id on this host; `None` if this process or another one holds it. Errors: `state_io`.
pub(crate) fn lock_worker(name: &str, worker_id: u32) -> Result<Option<Box<dyn HostLock>>> {
    let held = HELD.get_or_install(|| Held { ids: Mutex::default(), generation: process::generation() });
    let key = (name.to_owned(), worker_id);
    if lock_signal_safe(&held.ids, held.generation, |ids| ids.insert(key.clone())) != Some(true) {
        return Ok(None);
    }
    let mark = Mark { held, key };
    let system = system_lock(name, worker_id)?;
    Ok(system.map(|system| Box::new(MarkedLock { system, _mark: mark }) as Box<dyn HostLock>))
}

/// Describes the process that holds the lock of a worker id, for messages.
pub(crate) fn holder(name: &str, worker_id: u32) -> Option<String> {
    let key = (name.to_owned(), worker_id);
    let is_held = |held: &Held| lock_signal_safe(&held.ids, held.generation, |ids| ids.contains(&key));
    match HELD.get().and_then(is_held) {
        Some(true) => Some(THIS_PROCESS.to_owned()),
        _ => system_holder(name, worker_id),
    }
}

/// The lock of the system is dropped first: whoever finds no mark finds no lock either.
struct MarkedLock {
    system: Box<dyn HostLock>,
    _mark: Mark,
}

impl HostLock for MarkedLock {
    fn drain_queries(&self) {
        self.system.drain_queries();
    }
}

struct Mark {
    held: &'static Held,
    key: (String, u32),
}

impl Drop for Mark {
    fn drop(&mut self) {
        // A forked child has no part in its parent's.
        lock_signal_safe(&self.held.ids, self.held.generation, |ids| ids.remove(&self.key));
    }
}
