//! The lease that a claim uses, checked against the record.

use crate::os::env::Env;
use crate::storage::state_file::StateFile;
use crate::worker::claim_context::ClaimContext;
use crate::worker::grant::Grant;
use crate::worker::leases::WorkerLeases;
use crate::worker::renewable_lease::RenewableLease;
use crate::worker::settings::SnowflakeSettings;
use crate::worker::source::WorkerSource;
use leafid_core::{Code, Error, HeldLease, Lease, Result, Span};
use std::sync::Arc;
use std::time::Duration;

/// A lease that was just granted, or was read from the cache.
pub(crate) struct UsableLease {
    source: Arc<dyn WorkerLeases>,
    lease: Lease,
    pub(crate) span: Span,
    /// The boot time before the lease was requested.
    asked: Duration,
}

impl UsableLease {
    /// The lease of the worker id whose record this process has just locked; `None` if the id comes without a lease.
    ///
    /// Errors: `worker_lost`, `invalid_argument` or `worker_in_use` for an unusable span; those of reading the cache.
    pub(crate) fn of(
        env: &Env,
        settings: &SnowflakeSettings,
        context: &ClaimContext,
        file: &StateFile,
        now_ms: i64,
    ) -> Result<Option<UsableLease>> {
        let (source, lease, asked) = match (&context.grant, &context.offline_start) {
            (Some((Grant { lease: Some((source, lease)), .. }, asked)), _) => {
                (Arc::clone(source), lease.clone(), *asked)
            }
            (None, Some(offline_start)) => offline_start.lease(env, settings, file)?,
            _ => return Ok(None),
        };
        let span = lease.span(&settings.key.space.layout, &context.rules, now_ms);
        let span = span.map_err(|error| of_servers(settings, error))?;
        Ok(Some(UsableLease { source, lease, span, asked }))
    }

    /// The lease as one that is held. A call of its source that takes longer than `patience` counts as hanging.
    pub(crate) fn held(self, now_ms: i64, patience: Duration) -> RenewableLease {
        let held = HeldLease::new(self.lease, self.span, self.asked, now_ms, patience);
        RenewableLease::new(self.source, held)
    }
}

/// The error for an unusable result. From servers it is never an invalid argument of the user.
pub(crate) fn of_servers(settings: &SnowflakeSettings, error: Error) -> Error {
    match settings.key.workers.source().and_then(WorkerSource::as_servers) {
        Some((_, urls)) if error.code() == Code::InvalidArgument => {
            let message = format!(
                "{} leased what cannot be used: {}; see the server",
                urls.join(", "),
                error.message()
            );
            Error::new(Code::WorkerLost, message)
        }
        _ => error,
    }
}
