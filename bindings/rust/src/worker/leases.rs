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
/// use std::time::UNIX_EPOCH;
///
/// // In production, a table that all hosts share. Each locked section is one transaction there.
/// struct Workers(Mutex<Table>);
///
/// #[derive(Default)]
/// struct Table {
///     /// For each worker id: the number of its holder, and the largest end of a span ever given.
///     rows: [(u64, i64); 32],
///     holders: u64,
/// }
///
/// impl Table {
///     /// The token of a new holder: of two copies of the last one, one renews.
///     fn hold(&mut self, worker_id: usize, until_ms: i64) -> Option<String> {
///         self.holders += 1;
///         self.rows[worker_id] = (self.holders, until_ms);
///         Some(self.holders.to_string())
///     }
/// }
///
/// impl Workers {
///     fn transaction<T>(&self, action: impl FnOnce(&mut Table) -> T) -> T {
///         action(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
///     }
/// }
///
/// /// The table's clock, which no client's can deceive: a span ends at most 40 s ahead of it.
/// fn clock_ms() -> i64 {
///     UNIX_EPOCH.elapsed().map_or(0, |since| since.as_millis() as i64)
/// }
///
/// impl WorkerLeases for Workers {
///     fn claim(&self, request: &ClaimRequest) -> Answer<Option<Lease>> {
///         Ok(self.transaction(|table| {
///             let now_ms = request.now_ms.min(clock_ms());
///             let free = table.rows.iter().position(|(_, until_ms)| *until_ms <= now_ms)?;
///             let (_, from_ms) = table.rows[free];
///             let until_ms = request.until_ms.min(clock_ms() + 40_000);
///             let token = table.hold(free, until_ms);
///             Some(Lease { worker_id: free as i64, from_ms, until_ms, token, ..Lease::default() })
///         }))
///     }
///
///     fn renew(&self, lease: &Lease, until_ms: i64) -> Answer<Option<Renewal>> {
///         Ok(self.transaction(|table| {
///             let (holder, stored_ms) = table.rows[lease.worker_id as usize];
///             let ours = lease.token == Some(holder.to_string());
///             ours.then(|| {
///                 let until_ms = until_ms.min(clock_ms() + 40_000).max(stored_ms);
///                 let token = table.hold(lease.worker_id as usize, until_ms);
///                 Renewal { until_ms, token, ..Renewal::default() }
///             })
///         }))
///     }
///
///     fn release(&self, lease: &Lease, until_ms: i64) -> Answer<()> {
///         self.transaction(|table| {
///             let row = &mut table.rows[lease.worker_id as usize];
///             if lease.token == Some(row.0.to_string()) {
///                 *row = (0, until_ms.min(row.1));
///             }
///         });
///         Ok(())
///     }
/// }
///
/// # fn main() -> leafid::Result<()> {
/// let workers = Workers(Mutex::new(Table::default()));
/// let flake = Snowflake::builder().worker(WorkerSource::leases(workers)).open()?;
/// println!("{}", flake.next()?);
/// # Ok(())
/// # }
/// ```
pub trait WorkerLeases: Send + Sync {
    /// Leases a free worker id with a span; returns `None` if no id is free (`worker_in_use`).
    fn claim(&self, request: &ClaimRequest) -> Answer<Option<Lease>>;

    /// Extends the span to about `until_ms`, and stores a new token. Returns `None` if this holder has lost the id.
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
