//! The records of worker ids on disk, read without their locks.

use crate::os::env::Env;
use crate::os::process;
use crate::storage::io_failure::io_failure;
use leafid_core::call::FileAdvice;
use leafid_core::format::state::{self, StoredRecord, Writer};
use leafid_core::run::record_open;
use leafid_core::{Code, Error, Layout, Result, Utc};
use std::io;
use std::path::{Path, PathBuf};

pub(crate) fn path_of(directory: &Path, worker_id: u32) -> PathBuf {
    directory.join(record_open::record_file_name(worker_id))
}

/// `state_io` with the failed operation, the path and what to do.
pub(crate) fn failed(doing: &str, path: &Path, error: &io::Error) -> Error {
    io_failure(error).of_doing(doing, path.display(), FileAdvice::StateDir)
}

/// Reads a worker id's record without its lock: a hint for the choice of an id, and for messages.
pub(crate) fn peek(env: &Env, directory: &Path, worker_id: u32) -> Result<Option<StoredRecord>> {
    let path = path_of(directory, worker_id);
    match env.disk.peek(&path).map_err(|error| failed("read", &path, &error))? {
        None => Ok(None),
        Some(bytes) => {
            let newest = state::read_file(path.display(), &bytes)?.newest;
            observe_clock(env, &newest);
            Ok(Some(newest))
        }
    }
}

/// The process that wrote a worker id's record last, for messages.
pub(crate) fn recorded_holder(env: &Env, directory: &Path, worker_id: u32) -> Option<String> {
    peek(env, directory, worker_id).ok()??.holder()
}

/// Passes to the clock filter what another process of this start of the machine recorded.
fn observe_clock(env: &Env, stored: &StoredRecord) {
    if !stored.writer.boot.is_empty() && stored.writer.boot == env.clock.boot_id() {
        let Writer { counted_ms, leap_ms, .. } = &stored.writer;
        env.clock.observe(stored.record.granted_at_ms, *counted_ms, *leap_ms);
    }
}

/// The worker ids that have a file, sorted.
#[cfg_attr(not(feature = "cli"), allow(dead_code, reason = "the command line asks"))]
pub(crate) fn recorded(env: &Env, directory: &Path) -> Result<Vec<u32>> {
    let names = match env.disk.list(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        names => names.map_err(|error| failed("read", directory, &error))?,
    };
    Ok(record_open::recorded_ids(names.iter().filter_map(|name| name.to_str())))
}

/// Checks the layout of all records, for a claim that may get any worker id. What cannot be read is left to the claim of
/// its id. Errors: `state_mismatch`.
#[cfg_attr(not(feature = "cli"), allow(dead_code, reason = "the command line asks"))]
pub(crate) fn check_layouts(env: &Env, directory: &Path, layout: &Layout) -> Result<()> {
    recorded(env, directory).unwrap_or_default().into_iter().try_for_each(|worker_id| {
        match peek(env, directory, worker_id) {
            Ok(Some(found)) => {
                record_open::check_layout(&found.record, layout, path_of(directory, worker_id).display())
            }
            Err(error) if error.code() == Code::StateMismatch => Err(error),
            Ok(None) | Err(_) => Ok(()),
        }
    })
}

/// This process as the writer of a record.
pub(crate) fn this_process(env: &Env) -> Writer {
    let pid = std::process::id();
    let now_ms = env.clock.filtered_ms();
    let mut writer = Writer {
        pid: pid as i32,
        host: crate::os::hostname::hostname(),
        started: Utc(process::started_ms(pid).unwrap_or(now_ms)).to_string(),
        boot: env.clock.boot_id(),
        ..Writer::default()
    };
    writer.stamp(env.clock.boot_time(), env.clock.leap_ms());
    writer
}
