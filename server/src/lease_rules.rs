//! The rules of leases, without IO: who gets which worker id, and which span of its ticks.
//!
//! `until_ms` alone makes ids unique: it is stored before it is answered, and the next span begins at or above it. It
//! goes down by one action only, the release by the current token, to no less than where that holder began. Who holds an
//! id decides only who gets the next span. Spans are times of the client's clock, all other times are the database's
//! clock: servers whose clocks differ judge alike.
//!
//! | Event | Result, next state |
//! | --- | --- |
//! | claim, an id is free | it is held by a new token, `until_ms` goes up |
//! | claim, none is free | `worker_in_use`; the same |
//! | the same claim again, not renewed since | the same answer; the lease starts again |
//! | the same claim again, renewed since | `worker_in_use`; the same |
//! | renewal by the current token | a new token, `until_ms` goes up or stays |
//! | release by the current token | free; `until_ms` goes down, not below `begins_ms` |
//! | renewal or release by another token | `worker_lost`; the same |
//! | renewal a day after the end of the span, or of an id that left the pool | `worker_lost`; the same |
//! | freed by hand, while its span is ahead of the clock | free at the clock; what was granted ahead is never granted again |
//! | the table is older than one that was seen | all tokens are void, nothing is granted below the floor |

mod worker_row;

use leafid_core::{Code, Error, Result};
use std::ops::RangeInclusive;
pub(crate) use worker_row::{SpanMs, Worker};

/// The settings of a server.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    /// The worker ids that are granted.
    pub(crate) ids: RangeInclusive<i64>,
    /// How long a lease lasts without a renewal.
    pub(crate) lease_ms: i64,
    /// How far a client's clock may be ahead of the database's.
    pub(crate) threshold_ms: i64,
    /// How many names may have worker ids.
    pub(crate) most_names: i64,
}

/// What is stored of a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Space {
    /// Every worker id counts as granted up to here.
    pub(crate) floor_ms: i64,
    /// The latest time of a grant.
    pub(crate) latest_ms: i64,
    /// The longest time that any grant was ahead of the database's clock.
    pub(crate) longest_ms: i64,
    /// Goes up with each change.
    pub(crate) revision: i64,
}

/// What a client asks for.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    pub(crate) name: String,
    pub(crate) instance: String,
    /// Who asks, to be shown.
    pub(crate) holder: String,
    /// The client's clock.
    pub(crate) now_ms: i64,
    pub(crate) until_ms: Option<i64>,
    /// This worker id and no other.
    pub(crate) only: Option<i64>,
}

impl Pool {
    /// Whether one more name may get worker ids. Errors: `worker_in_use`.
    pub(crate) fn check_names(&self, names: i64) -> Result<()> {
        if names < self.most_names {
            return Ok(());
        }
        let message = format!(
            "worker ids of {names} names were leased, and no more names are allowed: use one of these, or see --max-names"
        );
        Err(Error::new(Code::WorkerInUse, message))
    }

    /// The largest time that a grant may be ahead of the database's clock.
    fn ahead_ms(&self) -> i64 {
        self.lease_ms + self.threshold_ms
    }

    /// The space after a change at this time of the database.
    pub(crate) fn changed(&self, space: &Space, store_ms: i64) -> Space {
        Space {
            floor_ms: space.floor_ms,
            latest_ms: space.latest_ms.max(store_ms),
            longest_ms: space.longest_ms.max(self.ahead_ms()),
            revision: space.revision + 1,
        }
    }

    /// The space of a table that may be older than what was granted. All grants were made before now, so none of them
    /// ends above the floor. `seen` is what this process knows of the newer table.
    pub(crate) fn doubted(&self, space: &Space, seen: &Space, store_ms: i64) -> Space {
        let changed = self.changed(space, store_ms);
        let latest_ms = changed.latest_ms.max(seen.latest_ms);
        let longest_ms = changed.longest_ms.max(seen.longest_ms);
        let floor_ms = changed.floor_ms.max(seen.floor_ms).max(latest_ms + longest_ms);
        Space { floor_ms, latest_ms, longest_ms, revision: changed.revision.max(seen.revision + 1) }
    }

