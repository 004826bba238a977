//! A start while no lease server is reachable: it uses a cached lease, or fails.

use crate::os;
use crate::os::env::Env;
use crate::storage::state_file::StateFile;
use crate::tasks::with_timeout;
use crate::worker::grant::Grant;
use crate::worker::lease_cache;
use crate::worker::leases::WorkerLeases;
use crate::worker::settings::SnowflakeSettings;
use crate::worker::source::WorkerSource;
use leafid_core::{Code, Error, Result};
use std::sync::Arc;

/// The worker ids whose leases are cached.
#[derive(Clone)]
pub(crate) struct OfflineStart {
    source: Arc<dyn WorkerLeases>,
    servers: Vec<String>,
    ids: Vec<u32>,
    /// Why no server was reachable.
    why: Error,
}

impl OfflineStart {
    /// Finds the cached leases of these servers in the state directory. Errors: `worker_lost` if there are none.
    pub(crate) fn find(
        env: &Arc<Env>,
        settings: &Arc<SnowflakeSettings>,
        source: &WorkerSource,
        why: Error,
    ) -> Result<OfflineStart> {
        let Some((source, servers)) = source.as_servers().filter(|_| settings.key.persist) else {
            return Err(refused(&why, "and none is remembered with persist = false"));
        };
        let servers = servers.to_vec();
        let (env, wanted, theirs) = (Arc::clone(env), Arc::clone(settings), servers.clone());
        let find = move || lease_cache::candidates(&env, &wanted, &theirs);
        let ids = with_timeout::run(settings.disk_bound(), find).done().unwrap_or_default();
        match ids.is_empty() {
            true => Err(refused(&why, NONE)),
            false => Ok(OfflineStart { source, servers, ids, why }),
        }
    }

    /// Claims the first worker id that is available. `last`: whether this is the last try.
    ///
    /// Errors: `worker_in_use` while other processes hold them; `worker_lost` at the last try; `clock_backwards`.
    pub(crate) fn first<T>(&self, last: bool, mut claim: impl FnMut(u32) -> Result<T>) -> Result<T> {
        let mut in_use = None;
        for &worker_id in &self.ids {
            match claim(worker_id) {
                Ok(claim) => {
                    log::warn!(
                        "leafid: {}; worker id {worker_id} continues with the lease that it still holds",
                        self.why
                    );
                    return Ok(claim);
                }
                Err(error) if error.code() == Code::WorkerInUse => in_use = Some(error),
                Err(error) if error.code() == Code::ClockBackwards => return Err(error),
                Err(error) => log::warn!("leafid: {error}; the lease of worker id {worker_id} is left alone"),
            }
        }
        match in_use {
            Some(error) if !last => Err(error),
            Some(_) => Err(refused(&self.why, "and other processes hold those that are remembered")),
            None => Err(refused(&self.why, NONE)),
        }
    }

    /// The cached grant of the worker id whose record was just locked. Errors: `worker_lost` if none is usable.
    pub(crate) fn grant(&self, env: &Env, settings: &SnowflakeSettings, file: &StateFile) -> Result<Grant> {
        let record = file.record();
        let found = lease_cache::find_cached(env, settings, &self.servers, record.worker_id, record.owner)?;
        let (lease, asked) = found.ok_or_else(|| refused(&self.why, NONE))?;
        let (generation, worker_id) = (os::process::generation(), lease.worker_id);
        Ok(Grant { generation, asked, worker_id, lease: Some((Arc::clone(&self.source), lease)) })
    }
}

const NONE: &str = "and no span of one is still held here";

fn refused(why: &Error, held: &str) -> Error {
    let message = format!("no lease server can be reached, {held}: {}", why.message());
    Error::new(Code::WorkerLost, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::leases::Silent;

    #[test]
    fn what_a_start_says_that_finds_none_it_can_have() {
        use Code::{ClockBackwards, StateCorrupt, WorkerInUse, WorkerLost};
        for (met, last, code, says) in [
            (&[WorkerInUse, StateCorrupt][..], false, WorkerInUse, "met"),
            (&[WorkerInUse, StateCorrupt], true, WorkerLost, "other processes hold"),
            (&[StateCorrupt], false, WorkerLost, NONE),
            (&[StateCorrupt], true, WorkerLost, NONE),
            (&[ClockBackwards, WorkerInUse], true, ClockBackwards, "met"),
        ] {
            let ids = (0..met.len() as u32).collect();
            let why = Error::new(WorkerLost, "why");
            let offline_start = OfflineStart { source: Arc::new(Silent), servers: Vec::new(), ids, why };
            let error = offline_start
                .first(last, |id| Err::<(), _>(Error::new(met[id as usize], "met")))
                .err()
                .unwrap();
            assert_eq!(error.code(), code, "{met:?}, {last}");
            assert!(error.message().contains(says), "{error}");
        }
    }
}
