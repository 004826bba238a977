//! Whether a process holds a worker id now, without a claim of it.

use crate::os::disk;
use crate::os::env::Env;
use crate::storage::state_file;
use std::path::Path;

/// The holder of a worker id, as far as it is known; `None` without one.
pub(super) fn holder_of(env: &Env, directory: &Path, name: &str, worker_id: u32) -> Option<String> {
    if let Some(holder) = env.disk.holder(name, worker_id) {
        return Some(holder);
    }
    // The holder may see other host locks, as in another container.
    disk::is_locked(&state_file::path_of(directory, worker_id)).then(|| {
        state_file::recorded_holder(env, directory, worker_id).unwrap_or_else(|| "another process".into())
    })
}
