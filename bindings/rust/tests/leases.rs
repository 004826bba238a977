//! Worker ids from an object that leases them. What is held, renewed and released, tests/scenarios/api/leases.json has.

#![allow(clippy::unwrap_used)]

mod common;
#[path = "common/lease_source.rs"]
mod lease_source;

use common::{Place, until};
use leafid::{Answer, ClaimRequest, Lease, Renewal, Snowflake, WorkerLeases, WorkerSource};
use lease_source::{Shared, Table, ids};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

#[test]
fn a_lease_without_a_record_needs_no_directory() {
    let (place, table) = (Place::new(), Table::new(10_000));
    let source = WorkerSource::leases(Shared(table.clone()));
    let builder = Snowflake::builder().name(&place.name).state_dir("/proc/no/such/place").persist(false);
    let flake = builder.worker(source).open().unwrap();
    ids(&flake, &table, Duration::from_millis(100), &mut 0);
    assert_eq!(flake.stats().unwrap().state_dir, "");
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
    place.builder().timeout_ms(100).worker(source).open().unwrap_err();
    gave_up.store(true, SeqCst);
    until("the release", || table.releases.lock().unwrap().len() == 1);
    assert_eq!(std::fs::read_to_string(said).unwrap(), format!("{}\n", std::process::id()));
}
