//! Sources of worker ids: a user callback, an object that leases them from a database or another shared place, or lease
//! servers.

use crate::os::env::Env;
use crate::tasks::user_calls::{Answer, guarded};
#[cfg(feature = "http")]
use crate::worker::lease_client::LeaseClient;
use crate::worker::leases::{ClaimRequest, WorkerLeases};
use leafid_core::http::{HttpCall, HttpEnd, NoResponse};
use leafid_core::run::{ClaimCall, Claimed, ReleaseCall, RenewCall, RunCallEnd, SourceFailure, Workers};
use leafid_core::{Code, Error, RenewalRequest, Result};
use std::fmt;
use std::sync::Arc;

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
    Servers(Arc<LeaseClient>),
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
    pub(crate) fn servers(servers: LeaseClient) -> Self {
        WorkerSource { kind: WorkerSourceKind::Servers(Arc::new(servers)), identity: None }
    }

    /// For bindings: sources of one identity are equal, such as two wrappers of the same user object.
    #[doc(hidden)]
    pub fn with_identity(self, identity: (usize, usize)) -> Self {
        WorkerSource { identity: Some(identity), ..self }
    }

    /// Asks it for a worker id. `random` is drawn for this claim.
    pub(crate) fn claim(&self, call: ClaimCall, random: Result<u128>) -> RunCallEnd {
        let claimed = random.map_err(SourceFailure::Coded).and_then(|random| {
            let request = call.request(random);
            match &self.kind {
                WorkerSourceKind::Callback(claim) => Ok(guarded(|| claim(&request))?.map(Claimed::Id)),
                WorkerSourceKind::Leases(leases) => {
                    let lease = guarded(|| leases.claim(&request))?;
                    Ok(lease.map(|lease| Claimed::Lease(lease, leases.asked_ago())))
                }
                #[cfg(feature = "http")]
                WorkerSourceKind::Servers(_) => Err(not_asked()),
            }
        });
        call.end(claimed)
    }

    /// Asks it for a longer lease.
    pub(crate) fn renew(&self, call: RenewCall) -> RunCallEnd {
        let RenewalRequest { lease, wish_ms } = call.request();
        let renewed = match &self.kind {
            WorkerSourceKind::Leases(leases) => guarded(|| leases.renew(lease, *wish_ms)),
            _ => Err(not_asked()),
        };
        call.end(renewed)
    }

    /// Gives a lease back.
    pub(crate) fn release(&self, call: ReleaseCall) -> RunCallEnd {
        let released = match &self.kind {
            WorkerSourceKind::Leases(leases) => guarded(|| leases.release(call.lease(), call.until_ms())),
            _ => Err(not_asked()),
        };
        call.end(released)
    }

    /// Sends a request to its servers.
    #[cfg_attr(not(feature = "http"), allow(unused_variables, reason = "there are no servers"))]
    pub(crate) fn send(&self, env: &Env, call: HttpCall) -> HttpEnd {
        match &self.kind {
            #[cfg(feature = "http")]
            WorkerSourceKind::Servers(servers) => servers.send(env, call),
            _ => call.failed(NoResponse::Forked, false),
        }
    }

    /// The lease servers; `None` for another source.
    #[cfg(feature = "http")]
    #[cfg_attr(not(feature = "cli"), allow(dead_code, reason = "the command line asks"))]
    pub(crate) fn as_servers(&self) -> Option<&Arc<LeaseClient>> {
        match &self.kind {
            WorkerSourceKind::Servers(servers) => Some(servers),
            _ => None,
        }
    }

    /// As the core knows it.
    pub(crate) fn as_workers(&self) -> Workers {
        match &self.kind {
            WorkerSourceKind::Callback(_) => Workers::Callback { leases: false },
            WorkerSourceKind::Leases(_) => Workers::Callback { leases: true },
            #[cfg(feature = "http")]
            WorkerSourceKind::Servers(servers) => servers.as_workers(),
        }
    }

    /// Ends the requests that no caller waits for any more.
    pub(crate) fn end_calls(&self) {
        #[cfg(feature = "http")]
        if let WorkerSourceKind::Servers(servers) = &self.kind {
            servers.end_calls();
        }
    }

    /// Whether a renewal waits for the same threads that ask for ids.
    pub(crate) fn runs_on_callers_thread(&self) -> bool {
        matches!(&self.kind, WorkerSourceKind::Leases(leases) if leases.runs_on_callers_thread())
    }

    /// Whether a close has nothing to wait for but what [`WorkerSource::withdraw`] ends.
    pub(crate) fn has_queued(&self) -> bool {
        matches!(&self.kind, WorkerSourceKind::Leases(leases) if leases.has_queued())
    }

    pub(crate) fn withdraw(&self) {
        if let WorkerSourceKind::Leases(leases) = &self.kind {
            leases.withdraw();
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

pub(crate) fn not_asked() -> SourceFailure {
    let message = "a source of worker ids was asked for what it does not give; report this";
    SourceFailure::Coded(Error::new(Code::Internal, message))
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
