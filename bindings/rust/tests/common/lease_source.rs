//! A lease source in memory, and the ids of a snowflake within its spans.
#![allow(dead_code)]

use leafid::{Answer, ClaimRequest, Code, Layout, Lease, Renewal, Snowflake, WorkerLeases};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How long most leases last: a machine may stall for half of it, until they are renewed late.
pub(crate) const LEASE_MS: i64 = 6_000;

pub(crate) fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as i64
}

/// A lease source that keeps its rules: what a team has in its database.
#[derive(Default)]
pub(crate) struct Table {
    /// Worker id to (token, until).
    pub(crate) rows: Mutex<BTreeMap<i64, (u64, i64)>>,
    pub(crate) tokens: AtomicUsize,
    /// The first lease lasts for [`LEASE_MS`] at least: however busy the machine is, it is not over before it is used.
    pub(crate) lease_ms: i64,
    pub(crate) claims: AtomicUsize,
    pub(crate) renewals: AtomicUsize,
    pub(crate) releases: Mutex<Vec<(i64, i64)>>,
    pub(crate) losing: AtomicBool,
    /// Every span that was given, by worker id.
    pub(crate) given: Mutex<Vec<(i64, i64, i64)>>,
    pub(crate) calls: AtomicUsize,
    pub(crate) at_once: AtomicUsize,
}

pub(crate) struct Shared(pub(crate) Arc<Table>);

impl Table {
    pub(crate) fn new(lease_ms: i64) -> Arc<Table> {
        Arc::new(Table { lease_ms, ..Table::default() })
    }

    fn called<T>(&self, call: impl FnOnce() -> T) -> T {
        self.at_once.fetch_max(self.calls.fetch_add(1, SeqCst) + 1, SeqCst);
        let answer = call();
        self.calls.fetch_sub(1, SeqCst);
        answer
    }

    pub(crate) fn covers(&self, id: i64) -> bool {
        let parts = Layout::LEAF.decode(id).unwrap();
        let at = |(worker, from, until): &(i64, i64, i64)| {
            *worker == i64::from(parts.worker_id) && (*from..*until).contains(&parts.timestamp_ms)
        };
        self.given.lock().unwrap().iter().any(at)
    }
}

impl WorkerLeases for Shared {
    fn claim(&self, request: &ClaimRequest) -> Answer<Option<Lease>> {
        let table = &self.0;
        table.called(|| {
            let is_first = table.claims.fetch_add(1, SeqCst) == 0;
            let lease_ms = if is_first { table.lease_ms.max(LEASE_MS) } else { table.lease_ms };
            let mut rows = table.rows.lock().unwrap();
            let now = now_ms();
            let free = (0..8).find(|id| rows.get(id).is_none_or(|(_, until)| *until <= now));
            let Some(worker_id) = free else { return Ok(None) };
            let token = table.tokens.fetch_add(1, SeqCst) as u64;
            let from_ms = rows.get(&worker_id).map_or(0, |(_, until)| *until);
            let until_ms = now + lease_ms;
            rows.insert(worker_id, (token, until_ms));
            table.given.lock().unwrap().push((worker_id, from_ms, until_ms));
            assert_eq!(request.instance.len(), 32);
            Ok(Some(Lease {
                worker_id,
                from_ms,
                until_ms,
                lease_ms: Some(lease_ms),
                token: Some(token.to_string()),
                peer_times_ms: vec![now],
            }))
        })
    }

    fn renew(&self, lease: &Lease, until_ms: i64) -> Answer<Option<Renewal>> {
        let table = &self.0;
        table.called(|| {
            table.renewals.fetch_add(1, SeqCst);
            let mut rows = table.rows.lock().unwrap();
            let (token, until) = rows.get_mut(&lease.worker_id).unwrap();
            if table.losing.swap(false, SeqCst) || lease.token.as_ref() != Some(&token.to_string()) {
                return Ok(None);
            }
            *token = table.tokens.fetch_add(1, SeqCst) as u64;
            let from = *until;
            *until = until_ms.max(*until);
            table.given.lock().unwrap().push((lease.worker_id, from, *until));
            Ok(Some(Renewal { until_ms: *until, token: Some(token.to_string()), ..Renewal::default() }))
        })
    }

    fn release(&self, lease: &Lease, until_ms: i64) -> Answer<()> {
        self.0.called(|| {
            self.0.releases.lock().unwrap().push((lease.worker_id, until_ms));
            Ok(())
        })
    }
}

pub(crate) fn ids(flake: &Snowflake, table: &Table, time: Duration, last: &mut i64) -> usize {
    ids_unless(flake, table, time, last, &[])
}

/// As [`ids`], but after an error of these codes it calls `next` again.
pub(crate) fn ids_unless(
    flake: &Snowflake,
    table: &Table,
    time: Duration,
    last: &mut i64,
    codes: &[Code],
) -> usize {
    let begun = Instant::now();
    let mut made = 0;
    while begun.elapsed() < time {
        let id = match flake.next() {
            Err(error) if codes.contains(&error.code()) => continue,
            id => id.unwrap(),
        };
        assert!(id > *last, "{id} after {last}");
        assert!(table.covers(id), "{:?} lies in no span that was given", Layout::LEAF.decode(id));
        *last = id;
        made += 1;
        std::thread::sleep(Duration::from_micros(200));
    }
    made
}
