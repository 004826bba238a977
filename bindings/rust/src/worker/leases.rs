//! The trait for leases of worker ids from a place that all hosts share.

use crate::tasks::user_calls::Answer;
pub use leafid_core::run::ClaimRequest;
use leafid_core::{Lease, Renewal};
use std::time::Duration;

/// A source that leases worker ids from a place that all hosts share: a database, Redis, etcd, ZooKeeper.
///
/// leafid calls the methods on its own threads, and they may block. It abandons a call that has not returned after
/// `timeout_ms`. For one generator there is one call at a time, apart from abandoned ones.
///
/// One rule makes ids unique: a span that was returned overlaps no other span of the same worker id. So store
/// `until_ms` before you return it, lower it only in `release`, and start the next holder's `from_ms` at or above it.
///
/// ```no_run
/// use leafid::{Answer, ClaimRequest, Lease, Renewal, Snowflake, WorkerLeases, WorkerSource};
/// use std::sync::{Mutex, PoisonError};
///
/// /// For each worker id: its holder, and the largest end of a span ever given. In production, use a table that all
/// /// hosts share. Each locked section is one transaction there.
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
    /// Leases a free worker id with a span; returns `None` if no id is free (`worker_in_use`).
    fn claim(&self, request: &ClaimRequest) -> Answer<Option<Lease>>;

    /// Extends the span to about `until_ms`. Returns `None` if this holder has lost the id.
    ///
    /// After `None`, or after an error with the code `worker_lost`, the generator reports `worker_lost` and claims an
    /// id again. After any other error the state of the lease is unknown: the generator uses its span to the end and
    /// calls again.
    fn renew(&self, lease: &Lease, until_ms: i64) -> Answer<Option<Renewal>>;

    /// Releases the id at a clean close. The generator has issued no id at or after `until_ms`, and will issue none.
    fn release(&self, lease: &Lease, until_ms: i64) -> Answer<()>;

    /// For event loops: how long before the last `claim` call its result was requested.
    #[doc(hidden)]
    fn asked_ago(&self) -> Duration {
        Duration::ZERO
    }

    /// For event loops: whether `renew` waits for the same threads that ask for ids.
    #[doc(hidden)]
    fn runs_on_callers_thread(&self) -> bool {
        false
    }

    /// Whether a renewal is queued for that thread, which has not begun it.
    #[doc(hidden)]
    fn has_queued(&self) -> bool {
        false
    }

    /// Ends what is queued and not begun, without an answer: the generator is closed.
    #[doc(hidden)]
    fn withdraw(&self) {}
}