    /// The row to store for a claim. Errors: `worker_in_use`.
    pub(crate) fn claim(
        &self,
        space: &Space,
        workers: &[Worker],
        claim: &Claim,
        store_ms: i64,
        token: String,
    ) -> Result<Worker> {
        let clock_ahead_ms = claim.now_ms - store_ms;
        let is_repeated = |worker: &&Worker| {
            !worker.token.is_empty()
                && worker.instance == claim.instance
                && worker.until_ms > store_ms
                && self.ids.contains(&worker.worker_id)
        };
        if let Some(worker) = workers.iter().find(is_repeated) {
            return self.repeated(worker, store_ms, clock_ahead_ms);
        }
        let ids = claim.only.map_or_else(|| self.ids.clone(), |id| id..=id);
        let stored = |id: i64| workers.iter().find(|worker| worker.worker_id == id);
        let mut free = Vec::new();
        for id in ids.filter(|&id| stored(id).is_none_or(|worker| !worker.is_held(store_ms))) {
            let mut until_ms = stored(id).map_or(0, |worker| worker.until_ms).max(space.floor_ms);
            // Above what is never granted again, and not while the clock is in it.
            for (from_ms, ends_ms) in stored(id).map_or(Ok(Vec::new()), Worker::skipped)? {
                if from_ms <= store_ms {
                    until_ms = until_ms.max(ends_ms);
                }
            }
            if until_ms <= store_ms {
                free.push((id, until_ms));
            }
        }
        // The lowest that the client's clock has passed, too; else the one for which it waits least.
        let passed = free.iter().find(|&&(_, until_ms)| until_ms <= claim.now_ms);
        let Some(&(worker_id, until_ms)) =
            passed.or_else(|| free.iter().min_by_key(|(_, until_ms)| *until_ms))
        else {
            return Err(self.none_free(space, workers, claim, store_ms));
        };
        // Not above the database's clock: a span of a client whose clock is ahead would shrink for nothing.
        let begins_ms = until_ms.max(claim.now_ms.min(store_ms));
        // A clock that is far behind asks for less than nothing.
        let wish_ms =
            claim.until_ms.filter(|&wish_ms| wish_ms > begins_ms).unwrap_or(begins_ms + self.lease_ms);
        let last = stored(worker_id);
        let skipped = last.map_or(Ok(Vec::new()), Worker::skipped)?;
        let next_ms = skipped.iter().map(|span| span.0).filter(|&from_ms| from_ms > begins_ms).min();
        let granted = Worker {
            worker_id,
            begins_ms,
            until_ms: wish_ms.min(store_ms + self.ahead_ms()).min(next_ms.unwrap_or(i64::MAX)),
            ends_ms: store_ms + self.lease_ms,
            token,
            released: String::new(),
            instance: claim.instance.clone(),
            holder: claim.holder.clone(),
            renewals: 0,
            clock_ahead_ms,
            history: String::new(),
        };
        granted.after(last, space.floor_ms)
    }

    fn repeated(&self, worker: &Worker, store_ms: i64, clock_ahead_ms: i64) -> Result<Worker> {
        if worker.renewals > 0 {
            // Its span is not the caller's alone any more.
            let message = format!(
                "the claim of instance {} was answered, and its lease renewed since",
                worker.instance
            );
            return Err(Error::new(Code::WorkerInUse, message));
        }
        Ok(Worker { ends_ms: store_ms + self.lease_ms, clock_ahead_ms, ..worker.clone() })
    }

