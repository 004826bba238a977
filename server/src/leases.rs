//! Leases of worker ids: the calls of docs/LEASES.md, over tables that all servers share.

use crate::clock::random_hex;
use crate::lease_rules::{
    Claim, Pool, Space, SpanMs, Worker, check_unleased, held, is_released, peer_times_ms,
};
use crate::store::{Step, Store, Writes};
use leafid_core::{Code, Error, Lease, Renewal, Result};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::OwnedMutexGuard;
use tokio::time::timeout;

/// The leases of all names. Cloning shares them.
#[derive(Clone)]
pub(crate) struct Leases {
    store: Store,
    pool: Arc<Pool>,
    /// The newest state of each name that this process has seen. A table with a lower revision is an old one.
    seen: Arc<Mutex<HashMap<String, Space>>>,
    turns: Turns,
}

/// After that a change does not wait for its turn any more: while a store does not answer, each would wait for all before
/// it to fail. The store alone decides who is first.
const LONGEST_TURN: Duration = Duration::from_secs(1);
/// How often other servers may be first.
const MOST_TRIES: usize = 100;

/// The changes of one name come one after another: a store does no two of them at once, and those of a fleet that starts
/// would be in each other's way. A name is there while a change of it is.
#[derive(Clone, Default)]
struct Turns(Arc<Mutex<HashMap<String, Weak<tokio::sync::Mutex<()>>>>>);

/// What a change comes to, besides an error.
enum Outcome<T> {
    Done(T, Space),
    /// The table is older than one that was seen. All tokens are void now.
    Rewound(Space),
}

/// The action of a transaction: reads the rows, and returns the row to store.
type Decision<T> = dyn Fn(&Pool, &Space, &[Worker], i64) -> Result<(T, Option<Worker>)> + Send + Sync;

impl Turns {
    /// Waits until no other change of the name is under way, or for [`LONGEST_TURN`].
    async fn next(&self, name: &str) -> Option<OwnedMutexGuard<()>> {
        let turn = {
            let mut turns = self.0.lock();
            turns.retain(|_, turn| turn.strong_count() > 0);
            let known = turns.get(name).and_then(Weak::upgrade);
            known.unwrap_or_else(|| {
                let turn = Arc::default();
                turns.insert(name.to_owned(), Arc::downgrade(&turn));
                turn
            })
        };
        timeout(LONGEST_TURN, turn.lock_owned()).await.ok()
    }
}

impl Leases {
    pub(crate) fn new(store: Store, pool: Pool) -> Leases {
        Leases { store, pool: Arc::new(pool), seen: Arc::default(), turns: Turns::default() }
    }

    pub(crate) fn lease_ms(&self) -> i64 {
        self.pool.lease_ms
    }

    /// Grants a worker id and a span of its ticks, and returns the database's clock, too.
    ///
    /// Errors: `worker_in_use`; `segment_unavailable` if the store does not answer.
    pub(crate) async fn claim(&self, claim: Claim) -> Result<(Lease, i64)> {
        let (name, token) = (claim.name.clone(), random_hex()?);
        self.change(&name, None, move |pool, space, workers, store_ms| {
            let granted = pool.claim(space, workers, &claim, store_ms, token.clone())?;
            let lease = Lease {
                worker_id: granted.worker_id,
                from_ms: granted.begins_ms,
                until_ms: granted.until_ms,
                lease_ms: Some(pool.lease_ms),
                token: Some(granted.token.clone()),
                peer_times_ms: peer_times_ms(workers, granted.worker_id, store_ms),
            };
            Ok(((lease, store_ms), Some(granted)))
        })
        .await
    }

    /// Whether no span of these worker ids may still be used, by the store's clock and by one of this host, in Unix
    /// milliseconds. It changes nothing.
    ///
    /// Errors: `worker_in_use`; `segment_unavailable` if the store does not answer.
    pub(crate) async fn check_unleased(
        &self,
        name: &str,
        ids: &RangeInclusive<i64>,
        host_ms: i64,
    ) -> Result<()> {
        let (store_ms, space, workers) = self.store.workers(name).await?;
        check_unleased(&space, &workers, name, ids, store_ms.min(host_ms))
    }

    /// Extends the span. Errors: `worker_lost`; `segment_unavailable` if the store does not answer.
    pub(crate) async fn renew(
        &self,
        name: &str,
        worker_id: i64,
        token: &str,
        until_ms: i64,
    ) -> Result<Renewal> {
        let (of, old, new) = (name.to_owned(), token.to_owned(), random_hex()?);
        self.change(name, Some(worker_id), move |pool, _, workers, store_ms| {
            let holder = held(workers, &of, worker_id, &old)?;
            let renewed = pool.renew(holder, until_ms, store_ms, new.clone())?;
            let renewal = Renewal {
                worker_id: Some(worker_id),
                until_ms: renewed.until_ms,
                lease_ms: Some(pool.lease_ms),
                token: Some(renewed.token.clone()),
            };
            Ok((renewal, Some(renewed)))
        })
        .await
    }

