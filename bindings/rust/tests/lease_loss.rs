//! Leases that are lost, and the claim of another lease. What is said and when, tests/scenarios/api/lease_losses.json has.

#![allow(clippy::unwrap_used)]

mod common;
#[path = "common/lease_source.rs"]
mod lease_source;

use common::{HANG, Place, until};
use leafid::{Answer, ClaimRequest, Code, Lease, Renewal, Snowflake, WorkerLeases, WorkerSource};
use lease_source::{LEASE_MS, Shared, Table, ids, ids_unless};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};

#[test]
fn a_lease_lost_again_and_again_leaves_nothing_behind() {
    let (place, table) = (Place::new(), Table::new(100));
    let flake = place.builder().worker(WorkerSource::leases(Shared(table.clone()))).open().unwrap();
    let mut last = 0;
    for losses in 1..=8 {
        table.losing.store(true, SeqCst);
        until("another claim", || {
            // A renewal may be late on a busy machine.
            ids_unless(&flake, &table, Duration::from_millis(20), &mut last, &[Code::WorkerLost]);
            flake.stats().unwrap().claims > losses
        });
    }
    flake.close().unwrap();
    assert_eq!(flake.next().unwrap_err().code(), Code::Closed);
    for id in 0..8u32 {
        place.builder().worker(id).open().unwrap();
    }
}

#[test]
fn another_lease_is_claimed_where_a_cleaner_removes_the_directory() {
    let (place, table) = (Place::new(), Table::new(LEASE_MS));
    let flake = place.builder().worker(WorkerSource::leases(Shared(table.clone()))).open().unwrap();
    let mut last = flake.next().unwrap();
    std::fs::remove_dir_all(place.dir.path()).unwrap();
    let codes = until_recovered(&flake, 2);
    assert!(codes.iter().all(|code| *code == Code::WorkerLost), "{codes:?}");
    ids(&flake, &table, Duration::from_millis(100), &mut last);
    assert!(place.file(flake.worker_id().unwrap()).exists());
}

/// A lease source whose calls hang as long as a test wants.
struct Hanging {
    inner: Shared,
    /// Renewals, or claims after the first, hang while this is set.
    renewals: Arc<AtomicBool>,
    claims: Arc<AtomicBool>,
    hung: Arc<AtomicBool>,
}

impl Hanging {
    fn hang_while(&self, flag: &AtomicBool) {
        self.hung.fetch_or(flag.load(SeqCst), SeqCst);
        until("the end of a call that hangs", || !flag.load(SeqCst));
    }
}

impl WorkerLeases for Hanging {
    fn claim(&self, request: &ClaimRequest) -> Answer<Option<Lease>> {
        if self.inner.0.claims.load(SeqCst) == 1 {
            self.hang_while(&self.claims);
        }
        self.inner.claim(request)
    }
    fn renew(&self, lease: &Lease, until_ms: i64) -> Answer<Option<Renewal>> {
        self.hang_while(&self.renewals);
        self.inner.renew(lease, until_ms)
    }
    fn release(&self, lease: &Lease, until_ms: i64) -> Answer<()> {
        self.inner.release(lease, until_ms)
    }
}

/// `timeout_ms` where a call of the source hangs as long: enough for the disk.
const GIVEN_UP_MS: i64 = 10_000;

fn hanging(table: &Arc<Table>) -> Hanging {
    Hanging {
        inner: Shared(table.clone()),
        renewals: Arc::default(),
        claims: Arc::default(),
        hung: Arc::default(),
    }
}

/// Until ids come again; the errors meanwhile.
fn until_recovered(flake: &Snowflake, claims: u64) -> Vec<Code> {
    let (begun, mut codes) = (Instant::now(), Vec::new());
    while flake.stats().unwrap().claims < claims || flake.next().is_err() {
        assert!(begun.elapsed() < HANG, "it does not recover: {:?}", flake.stats());
        codes.extend(flake.next().err().map(|error| error.code()));
        std::thread::sleep(Duration::from_millis(5));
    }
    codes
}

#[test]
fn a_renewal_that_hangs_is_given_up_and_another_lease_claimed() {
    let (place, table) = (Place::new(), Table::new(LEASE_MS));
    let source = hanging(&table);
    let hangs = source.renewals.clone();
    hangs.store(true, SeqCst);
    let flake = place.builder().timeout_ms(GIVEN_UP_MS).worker(WorkerSource::leases(source)).open().unwrap();
    let mut last = flake.next().unwrap();
    let codes = until_recovered(&flake, 2);
    assert!(codes.iter().all(|code| *code == Code::WorkerLost), "{codes:?}");
    hangs.store(false, SeqCst);
    ids(&flake, &table, Duration::from_millis(500), &mut last);
}

#[test]
fn a_claim_after_a_loss_that_hangs_is_made_again() {
    let (place, table) = (Place::new(), Table::new(LEASE_MS));
    let source = hanging(&table);
    let (hangs, hung) = (source.claims.clone(), source.hung.clone());
    hangs.store(true, SeqCst);
    let flake = place.builder().timeout_ms(GIVEN_UP_MS).worker(WorkerSource::leases(source)).open().unwrap();
    let mut last = flake.next().unwrap();
    table.losing.store(true, SeqCst);
    until("the claim that hangs", || hung.load(SeqCst));
    // Only the first claim after the loss hangs.
    table.claims.fetch_add(1, SeqCst);
    until_recovered(&flake, 2);
    ids(&flake, &table, Duration::from_millis(500), &mut last);
    let held = flake.worker_id().unwrap();
    hangs.store(false, SeqCst);
    until("what the late claim brought is given back", || table.releases.lock().unwrap().len() == 1);
    assert_eq!(flake.worker_id().unwrap(), held, "and not used");
    ids(&flake, &table, Duration::from_millis(300), &mut last);
}
