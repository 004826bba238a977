//! The reset of a record that is ahead of the clock: its granted spans are skipped, and ids start at the clock again.

use crate::os::env::Env;
use crate::storage::state_file;
use crate::worker::settings::SnowflakeSettings;
use crate::worker::worker_locks::{RecordFiles, WorkerLocks};
use leafid_core::call::FileAdvice;
use leafid_core::run::record_open::RecordOpen;
use leafid_core::snowflake::{ClaimAction, ClaimSearch};
use leafid_core::{Code, Error, Record, Result};

/// A record before and after its reset.
#[derive(Debug)]
pub(crate) struct Reset {
    pub(crate) before: Record,
    pub(crate) after: Record,
}

/// Resets the record of a worker id without a holder. Meanwhile it holds the id as a claim does.
///
/// Errors: `worker_in_use` with the holder, `invalid_argument` without a record, `state_io`, `state_corrupt`,
/// `state_mismatch`, `before_epoch`, `time_exhausted`.
pub(crate) fn reset(env: &Env, settings: &SnowflakeSettings, worker_id: u32) -> Result<Reset> {
    let mut search = ClaimSearch::one(&settings.options.name, worker_id, env.clock.boot_time());
    loop {
        match search.poll(env.clock.boot_time()) {
            ClaimAction::Claim { worker_id, .. } => match once(env, settings, worker_id) {
                Ok(reset) => return Ok(reset),
                Err(error) => search.refused(error),
            },
            ClaimAction::Sleep(pause) => env.clock.sleep(pause),
            ClaimAction::Failed(error) => return Err(error),
            // Of a range alone.
            ClaimAction::Peek(_) | ClaimAction::Warn(_) | ClaimAction::WarnOfStranger(_) => {}
        }
    }
}

fn once(env: &Env, settings: &SnowflakeSettings, worker_id: u32) -> Result<Reset> {
    let (directory, name) = (&settings.directory, &settings.options.name);
    let path = state_file::path_of(directory, worker_id);
    let in_use = |holder: Option<String>| {
        let holder = holder.unwrap_or_else(|| "another process".into());
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
    let Some(found) = state_file::peek(env, directory, worker_id)? else {
        let allowed = format!("a worker id of {name:?} that was used: there is no {}", path.display());
        return Err(Error::invalid("worker", worker_id, &allowed));
    };
    let mut held = WorkerLocks::default();
    let files = RecordFiles { env, directory, access: settings.sharing().access() };
    // Of any layout, and with any values.
    let open = RecordOpen::new(name, worker_id, found.record.layout, FileAdvice::StateDir).of_any_values();
    let found = held.open(&files, open).into_result()?.ok_or_else(|| in_use(recorded()))?;
    let now_ms = env.clock.filtered_ms();
    let (mut file, warning) = found.into_file(&settings.options.rules, now_ms);
    warning.iter().for_each(|warning| log::warn!("leafid: {warning}"));
    let before = file.record().clone();
    if let Some(write) = file.reset(now_ms, state_file::this_process(env))? {
        file.written(held.write(write, || env.number()))?;
    }
    Ok(Reset { before, after: file.record().clone() })
}
