//! Whether a process holds a worker id now, without a claim of it.

use crate::os::env::Env;
use crate::storage::state_file;
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::path::Path;

/// The holder of a worker id, as far as it is known; `None` if nobody holds it.
pub(super) fn holder_of(env: &Env, directory: &Path, name: &str, worker_id: u32) -> Option<String> {
    if let Some(holder) = env.disk.holder(name, worker_id) {
        return Some(holder);
    }
    // The holder may see other marks, as in another container. The shared lock does not exclude other readers, and
    // closing the descriptor releases it. A claim that meets this lock tries again.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    let path = state_file::path_of(directory, worker_id);
    let file = rustix::fs::open(path, flags, Mode::empty()).ok()?;
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared) {
        Err(Errno::WOULDBLOCK) => {
            let recorded = state_file::recorded_holder(env, directory, worker_id);
            Some(recorded.unwrap_or_else(|| "another process".into()))
        }
        _ => None,
    }
}
