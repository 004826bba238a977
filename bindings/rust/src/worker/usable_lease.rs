//! What a claim has of the lease that it goes by.

use crate::os::env::Env;
use crate::storage::state_file::StateFile;
use crate::worker::claim::Terms;
use crate::worker::grant::Given;
use crate::worker::lease_schedule::Held;
use crate::worker::settings::Settings;
use crate::worker::source::{WorkerLeases, WorkerSource};
use leafid_core::{Code, Error, Lease, Result, Span};
use std::sync::Arc;
use std::time::Duration;

/// A lease, given just now or remembered.
pub(crate) struct Lent {
    source: Arc<dyn WorkerLeases>,
    lease: Lease,
    pub(crate) span: Span,
    /// The suspend-counting clock before it was asked for.
    asked: Duration,
}

impl Lent {
    /// The lease of the worker id whose record this process has just locked; none where it comes without one.
    ///
    /// Errors: `worker_lost`, `invalid_argument`, `worker_in_use` for a span that cannot be used; those of reading what was
    /// remembered.
    pub(crate) fn of(
        env: &Env,
        settings: &Settings,
        terms: &Terms,
        file: &StateFile,
        now_ms: i64,
    ) -> Result<Option<Lent>> {
        let (source, lease, asked) = match (&terms.given, &terms.recall) {
            (Some((Given { lease: Some((source, lease)), .. }, asked)), _) => {
                (Arc::clone(source), lease.clone(), *asked)
            }
            (None, Some(recall)) => recall.lease(env, settings, file)?,
            _ => return Ok(None),
        };
        let span = lease.span(&settings.key.layout, &terms.rules, now_ms);
        let span = span.map_err(|error| of_servers(settings, error))?;
        Ok(Some(Lent { source, lease, span, asked }))
    }

    /// It, held; `patience`: a call of its giver that takes longer hangs.
    pub(crate) fn held(self, now_ms: i64, patience: Duration) -> Held {
        Held::new(self.source, self.lease, self.span, self.asked, now_ms, patience)
    }
}

/// An answer that cannot be used: of servers no argument of the user's is wrong.
pub(crate) fn of_servers(settings: &Settings, error: Error) -> Error {
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
