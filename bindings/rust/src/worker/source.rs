//! Sources of worker ids: a user callback, an object that leases them from a database or another shared place, or lease
//! servers.

use crate::os;
use crate::tasks::user_calls::Answer;
use crate::worker::grant::Grant;
#[cfg(feature = "http")]
use crate::worker::lease_client::HttpLeases;
use crate::worker::leases::{ClaimRequest, WorkerLeases};
use leafid_core::{Code, Error, Lease, Result};
use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

type ClaimId = dyn Fn(&ClaimRequest) -> Answer<Option<i64>> + Send + Sync;

/// A source of worker ids. It is equal to its clones. Lease servers are also equal if their options are equal.
#[derive(Clone)]
pub struct WorkerSource {
    kind: WorkerSourceKind,
    /// Identifies the source if the pointer does not.
    identity: Option<(usize, usize)>,
}

#[derive(Clone)]
enum WorkerSourceKind {
    Callback(Arc<ClaimId>),
    Leases(Arc<dyn WorkerLeases>),
    #[cfg(feature = "http")]
    Servers(Arc<HttpLeases>),
}

impl WorkerSource {
    /// A callback that returns a worker id that no other process on any host holds, or `None`.
    ///
    /// leafid calls it once for a process, and once for each forked child. The state directory stores the rest.
    pub fn callback(claim: impl Fn(&ClaimRequest) -> Answer<Option<i64>> + Send + Sync + 'static) -> Self {
        WorkerSource { kind: WorkerSourceKind::Callback(Arc::new(claim)), identity: None }
    }

    /// An object that leases worker ids.
    pub fn leases(leases: impl WorkerLeases + 'static) -> Self {
        WorkerSource { kind: WorkerSourceKind::Leases(Arc::new(leases)), identity: None }
    }

    /// Lease servers, over HTTP.
    #[cfg(feature = "http")]
    pub(crate) fn servers(servers: HttpLeases) -> Self {
        WorkerSource { kind: WorkerSourceKind::Servers(Arc::new(servers)), identity: None }
    }

    /// For bindings: sources of one identity are equal, such as two wrappers of the same user object.
    #[doc(hidden)]
    pub fn with_identity(self, identity: (usize, usize)) -> Self {
        WorkerSource { identity: Some(identity), ..self }
    }

    /// Claims a worker id. `asked` is the boot time.
    pub(crate) fn claim(&self, request: &ClaimRequest, asked: Duration) -> Result<Grant> {
        let generation = os::process::generation();
        let failed = |error| failed("the claim of a worker id", error);
        let none = || {
            let message = format!(
                "the claim found no free worker id for {:?}; end a process, or widen the pool",
                request.name
            );
            Error::new(Code::WorkerInUse, message)
        };
        let (source, lease, asked): (Arc<dyn WorkerLeases>, Lease, Duration) = match &self.kind {
            WorkerSourceKind::Callback(claim) => {
                let worker_id = claim(request).map_err(failed)?.ok_or_else(none)?;
                return Ok(Grant { generation, asked, worker_id, lease: None });
            }
            WorkerSourceKind::Leases(leases) => {
                let lease = leases.claim(request).map_err(failed)?.ok_or_else(none)?;
                (Arc::clone(leases), lease, asked.saturating_sub(leases.asked_ago()))
            }
            #[cfg(feature = "http")]
            WorkerSourceKind::Servers(servers) => {
                let (lease, asked) = servers.claim_since(request, asked)?;
                (Arc::clone(servers) as _, lease, asked)
            }
        };
        Ok(Grant { generation, asked, worker_id: lease.worker_id, lease: Some((source, lease)) })
    }

    /// The lease servers and their URLs; `None` for another source.
    pub(crate) fn as_servers(&self) -> Option<(Arc<dyn WorkerLeases>, &[String])> {
        match &self.kind {
            #[cfg(feature = "http")]
            WorkerSourceKind::Servers(servers) => Some((Arc::clone(servers) as _, servers.urls())),
            _ => None,
        }
    }

    /// Whether the last claim failed because no server was reachable.
    pub(crate) fn is_unreachable(&self) -> bool {
        match &self.kind {
            #[cfg(feature = "http")]
            WorkerSourceKind::Servers(servers) => servers.is_unreachable(),
            _ => false,
        }
    }

    /// Ends the running requests, because the generator was closed.
    pub(crate) fn end_calls(&self) {
        #[cfg(feature = "http")]
        if let WorkerSourceKind::Servers(servers) = &self.kind {
            servers.end_calls();
        }
    }

    pub(crate) fn leases_spans(&self) -> bool {
        !matches!(self.kind, WorkerSourceKind::Callback(_))
    }

    fn pointer(&self) -> (usize, usize) {
        self.identity.unwrap_or_else(|| match &self.kind {
            WorkerSourceKind::Callback(claim) => (Arc::as_ptr(claim).cast::<()>() as usize, 0),
            WorkerSourceKind::Leases(leases) => (Arc::as_ptr(leases).cast::<()>() as usize, 0),
            #[cfg(feature = "http")]
            WorkerSourceKind::Servers(servers) => (Arc::as_ptr(servers) as usize, 0),
        })
    }
}

/// The error of a user callback.
pub(crate) fn failed(doing: &str, error: Box<dyn StdError + Send + Sync>) -> Error {
    match error.downcast::<Error>() {
        Ok(error) => *error,
        // Its own text comes last, unchanged.
        Err(error) => Error::new(Code::WorkerLost, format!("{doing} failed: {error}")),
    }
}

impl PartialEq for WorkerSource {
    fn eq(&self, other: &WorkerSource) -> bool {
        let same_kind = match (&self.kind, &other.kind) {
            #[cfg(feature = "http")]
            (WorkerSourceKind::Servers(one), WorkerSourceKind::Servers(other)) => return one.is_same(other),
            (WorkerSourceKind::Callback(_), WorkerSourceKind::Callback(_))
            | (WorkerSourceKind::Leases(_), WorkerSourceKind::Leases(_)) => true,
            _ => false,
        };
        same_kind && self.identity.is_some() == other.identity.is_some() && self.pointer() == other.pointer()
    }
}

impl Eq for WorkerSource {}

impl fmt::Debug for WorkerSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            WorkerSourceKind::Callback(_) => "WorkerSource::callback",
            WorkerSourceKind::Leases(_) => "WorkerSource::leases",
            #[cfg(feature = "http")]
            WorkerSourceKind::Servers(_) => "WorkerSource::servers",
        })
    }
}
