//! Worker ids from an object that leases them. What is held, renewed and released, tests/scenarios/api/leases.json has.

#![allow(clippy::unwrap_used)]

mod common;
#[path = "common/lease_source.rs"]
mod lease_source;

use common::{HANG, Place, until, with_impatient};
use leafid::{Answer, ClaimRequest, Code, Lease, Renewal, Snowflake, WorkerLeases, WorkerSource};
use lease_source::{Shared, Table, ids, now_ms};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

#[test]
fn a_lease_without_a_record_needs_no_directory() {
    let (place, table) = (Place::new(), Table::new(10_000));
    let source = WorkerSource::leases(Shared(table.clone()));
    let builder = Snowflake::builder().name(&place.name).state_dir("/proc/no/such/place").persist(false);
    let flake = builder.worker(source).open().unwrap();
    ids(&flake, &table, Duration::from_millis(100), &mut 0);
    assert_eq!(flake.stats().unwrap().state_dir, "");
}

#[test]
fn a_claim_that_answers_too_late_is_given_back() {
    struct Slow(Shared, Arc<AtomicBool>);
    impl WorkerLeases for Slow {
        fn claim(&self, request: &ClaimRequest) -> Answer<Option<Lease>> {
            until("the opening gives up", || self.1.load(SeqCst));
            self.0.claim(request)
        }
        fn renew(&self, lease: &Lease, until_ms: i64) -> Answer<Option<Renewal>> {
            self.0.renew(lease, until_ms)
        }
        fn release(&self, lease: &Lease, until_ms: i64) -> Answer<()> {
            self.0.release(lease, until_ms)
        }
    }
    let (place, table) = (Place::new(), Table::new(10_000));
    let gave_up = Arc::new(AtomicBool::new(false));
    let source = WorkerSource::leases(Slow(Shared(table.clone()), gave_up.clone()));
    let error = place.builder().timeout_ms(100).worker(source).open().unwrap_err();
    assert_eq!(error.code(), Code::WorkerLost);
    gave_up.store(true, SeqCst);
    until("the release", || table.releases.lock().unwrap().len() == 1);
}

/// A source may answer two claims of one process with one lease. A release would give it to another process.
#[test]
fn a_late_claim_whose_lease_the_next_opening_holds_is_not_given_back() {
    struct Repeats {
        table: Arc<Repeated>,
        /// Its first claim waits for this.
        opened: Arc<AtomicBool>,
        is_late: bool,
    }
    struct Repeated(Shared, Mutex<Option<Lease>>);
    impl WorkerLeases for Repeats {
        fn claim(&self, request: &ClaimRequest) -> Answer<Option<Lease>> {
            if self.is_late {
                until("the next opening", || self.opened.load(SeqCst));
            }
            let mut lease = self.table.1.lock().unwrap();
            if lease.is_none() {
                *lease = self.table.0.claim(request)?;
            }
            Ok(lease.clone())
        }
        fn renew(&self, lease: &Lease, until_ms: i64) -> Answer<Option<Renewal>> {
            self.table.0.renew(lease, until_ms)
        }
        fn release(&self, lease: &Lease, until_ms: i64) -> Answer<()> {
            self.table.0.release(lease, until_ms)
        }
    }
    let (place, table, opened) = (Place::new(), Table::new(10_000), Arc::new(AtomicBool::new(false)));
    let repeated = Arc::new(Repeated(Shared(table.clone()), Mutex::default()));
    let open = |is_late, opened: &Arc<AtomicBool>| {
        let source = Repeats { table: repeated.clone(), opened: opened.clone(), is_late };
        let builder = place.builder().worker(WorkerSource::leases(source));
        if is_late { builder.timeout_ms(100).open() } else { builder.open() }
    };
    open(true, &opened).unwrap_err();
    let flake = open(false, &Arc::default()).unwrap();
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
    place.builder().timeout_ms(100).worker(source).open().unwrap_err();
    gave_up.store(true, SeqCst);
    until("the release", || table.releases.lock().unwrap().len() == 1);
    assert_eq!(std::fs::read_to_string(said).unwrap(), format!("{}\n", std::process::id()));
}

/// Gives spans by a clock of its own, but for the first claim.
struct Clocked {
    inner: Shared,
    off_ms: i64,
    span_ms: i64,
}

impl WorkerLeases for Clocked {
    fn claim(&self, request: &ClaimRequest) -> Answer<Option<Lease>> {
        let lease = self.inner.claim(request)?;
        let is_first = self.inner.0.claims.load(SeqCst) == 1;
        Ok(lease.map(|lease| Lease {
            lease_ms: None,
            peer_times_ms: vec![],
            until_ms: if is_first { lease.until_ms } else { now_ms() + self.span_ms },
            ..lease
        }))
    }
    fn renew(&self, _: &Lease, _: i64) -> Answer<Option<Renewal>> {
        self.inner.0.renewals.fetch_add(1, SeqCst);
        Ok(Some(Renewal { until_ms: now_ms() + self.off_ms + self.span_ms, ..Renewal::default() }))
    }
    fn release(&self, lease: &Lease, until_ms: i64) -> Answer<()> {
        self.inner.release(lease, until_ms)
    }
}

/// Opens it, and lets the first lease end.
fn after_the_first(place: &Place, source: Clocked) -> (Snowflake, Snowflake) {
    let table = Arc::clone(&source.inner.0);
    let both = with_impatient(&place.builder().worker(WorkerSource::leases(source)), 200);
    let first_until_ms = table.given.lock().unwrap()[0].2;
    until("another claim, or spans of renewals", || {
        let _ = both.1.next();
        table.claims.load(SeqCst) >= 2 || now_ms() > first_until_ms
    });
    both
}

#[test]
fn a_lease_source_whose_clock_went_back_is_not_called_in_a_loop() {
    let (place, table) = (Place::new(), Table::new(400));
    let source = Clocked { inner: Shared(table.clone()), off_ms: -10_000, span_ms: 300 };
    let (_held, flake) = after_the_first(&place, source);
    let calls = || (table.renewals.load(SeqCst), table.claims.load(SeqCst));
    let (before, begun, mut refused) = (calls(), Instant::now(), 0);
    while begun.elapsed() < Duration::from_millis(2_000) || calls().1 < before.1 + 2 {
        assert!(begun.elapsed() < HANG, "no other claim");
        if let Err(error) = flake.next() {
            assert_eq!(error.code(), Code::WorkerLost, "{error}");
            refused += 1;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    // What the renewals do not give a new claim does, time and again.
    let (renewals, claims) = (calls().0 - before.0, calls().1 - before.1);
    let seconds = begun.elapsed().as_secs() as usize + 1;
    assert!(
        renewals < 20 * seconds && claims < 10 * seconds,
        "{renewals}, {claims}, {refused} refused in {seconds} s"
    );
}