    fn none_free(&self, space: &Space, workers: &[Worker], claim: &Claim, store_ms: i64) -> Error {
        let name = &claim.name;
        let message = if space.floor_ms > store_ms {
            format!(
                "the table of worker ids may be an old one: nothing is granted for {} ms more, until all that may have \
                 been granted is over",
                space.floor_ms - store_ms
            )
        } else {
            let of_these = |worker: &&Worker| claim.only.is_none_or(|id| id == worker.worker_id);
            let free_at = |worker: &Worker| {
                worker.until_ms.max(if worker.token.is_empty() { 0 } else { worker.ends_ms })
            };
            let soonest = workers.iter().filter(of_these).map(free_at).filter(|&ms| ms > store_ms).min();
            let soon =
                soonest.map_or(String::new(), |ms| format!("; the next may be free in {} ms", ms - store_ms));
            match claim.only {
                Some(id) => format!("worker id {id} of {name} is held{soon}"),
                None => format!(
                    "none of the worker ids {}-{} of {name} is free{soon}",
                    self.ids.start(),
                    self.ids.end()
                ),
            }
        };
        Error::new(Code::WorkerInUse, message)
    }

    /// The row to store for a renewal. Errors: `worker_lost` if the id has left the pool, whose other users wait for its
    /// end, and if its span has ended long ago, or reaches one that is never granted again.
    pub(crate) fn renew(
        &self,
        worker: &Worker,
        until_ms: i64,
        store_ms: i64,
        token: String,
    ) -> Result<Worker> {
        if !self.ids.contains(&worker.worker_id) {
            let (id, first, last) = (worker.worker_id, self.ids.start(), self.ids.end());
            let message =
                format!("worker id {id} is none of {first}-{last}, which are leased now; claim another");
            return Err(Error::new(Code::WorkerLost, message));
        }
        let next_ms = worker.check_gap(store_ms)?.unwrap_or(i64::MAX);
        let until_ms = worker.until_ms.max(until_ms.min(store_ms + self.ahead_ms()).min(next_ms));
        Ok(Worker {
            until_ms,
            ends_ms: store_ms + self.lease_ms,
            token,
            renewals: worker.renewals + 1,
            ..worker.clone()
        })
    }
}

/// The worker id that this token holds. Errors: `worker_lost`.
pub(crate) fn held<'w>(workers: &'w [Worker], name: &str, worker_id: i64, token: &str) -> Result<&'w Worker> {
    let held = workers.iter().find(|worker| worker.worker_id == worker_id && worker.token == token);
    held.filter(|worker| !worker.token.is_empty()).ok_or_else(|| {
        Error::new(Code::WorkerLost, format!("worker id {worker_id} of {name} is not held by this token"))
    })
}

/// Whether no span of these worker ids may still be used. Errors: `worker_in_use`.
pub(crate) fn check_unleased(
    space: &Space,
    workers: &[Worker],
    name: &str,
    ids: &RangeInclusive<i64>,
    now_ms: i64,
) -> Result<()> {
    let refuse = |what: String, until_ms: i64| {
        let message = format!(
            "{what} of {name} may be in use for {} ms more, by a lease from the store; snowflake-local is for worker ids \
             that no server of the store has among its workers",
            until_ms - now_ms
        );
        Err(Error::new(Code::WorkerInUse, message))
    };
    for worker in workers.iter().filter(|worker| ids.contains(&worker.worker_id)) {
        let ends_ms = if worker.token.is_empty() { 0 } else { worker.ends_ms };
        let until_ms = worker.until_ms.max(ends_ms);
        if until_ms > now_ms {
            return refuse(format!("worker id {}", worker.worker_id), until_ms);
        }
    }
    if space.floor_ms > now_ms {
        return refuse("each worker id".to_owned(), space.floor_ms);
    }
    Ok(())
}

/// Whether this release was done before.
pub(crate) fn is_released(workers: &[Worker], worker_id: i64, token: &str) -> bool {
    workers.iter().any(|worker| {
        worker.worker_id == worker_id
            && worker.token.is_empty()
            && !token.is_empty()
            && worker.released == token
    })
}

/// The clocks of the other holders, now.
pub(crate) fn peer_times_ms(workers: &[Worker], worker_id: i64, store_ms: i64) -> Vec<i64> {
    let others = workers.iter().filter(|worker| worker.worker_id != worker_id && worker.is_held(store_ms));
    others.map(|worker| store_ms + worker.clock_ahead_ms).collect()
}

#[cfg(test)]
mod tests;
