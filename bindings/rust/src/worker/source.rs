//! Where worker ids come from when the user names neither an id nor a range: a callback of the user's, or an object that
//! leases them from what all hosts share, such as a database.

use crate::os;
use crate::tasks::user_calls::Answer;
use crate::worker::grant::Grant;
#[cfg(feature = "http")]
use crate::worker::lease_client::HttpLeases;
use leafid_core::{Code, Error, Lease, Renewal, Result};
use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// What a worker id is claimed with.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimRequest {
    /// The id space.
    pub name: String,
    /// 128 random bits in hex, other ones for each claim.
    pub instance: String,
    /// The worker id that this generator held before, or its parent process: none at the first claim.
    pub previous: Option<u32>,
    /// The clock, Unix milliseconds.
    pub now_ms: i64,
    /// Where the span is wished to end, Unix milliseconds. More or less may be given.
    pub until_ms: i64,
}

/// Leases of worker ids from a place that all hosts share: a database, Redis, etcd, ZooKeeper.
///
/// The methods are called on threads of leafid's own, and may block; one that has not answered after `timeout_ms` is
/// given up. For a generator there is one call at a time, but for one that was given up. What makes ids unique is one
/// rule: a span that was answered overlaps no other span of the same worker id. So `until_ms` is stored before it is
/// answered, never lowered but by `release`, and the next holder's `from_ms` is at or above it.
///
/// ```no_run
/// use leafid::{Answer, ClaimRequest, Lease, Renewal, Snowflake, WorkerLeases, WorkerSource};
/// use std::sync::{Mutex, PoisonError};
///
/// /// Of each worker id, who holds it and up to where it was ever given. A table that all hosts share, in real life;
/// /// what is done with it locked is one transaction there.
/// struct Workers(Mutex<[(String, i64); 32]>);
///
/// impl Workers {
///     fn transaction<T>(&self, action: impl FnOnce(&mut [(String, i64); 32]) -> T) -> T {
///         action(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
///     }
/// }
///
/// impl WorkerLeases for Workers {
///     fn claim(&self, request: &ClaimRequest) -> Answer<Option<Lease>> {
///         Ok(self.transaction(|rows| {
///             let free = rows.iter().position(|(_, until_ms)| *until_ms <= request.now_ms)?;
///             let from_ms = rows[free].1;
///             rows[free] = (request.instance.clone(), request.until_ms);
///             Some(Lease {
///                 worker_id: free as i64,
///                 from_ms,
///                 until_ms: request.until_ms,
///                 token: Some(request.instance.clone()),
///                 ..Lease::default()
///             })
///         }))
///     }
///
///     fn renew(&self, lease: &Lease, until_ms: i64) -> Answer<Option<Renewal>> {
///         Ok(self.transaction(|rows| {
///             let (holder, stored_ms) = &mut rows[lease.worker_id as usize];
///             let ours = lease.token.as_ref() == Some(holder);
///             ours.then(|| {
///                 *stored_ms = until_ms.max(*stored_ms);
///                 Renewal { until_ms: *stored_ms, ..Renewal::default() }
///             })
///         }))
///     }
///
///     fn release(&self, lease: &Lease, until_ms: i64) -> Answer<()> {
///         self.transaction(|rows| {
///             let row = &mut rows[lease.worker_id as usize];
///             if lease.token.as_ref() == Some(&row.0) {
///                 *row = (String::new(), until_ms);
///             }
///         });
///         Ok(())
///     }
/// }
///
/// # fn main() -> leafid::Result<()> {
/// let workers = Workers(Mutex::new(std::array::from_fn(|_| (String::new(), 0))));
/// let flake = Snowflake::builder().worker(WorkerSource::leases(workers)).open()?;
/// println!("{}", flake.next()?);
/// # Ok(())
/// # }
/// ```
pub trait WorkerLeases: Send + Sync {
    /// Lends a free worker id with a span; none when there is no free one (`worker_in_use`).
    fn claim(&self, request: &ClaimRequest) -> Answer<Option<Lease>>;

    /// Extends the span, to about `until_ms`; none when the id is no longer this holder's (`worker_lost`, and a new claim
    /// follows), as does an error of that code. Any other error means that it is not known: what is held is used to its
    /// end, and the call made again.
    fn renew(&self, lease: &Lease, until_ms: i64) -> Answer<Option<Renewal>>;

    /// Takes the id back at a clean close: no id at or after `until_ms` was issued, nor will be.
    fn release(&self, lease: &Lease, until_ms: i64) -> Answer<()>;

    /// For event loops: how long before the last `claim` was called its answer was asked for.
    #[doc(hidden)]
    fn asked_ago(&self) -> Duration {
        Duration::ZERO
    }

