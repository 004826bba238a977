//! Whether a worker id is held now, asked without holding it.

use crate::os::env::Env;
use crate::storage::state_file;
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::path::Path;

/// Who holds a worker id, as far as that can be told; none if nobody does.
pub(super) fn holder_of(env: &Env, directory: &Path, name: &str, worker_id: u32) -> Option<String> {
    if let Some(holder) = env.disk.holder(name, worker_id) {
        return Some(holder);
    }
    // By a process that sees other marks, as in another container. The lock is shared with others who ask, and gone
    // with the descriptor: a claim that meets it tries again.
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
