//! The claims that no lease server has answered, and that no generator sends: the next opening sends one of them as it
//! was, and so takes no second worker id.

use crate::os::mutex::lock_signal_safe;
use crate::os::{self, PerProcess};
use crate::worker::settings::SnowflakeSettings;
use crate::worker::source::WorkerSource;
use leafid_core::LeaseClaim;
use std::sync::Mutex;

/// A forked child starts with none.
static CLAIMS: PerProcess<Claims> = PerProcess::new();

struct Claims {
    generation: u64,
    kept: Mutex<Vec<(String, LeaseClaim)>>,
}

fn claims() -> &'static Claims {
    CLAIMS.get_or_install(|| Claims { generation: os::process::generation(), kept: Mutex::default() })
}

/// Keeps a claim for the next opening.
pub(crate) fn keep(settings: &SnowflakeSettings, claim: LeaseClaim) {
    let key = settings.key.workers.source().and_then(WorkerSource::servers_key);
    let Some(key) = key else { return };
    let claims = claims();
    lock_signal_safe(&claims.kept, claims.generation, |kept| {
        if kept.iter().all(|(_, known)| known.instance != claim.instance) {
            kept.push((key, claim));
        }
    });
}

/// A claim for this opening alone: two that send it would get one lease.
pub(crate) fn take(settings: &SnowflakeSettings) -> Option<LeaseClaim> {
    let key = settings.key.workers.source()?.servers_key()?;
    let claims = CLAIMS.get()?;
    lock_signal_safe(&claims.kept, claims.generation, |kept| {
        let at = kept.iter().position(|(known, _)| *known == key)?;
        Some(kept.remove(at).1)
    })
    .flatten()
}