    /// For event loops: whether `renew` waits for the very threads that ask for ids.
    #[doc(hidden)]
    fn runs_on_callers_thread(&self) -> bool {
        false
    }
}

/// A lease source that always returns none.
#[cfg(test)]
pub(crate) struct Silent;

#[cfg(test)]
impl WorkerLeases for Silent {
    fn claim(&self, _: &ClaimRequest) -> Answer<Option<Lease>> {
        Ok(None)
    }
    fn renew(&self, _: &Lease, _: i64) -> Answer<Option<Renewal>> {
        Ok(None)
    }
    fn release(&self, _: &Lease, _: i64) -> Answer<()> {
        Ok(())
    }
}

type ClaimId = dyn Fn(&ClaimRequest) -> Answer<Option<i64>> + Send + Sync;

/// A source of worker ids: equal to its clones alone, but for servers, which are equal where their options are.
#[derive(Clone)]
pub struct WorkerSource {
    kind: WorkerSourceKind,
    /// What tells it from others, when the pointer does not.
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
    /// A callback that answers a worker id which no other process on any host holds, or none. It is asked once for a
    /// process, and once for a forked child; the state directory does the rest.
    pub fn callback(claim: impl Fn(&ClaimRequest) -> Answer<Option<i64>> + Send + Sync + 'static) -> Self {
        WorkerSource { kind: WorkerSourceKind::Callback(Arc::new(claim)), identity: None }
    }

    /// An object that gives leases.
    pub fn leases(leases: impl WorkerLeases + 'static) -> Self {
        WorkerSource { kind: WorkerSourceKind::Leases(Arc::new(leases)), identity: None }
    }

    /// Servers that are asked over HTTP.
    #[cfg(feature = "http")]
    pub(crate) fn servers(servers: HttpLeases) -> Self {
        WorkerSource { kind: WorkerSourceKind::Servers(Arc::new(servers)), identity: None }
    }

    /// For bindings: two sources of the same identity are one, as two wrappers of the same object of the user's.
    #[doc(hidden)]
    pub fn with_identity(self, identity: (usize, usize)) -> Self {
        WorkerSource { identity: Some(identity), ..self }
    }

    /// Asks the user's code.
    pub(crate) fn claim(&self, request: &ClaimRequest) -> Result<Grant> {
        let generation = os::process::generation();
        let none = || {
            let message = format!(
                "the claim found no free worker id for {:?}; end a process, or widen the pool",
                request.name
            );
            Error::new(Code::WorkerInUse, message)
        };
        match &self.kind {
            WorkerSourceKind::Callback(claim) => {
                let answer = claim(request).map_err(|error| failed("the claim of a worker id", error))?;
                Ok(Grant {
                    generation,
                    asked_ago: Duration::ZERO,
                    worker_id: answer.ok_or_else(none)?,
                    lease: None,
                })
            }
            WorkerSourceKind::Leases(leases) => {
                let lease =
                    leases.claim(request).map_err(|error| failed("the claim of a worker id", error))?;
                let (lease, asked_ago) = (lease.ok_or_else(none)?, leases.asked_ago());
                Ok(granted(Arc::clone(leases), lease, asked_ago, generation))
            }
            #[cfg(feature = "http")]
            WorkerSourceKind::Servers(servers) => {
                let (lease, asked_ago) = servers.claim_since(request)?;
                Ok(granted(Arc::clone(servers) as _, lease, asked_ago, generation))
            }
        }
    }

    /// The servers that lease worker ids, and their URLs.
    pub(crate) fn as_servers(&self) -> Option<(Arc<dyn WorkerLeases>, &[String])> {
        match &self.kind {
            #[cfg(feature = "http")]
            WorkerSourceKind::Servers(servers) => Some((Arc::clone(servers) as _, servers.urls())),
            _ => None,
        }
    }

    /// Whether the last claim failed because no server could be reached.
    pub(crate) fn is_unreachable(&self) -> bool {
        match &self.kind {
            #[cfg(feature = "http")]
            WorkerSourceKind::Servers(servers) => servers.is_unreachable(),
            _ => false,
        }
    }

    /// Ends the requests under way: the generator is closed.
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

fn granted(leases: Arc<dyn WorkerLeases>, lease: Lease, asked_ago: Duration, generation: u64) -> Grant {
    Grant { generation, asked_ago, worker_id: lease.worker_id, lease: Some((leases, lease)) }
}

/// The error of a call of the user's code.
pub(crate) fn failed(doing: &str, error: Box<dyn StdError + Send + Sync>) -> Error {
    match error.downcast::<Error>() {
        Ok(error) => *error,
        // Its text last, as it is.
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