    /// Gives the worker id back. Errors: `worker_lost`; `segment_unavailable` if the store does not answer.
    pub(crate) async fn release(&self, name: &str, worker_id: i64, token: &str, until_ms: i64) -> Result<()> {
        let (of, token) = (name.to_owned(), token.to_owned());
        self.change(name, Some(worker_id), move |_, _, workers, _| {
            if is_released(workers, worker_id, &token) {
                return Ok(((), None));
            }
            Ok(((), Some(held(workers, &of, worker_id, &token)?.release(until_ms))))
        })
        .await
    }

    /// What is stored of a name: the store's clock, and the worker ids that were ever granted.
    ///
    /// Errors: `segment_unavailable` if the store does not answer.
    pub(crate) async fn rows(&self, name: &str) -> Result<(i64, Space, Vec<Worker>)> {
        self.store.workers(name).await
    }

    /// Gives up the span of a worker id that is ahead of the clock, and returns what is never granted again. `seen`: the
    /// row, which no holder has changed for as long as a lease lasts.
    ///
    /// Errors: `worker_in_use`, `invalid_argument`; `segment_unavailable` if the store does not answer.
    pub(crate) async fn free(&self, name: &str, seen: &Worker) -> Result<Vec<SpanMs>> {
        let seen = seen.clone();
        self.change(name, Some(seen.worker_id), move |pool, space, workers, store_ms| {
            let row = workers.iter().find(|row| row.worker_id == seen.worker_id);
            let row = row.filter(|row| row.token == seen.token && row.begins_ms == seen.begins_ms);
            let Some(row) = row else {
                let message = format!("worker id {} is in use: its row has changed", seen.worker_id);
                return Err(Error::new(Code::WorkerInUse, message));
            };
            let (freed, skipped) = row.free(pool.lease_ms, space.floor_ms, store_ms)?;
            Ok((skipped, Some(freed)))
        })
        .await
    }

    /// `only`: the worker id whose row is enough to decide.
    async fn change<T: Send + 'static>(
        &self,
        name: &str,
        only: Option<i64>,
        decide: impl Fn(&Pool, &Space, &[Worker], i64) -> Result<(T, Option<Worker>)> + Send + Sync + 'static,
    ) -> Result<T> {
        let decide: Arc<Decision<T>> = Arc::new(decide);
        let _turn = self.turns.next(name).await;
        for _ in 0..MOST_TRIES {
            let step = self.step(name, decide.clone());
            match self.store.change_workers(name, only, &self.pool, step).await? {
                Some(Outcome::Done(value, space)) => {
                    self.saw(name, space);
                    return Ok(value);
                }
                Some(Outcome::Rewound(space)) => {
                    log::error!(
                        "the worker ids of {name:?} were rewound to an older copy: all leases are void, and nothing is \
                         granted before {} ms",
                        space.floor_ms
                    );
                    self.saw(name, space);
                }
                None => {}
            }
        }
        Err(Error::new(
            Code::SegmentUnavailable,
            format!("the table of worker ids of {name} changes meanwhile"),
        ))
    }

    fn step<T: Send + 'static>(&self, name: &str, decide: Arc<Decision<T>>) -> Step<Outcome<T>> {
        let (leases, name) = (self.clone(), name.to_owned());
        Box::new(move |space, workers, store_ms| {
            // Nothing is stored if the row has changed since it was read.
            let seen = leases.seen.lock().get(&name).cloned();
            if let Some(seen) = seen.filter(|seen| space.revision < seen.revision) {
                // The clock that judged a forgotten grant may have been ahead: another server's, or the store's
                // before a fail-over.
                let doubted = leases.pool.doubted(space, &seen, store_ms + leases.pool.threshold_ms);
                let writes = Writes { space: Some(doubted.clone()), worker: None, voids_tokens: true };
                return Ok((Outcome::Rewound(doubted), writes));
            }
            let (value, changed) = decide(&leases.pool, space, workers, store_ms)?;
            let Some(changed) = changed else {
                return Ok((Outcome::Done(value, space.clone()), Writes::default()));
            };
            let space = leases.pool.changed(space, store_ms);
            let writes = Writes { space: Some(space.clone()), worker: Some(changed), voids_tokens: false };
            Ok((Outcome::Done(value, space), writes))
        })
    }

    fn saw(&self, name: &str, space: Space) {
        let mut seen = self.seen.lock();
        let known = seen.entry(name.to_owned()).or_insert_with(|| space.clone());
        if known.revision < space.revision {
            *known = space;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_turn_that_does_not_come_is_not_waited_for_forever() {
        let turns = Turns::default();
        let first = turns.next("orders").await;
        assert!(first.is_some() && turns.next("items").await.is_some());
        assert!(turns.next("orders").await.is_none());
        drop(first);
        assert!(turns.next("orders").await.is_some());
    }
}
