//! The reset of a record that is ahead of the clock: its granted spans are skipped, and ids start at the clock again.

use crate::os::env::Env;
use crate::storage::state_file::{self, StateFile};
use crate::worker::claim::find_free;
use crate::worker::settings::SnowflakeSettings;
use leafid_core::{ClaimSearch, Code, Error, Record, Result};
use std::cell::Cell;

/// A record before and after its reset.
#[derive(Debug)]
pub(crate) struct Reset {
    pub(crate) before: Record,
    pub(crate) after: Record,
}

/// Resets the record of a worker id that nobody holds. Meanwhile it holds the id as a claim does.
///
/// Errors: `worker_in_use` with the holder, `invalid_argument` without a record, `state_io`, `state_corrupt`,
/// `state_mismatch`, `before_epoch`, `time_exhausted`.
pub(crate) fn reset(env: &Env, settings: &SnowflakeSettings, worker_id: u32) -> Result<Reset> {
    let search = ClaimSearch::one(&settings.key.space.name, worker_id, env.clock.boot_time());
    find_free(env, settings, search, &Cell::default(), |worker_id, _| once(env, settings, worker_id))
}

fn once(env: &Env, settings: &SnowflakeSettings, worker_id: u32) -> Result<Reset> {
    let (directory, name) = (&settings.directory, &settings.key.space.name);
    let in_use = |holder: Option<String>| {
        let holder = holder.unwrap_or_else(|| "another process".into());
        let path = state_file::path_of(directory, worker_id);
        let message = format!(
            "worker id {worker_id} of {name:?} ({}) is held by {holder}; a record is reset only while nobody holds \
             it: end that process first",
            path.display()
        );
        Error::new(Code::WorkerInUse, message)
    };
    let recorded = || state_file::recorded_holder(env, directory, worker_id);
    // Dropped last: the record's lock is released before the host lock.
    let _presence = env
        .disk
        .lock_worker(name, worker_id)?
        .ok_or_else(|| in_use(env.disk.holder(name, worker_id).or_else(recorded)))?;
    let mut file =
        StateFile::open_any(env, settings.records(), worker_id)?.ok_or_else(|| in_use(recorded()))?;
    let now_ms = env.clock.filtered_ms();
    let before = file.record().clone();
    let after = before.reset(now_ms)?;
    file.write(after.clone(), &state_file::this_process(env))?;
    Ok(Reset { before, after })
}
