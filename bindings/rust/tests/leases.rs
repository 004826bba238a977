//! Worker ids from an object that leases them. What is held, renewed and released, tests/scenarios/api/leases.json has.

#![allow(clippy::unwrap_used)]

mod common;
#[path = "common/lease_source.rs"]
mod lease_source;

use common::{PATIENT_MS, Place, until};
use leafid::{Answer, ClaimRequest, Lease, Renewal, Snowflake, WorkerLeases, WorkerSource};
use lease_source::{Shared, Table, ids};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[test]
fn a_lease_without_a_record_needs_no_directory() {
    let (place, table) = (Place::new(), Table::new(10_000));
    let source = WorkerSource::leases(Shared(table.clone()));
    let builder = Snowflake::builder().name(&place.name).state_dir("/proc/no/such/place");
    let flake = builder.persist(false).timeout_ms(PATIENT_MS).worker(source).open().unwrap();
    ids(&flake, &table, Duration::from_millis(100), &mut 0);
    assert_eq!(flake.stats().unwrap().state_dir, "");
}

/// A source may answer two claims of one process with one lease. A release would give it to another process.
#[test]
fn a_late_claim_whose_lease_the_next_opening_holds_is_not_given_back() {
    struct Repeats {
        table: Shared,
        lease: Arc<Mutex<Option<Lease>>>,
        /// If it is there, claims wait for this.
        opened: Option<Arc<AtomicBool>>,
    }
    impl WorkerLeases for Repeats {
        fn claim(&self, request: &ClaimRequest) -> Answer<Option<Lease>> {
            if let Some(opened) = &self.opened {
                until("the next opening", || opened.load(SeqCst));
            }
            let mut lease = self.lease.lock().unwrap();
            if lease.is_none() {
                *lease = self.table.claim(request)?;
            }
            Ok(lease.clone())
        }
        fn renew(&self, lease: &Lease, until_ms: i64) -> Answer<Option<Renewal>> {
            self.table.renew(lease, until_ms)
        }
        fn release(&self, lease: &Lease, until_ms: i64) -> Answer<()> {
            self.table.release(lease, until_ms)
        }
    }
    let (place, table, lease) = (Place::new(), Table::new(10_000), Arc::default());
    let open = |opened, timeout_ms| {
        let source = Repeats { table: Shared(table.clone()), lease: Arc::clone(&lease), opened };
        place.builder().timeout_ms(timeout_ms).worker(WorkerSource::leases(source)).open()
    };
    let opened = Arc::new(AtomicBool::new(false));
    open(Some(opened.clone()), 100).unwrap_err();
    let flake = open(None, PATIENT_MS).unwrap();
    let first = flake.next().unwrap();
    opened.store(true, SeqCst);
    until("nothing is left of the first opening", || Arc::strong_count(&opened) == 1);
    assert_eq!(*table.releases.lock().unwrap(), []);
    assert!(flake.next().unwrap() > first);
    flake.close().unwrap();
    assert_eq!(table.releases.lock().unwrap().len(), 1);
}

/// The child has a copy of all that its parent holds, and of the thread that claims.
#[cfg(unix)]
#[test]
fn a_child_that_a_late_claim_forks_gives_nothing_of_its_parent_s_back() {
    use std::{fs::File, io::Write, path::PathBuf};
    struct Forks(Shared, Arc<AtomicBool>, PathBuf);
    impl WorkerLeases for Forks {
        fn claim(&self, request: &ClaimRequest) -> Answer<Option<Lease>> {
            until("the opening gives up", || self.1.load(SeqCst));
            let child = common::forks::plain_fork();
            if child > 0 {
                // SAFETY: waits for the child made above, which ends with this call.
                unsafe { libc::waitpid(child, &mut 0, 0) };
            }
            self.0.claim(request)
        }
        fn renew(&self, lease: &Lease, until_ms: i64) -> Answer<Option<Renewal>> {
            self.0.renew(lease, until_ms)
        }
        fn release(&self, lease: &Lease, until_ms: i64) -> Answer<()> {
            let mut file = File::options().create(true).append(true).open(&self.2)?;
            writeln!(file, "{}", std::process::id())?;
            self.0.release(lease, until_ms)
        }
    }
    let (place, table) = (Place::new(), Table::new(10_000));
    let (gave_up, said) = (Arc::new(AtomicBool::new(false)), place.dir.path().join("said"));
    let source = WorkerSource::leases(Forks(Shared(table.clone()), gave_up.clone(), said.clone()));
    place.builder().timeout_ms(2_000).worker(source).open().unwrap_err();
    gave_up.store(true, SeqCst);
    until("the release", || table.releases.lock().unwrap().len() == 1);
    assert_eq!(std::fs::read_to_string(said).unwrap(), format!("{}\n", std::process::id()));
}
