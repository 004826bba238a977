//! The leases of worker ids as the monitor page shows them.

use crate::access::Grant;
use crate::clock::running;
use crate::holder::Holder;
use crate::options::Options;
use crate::store::{LeaseRow, Store};
use parking_lot::Mutex;
use serde::Serialize;
use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::timeout;

/// Within this time all viewers share one look at the store.
const FRESH: Duration = Duration::from_millis(900);
/// How long a viewer of the page waits for a new look before it gets the last one.
pub(super) const PATIENCE: Duration = Duration::from_millis(300);
/// The leases of a look, of all names: the first ones by name and worker id, whoever looks.
const MOST: usize = 10_000;
/// The characters of an instance that are shown. The whole one is a secret: until the first renewal, a claim that repeats
/// it is answered with the token of the lease.
const SHOWN: usize = 12;

/// Looks at the store, never two at a time.
#[derive(Default)]
pub(super) struct LeaseLooks {
    last: Mutex<LeaseLook>,
    /// Held while one looks. A look that panics lets go of it.
    looking: Arc<tokio::sync::Mutex<()>>,
    looked: Notify,
}

/// What the last look has found.
#[derive(Clone, Default)]
pub(super) struct LeaseLook {
    at: Option<Duration>,
    store_ms: i64,
    rows: Arc<Vec<LeaseRow>>,
    servers: Arc<Vec<Holder>>,
    /// Why it has found nothing new.
    error: Option<String>,
    /// The store took too long for a new one. What was renewed since is not in it.
    is_old: bool,
}

#[derive(Serialize)]
pub(super) struct LeasesView {
    /// The id space whose leases these are.
    name: String,
    /// All id spaces that have leases and that the viewer may see.
    names: Vec<NameView>,
    first_worker_id: i64,
    last_worker_id: i64,
    lease_ms: i64,
    /// That of this server's own snowflakes.
    own_worker_id: Option<i64>,
    held: Vec<LeaseFigures>,
    error: Option<String>,
}

#[derive(Serialize)]
struct NameView {
    name: String,
    held: usize,
}

#[derive(Serialize)]
struct LeaseFigures {
    worker_id: i64,
    /// The beginning of the claim's instance.
    holder: String,
    #[serde(flatten)]
    who: Holder,
    /// By the clock of the store.
    ends_ms: i64,
    left_ms: i64,
    clock_ahead_ms: i64,
}

/// A lease that has not ended.
pub(super) struct Held<'l> {
    pub(super) row: &'l LeaseRow,
    pub(super) left_ms: i64,
}

impl LeaseLooks {
    /// A look that is fresh, or the last one if the store takes longer than `patience`.
    pub(super) async fn look(self: &Arc<Self>, store: &Store, patience: Duration) -> LeaseLook {
        let asked = running();
        // Before the last one is read: one that ends in between is not missed.
        let mut looked = pin!(self.looked.notified());
        looked.as_mut().enable();
        let last = self.last.lock().clone();
        if last.at.is_some_and(|at| asked.saturating_sub(at) < FRESH) {
            return last;
        }
        if let Ok(looking) = self.looking.clone().try_lock_owned() {
            let (looks, store) = (self.clone(), store.clone());
            tokio::spawn(async move {
                looks.look_now(&store).await;
                drop(looking);
                looks.looked.notify_waiters();
            });
        }
        let _ = timeout(patience, looked).await;
        let last = self.last.lock().clone();
        LeaseLook { is_old: last.at.is_none_or(|at| at < asked), ..last }
    }

    async fn look_now(&self, store: &Store) {
        let found = store.lease_rows(MOST).await;
        let servers = store.servers().await;
        let mut last = self.last.lock();
        match found.and_then(|found| Ok((found, servers?))) {
            Ok(((store_ms, rows), servers)) => {
                let (rows, servers) = (Arc::new(rows), Arc::new(servers));
                *last =
                    LeaseLook { at: Some(running()), store_ms, rows, servers, error: None, is_old: false };
            }
            Err(error) => last.error = Some(error.message().to_owned()),
        }
    }
}

impl LeaseLook {
    pub(super) fn is_old(&self) -> bool {
        self.is_old
    }

    /// What the viewer may see of all leases, by name and id.
    pub(super) fn held(&self, grant: &Grant) -> Vec<Held<'_>> {
        let now_ms = self.now_ms();
        let seen = self.rows.iter().filter(|row| grant.check_tag(&row.name).is_ok() && row.ends_ms > now_ms);
        seen.map(|row| Held { row, left_ms: row.ends_ms - now_ms }).collect()
    }

    /// The servers of the store.
    pub(super) fn servers(&self) -> &[Holder] {
        &self.servers
    }

    /// The clock that judges leases.
    fn now_ms(&self) -> i64 {
        let passed = running().saturating_sub(self.at.unwrap_or_default());
        self.store_ms + i64::try_from(passed.as_millis()).unwrap_or(i64::MAX)
    }

    /// The leases of the id space `name`, or of this server's own, or of the first one. `own`: the worker id of this
    /// server's snowflakes.
    pub(super) fn view(
        &self,
        options: &Options,
        grant: &Grant,
        name: Option<&str>,
        own: Option<i64>,
    ) -> LeasesView {
        let mut names: BTreeMap<&str, usize> = BTreeMap::new();
        for row in self.rows.iter().filter(|row| grant.check_tag(&row.name).is_ok()) {
            *names.entry(&row.name).or_default() += 1;
        }
        let default = options.snowflake_name.as_str();
        let known = |name: &str| names.contains_key(name) || (name == default && names.is_empty());
        let first = names.keys().next().copied().unwrap_or(default);
        let name = name.filter(|name| known(name)).unwrap_or(if known(default) { default } else { first });
        let now_ms = self.now_ms();
        let is_seen = names.contains_key(name);
        let held = self.rows.iter().filter(|row| is_seen && row.name == name);
        LeasesView {
            name: name.to_owned(),
            first_worker_id: *options.workers.start(),
            last_worker_id: *options.workers.end(),
            lease_ms: options.lease_ms,
            own_worker_id: own.filter(|_| is_seen && name == default),
            held: held
                .filter(|row| row.ends_ms > now_ms)
                .map(|row| LeaseFigures {
                    worker_id: row.worker_id,
                    holder: shortened(&row.instance),
                    who: row.holder.clone(),
                    ends_ms: row.ends_ms,
                    left_ms: row.ends_ms - now_ms,
                    clock_ahead_ms: row.clock_ahead_ms,
                })
                .collect(),
            names: names
                .iter()
                .map(|(name, held)| NameView { name: (*name).to_owned(), held: *held })
                .collect(),
            error: self.error.clone(),
        }
    }
}

/// The beginning of an instance.
fn shortened(instance: &str) -> String {
    let mut shown: String = instance.chars().take(SHOWN).collect();
    if shown.len() < instance.len() {
        shown.push('…');
    }
    shown
}
