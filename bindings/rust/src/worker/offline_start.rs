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
use leafid_core::{ClaimCandidates, Error, OfflineRefusal, Result};
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
            return Err(OfflineRefusal::NotPersisted.error(&why));
        };
        let servers = servers.to_vec();
        let (env, wanted, theirs) = (Arc::clone(env), Arc::clone(settings), servers.clone());
        let find = move || lease_cache::candidates(&env, &wanted, &theirs);
        let ids = with_timeout::run(settings.disk_bound(), find).done().unwrap_or_default();
        match ids.is_empty() {
            true => Err(OfflineRefusal::NoneHeld.error(&why)),
            false => Ok(OfflineStart { source, servers, ids, why }),
        }
    }

    /// The worker ids to claim.
    pub(crate) fn candidates(&self) -> ClaimCandidates {
        ClaimCandidates::Cached { worker_ids: self.ids.clone(), why: self.why.clone() }
    }

    /// The cached grant of the worker id whose record was just locked. Errors: `worker_lost` if none is usable.
    pub(crate) fn grant(&self, env: &Env, settings: &SnowflakeSettings, file: &StateFile) -> Result<Grant> {
        let record = file.record();
        let found = lease_cache::find_cached(env, settings, &self.servers, record.worker_id, record.owner)?;
        let (lease, asked) = found.ok_or_else(|| OfflineRefusal::NoneHeld.error(&self.why))?;
        let (generation, worker_id) = (os::process::generation(), lease.worker_id);
        Ok(Grant { generation, asked, worker_id, lease: Some((Arc::clone(&self.source), lease)) })
    }
}
