//! Leases of worker ids, from what all hosts share.

use crate::tasks::user_calls::Answer;
use leafid_core::{Lease, Renewal};
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
