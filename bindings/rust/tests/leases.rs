//! Worker ids from the user's own code: a callback, and an object that leases them.

#![allow(clippy::unwrap_used)]

mod common;
use common::Place;
use leafid::{Answer, ClaimRequest, Code, Layout, Lease, Renewal, Snowflake, WorkerLeases, WorkerSource};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as i64
}

/// A lease source that keeps its rules: what a team has in its database.
#[derive(Default)]
struct Table {
    /// Worker id to (token, until).
    rows: Mutex<BTreeMap<i64, (u64, i64)>>,
    tokens: AtomicUsize,
    lease_ms: i64,
    claims: AtomicUsize,
    renewals: AtomicUsize,
    releases: Mutex<Vec<(i64, i64)>>,
    failing: AtomicBool,
    losing: AtomicBool,
    /// Every span that was given, by worker id.
    given: Mutex<Vec<(i64, i64, i64)>>,
    calls: AtomicUsize,
    at_once: AtomicUsize,
}

struct Shared(Arc<Table>);

impl Table {
    fn new(lease_ms: i64) -> Arc<Table> {
        Arc::new(Table { lease_ms, ..Table::default() })
    }

    fn called<T>(&self, call: impl FnOnce() -> T) -> T {
        self.at_once.fetch_max(self.calls.fetch_add(1, SeqCst) + 1, SeqCst);
        let answer = call();
        self.calls.fetch_sub(1, SeqCst);
        answer
    }

    fn covers(&self, id: i64) -> bool {
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
            if table.failing.load(SeqCst) {
                return Err("the database is down".into());
            }
            table.claims.fetch_add(1, SeqCst);
            let mut rows = table.rows.lock().unwrap();
            let now = now_ms();
            let free = (0..8).find(|id| rows.get(id).is_none_or(|(_, until)| *until <= now));
            let Some(worker_id) = free else { return Ok(None) };
            let token = table.tokens.fetch_add(1, SeqCst) as u64;
            let from_ms = rows.get(&worker_id).map_or(0, |(_, until)| *until);
            let until_ms = now + table.lease_ms;
            rows.insert(worker_id, (token, until_ms));
            table.given.lock().unwrap().push((worker_id, from_ms, until_ms));
            assert_eq!(request.instance.len(), 32);
            Ok(Some(Lease {
                worker_id,
                from_ms,
                until_ms,
                lease_ms: Some(table.lease_ms),
                token: Some(token.to_string()),
                peer_times_ms: vec![now],
            }))
        })
    }

    fn renew(&self, lease: &Lease, until_ms: i64) -> Answer<Option<Renewal>> {
        let table = &self.0;
        table.called(|| {
            if table.failing.load(SeqCst) {
                return Err("the database is down".into());
            }
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

fn ids(flake: &Snowflake, table: &Table, time: Duration, last: &mut i64) -> usize {
    ids_unless(flake, table, time, last, &[])
}

/// As [`ids`], but for errors of these codes, after which it is asked again.
fn ids_unless(flake: &Snowflake, table: &Table, time: Duration, last: &mut i64, codes: &[Code]) -> usize {
    let begun = Instant::now();
    let mut made = 0;
    while begun.elapsed() < time {
        let id = match flake.next() {
            Err(error) if codes.contains(&error.code()) => continue,
            id => id.unwrap(),
        };
        assert!(id > *last, "{id} after {last}");
        assert!(table.covers(id), "{:?} lies in no span given", Layout::LEAF.decode(id));
        *last = id;
        made += 1;
        std::thread::sleep(Duration::from_micros(200));
    }
    made
}

#[test]
fn a_lease_is_renewed_while_it_is_held_and_released_by_close() {
    let (place, table) = (Place::new(), Table::new(400));
    let flake = place.builder().worker(WorkerSource::leases(Shared(table.clone()))).open().unwrap();
    assert_eq!(flake.worker_id().unwrap(), 0);
    ids(&flake, &table, Duration::from_millis(1_500), &mut 0);
    assert!((3..=12).contains(&table.renewals.load(SeqCst)), "{:?}", table.renewals);
    let stats = flake.stats().unwrap();
    assert!((now_ms() - 100..=now_ms() + 400).contains(&stats.lease_until_ms.unwrap()), "{stats:?}");
    let last = flake.next().unwrap();
    flake.close().unwrap();
    let releases = table.releases.lock().unwrap().clone();
    assert_eq!(releases.len(), 1);
    let at = Layout::LEAF.decode(last).unwrap().timestamp_ms;
    assert_eq!(releases[0], (0, at + 1), "the exact first unused tick");
    assert_eq!(table.at_once.load(SeqCst), 1, "never two calls at once");
}

#[test]
fn a_lease_is_kept_while_no_id_is_asked_for() {
    let (place, table) = (Place::new(), Table::new(300));
    let flake = place.builder().worker(WorkerSource::leases(Shared(table.clone()))).open().unwrap();
    std::thread::sleep(Duration::from_millis(1_000));
    assert_eq!(flake.worker_id().unwrap(), 0);
    assert!(table.covers(flake.next().unwrap()));
    assert_eq!(table.claims.load(SeqCst), 1);
}

#[test]
fn an_outage_shorter_than_the_lease_is_bridged() {
    let (place, table) = (Place::new(), Table::new(3_000));
    let flake = place.builder().worker(WorkerSource::leases(Shared(table.clone()))).open().unwrap();
    let mut last = 0;
    ids(&flake, &table, Duration::from_millis(200), &mut last);
    table.failing.store(true, SeqCst);
    ids(&flake, &table, Duration::from_millis(1_800), &mut last);
    table.failing.store(false, SeqCst);
    ids(&flake, &table, Duration::from_millis(1_500), &mut last);
    assert_eq!((flake.worker_id().unwrap(), table.claims.load(SeqCst)), (0, 1));
    assert!(flake.stats().unwrap().renewal_failures > 0);
}

#[test]
fn a_longer_one_is_worker_lost_and_heals_by_itself() {
    let (place, table) = (Place::new(), Table::new(400));
    let flake = place.builder().worker(WorkerSource::leases(Shared(table.clone()))).open().unwrap();
    let mut last = 0;
    ids(&flake, &table, Duration::from_millis(100), &mut last);
    table.failing.store(true, SeqCst);
    let (begun, mut error) = (Instant::now(), None);
    while error.is_none() && begun.elapsed() < Duration::from_secs(5) {
        match flake.next() {
            Ok(id) => {
                assert!(table.covers(id), "an id outside every span");
                last = id;
            }
            Err(e) => error = Some(e),
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let error = error.unwrap();
    assert_eq!(error.code(), Code::WorkerLost, "{error}");
    assert!(error.message().contains("the database is down"), "{error}");
    table.failing.store(false, SeqCst);
    let begun = Instant::now();
    while flake.next().is_err() {
        assert!(begun.elapsed() < Duration::from_secs(3), "it does not heal");
        std::thread::sleep(Duration::from_millis(5));
    }
    ids(&flake, &table, Duration::from_millis(500), &mut last);
    assert_eq!(flake.stats().unwrap().claims, 2);
    flake.close().unwrap();
    assert_eq!(table.releases.lock().unwrap().len(), 1, "the lost lease is not given back");
}

#[test]
fn a_lost_lease_is_claimed_anew_without_an_error() {
    let (place, table) = (Place::new(), Table::new(400));
    let flake = place.builder().worker(WorkerSource::leases(Shared(table.clone()))).open().unwrap();
    let clone = flake.clone();
    let mut last = 0;
    ids(&flake, &table, Duration::from_millis(100), &mut last);
    table.losing.store(true, SeqCst);
    ids(&flake, &table, Duration::from_millis(1_000), &mut last);
    assert_eq!(flake.worker_id().unwrap(), 1, "another id: the lost one's span has not passed");
    assert_eq!(clone.worker_id().unwrap(), 1);
    assert_eq!(flake.stats().unwrap().handles, 2);
    drop(flake);
    clone.next().unwrap();
    drop(clone);
    assert_eq!(table.releases.lock().unwrap().len(), 1);
    // Both ids are free on this host.
    for id in [0u32, 1] {
        place.builder().worker(id).open().unwrap();
    }
}

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
fn what_the_callback_answers_is_checked() {
    let place = Place::new();
    let held = place.builder().worker(5).open().unwrap();
    // A panic that is told with its backtrace takes its time.
    let open = |answer: fn(&ClaimRequest) -> Answer<Option<i64>>, ms| {
        place.builder().timeout_ms(ms).worker(WorkerSource::callback(answer)).open()
    };
    for (answer, code, says) in [
        (
            (|_| Ok(Some(1_024))) as fn(&ClaimRequest) -> Answer<Option<i64>>,
            Code::InvalidArgument,
            "worker_id is 1024",
        ),
        (|_| Ok(Some(-1)), Code::InvalidArgument, "worker_id is -1"),
        (|_| Ok(Some(i64::MAX)), Code::InvalidArgument, "9223372036854775807"),
        (|_| Err("no route to the database".into()), Code::WorkerLost, "no route to the database"),
        (|_| panic!("a defect of the user's"), Code::WorkerLost, "panicked"),
        (|_| Ok(None), Code::WorkerInUse, "no free worker id"),
        (|_| Ok(Some(5)), Code::WorkerInUse, "worker id 5"),
        (
            |_| {
                std::thread::sleep(Duration::from_secs(2));
                Ok(Some(6))
            },
            Code::WorkerLost,
            "timeout_ms (300)",
        ),
        (
            |_| Err(Box::new(leafid::Error::new(Code::SourceInvalid, "its own"))),
            Code::SourceInvalid,
            "its own",
        ),
    ] {
        let ms = if says.starts_with("timeout_ms") { 300 } else { 5_000 };
        let error = open(answer, ms).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(error.message().contains(says), "{error}");
    }
    let flake = open(
        |request| {
            assert_eq!(request.previous, None);
            Ok(Some(7))
        },
        5_000,
    )
    .unwrap();
    assert_eq!(flake.worker_id().unwrap(), 7);
    assert_eq!(held.worker_id().unwrap(), 5);
}

#[test]
fn a_source_is_asked_once_for_a_process() {
    let place = Place::new();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let source = WorkerSource::callback(move |_| Ok(Some(count.fetch_add(1, SeqCst) as i64)));
    let first = place.builder().worker(source.clone()).open().unwrap();
    let second = place.builder().worker(source).open().unwrap();
    assert_eq!((first.worker_id().unwrap(), second.worker_id().unwrap()), (0, 0));
    assert_eq!(asked.load(SeqCst), 1);
}

#[test]
fn a_claim_that_answers_too_late_is_given_back() {
    struct Slow(Shared);
    impl WorkerLeases for Slow {
        fn claim(&self, request: &ClaimRequest) -> Answer<Option<Lease>> {
            std::thread::sleep(Duration::from_millis(400));
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
    let source = WorkerSource::leases(Slow(Shared(table.clone())));
    let error = place.builder().timeout_ms(100).worker(source).open().unwrap_err();
    assert_eq!(error.code(), Code::WorkerLost);
    std::thread::sleep(Duration::from_millis(1_000));
    assert_eq!(table.releases.lock().unwrap().len(), 1);
}

/// Gives spans by a clock of its own.
struct Clocked {
    inner: Shared,
    off_ms: i64,
    span_ms: i64,
}

impl WorkerLeases for Clocked {
    fn claim(&self, request: &ClaimRequest) -> Answer<Option<Lease>> {
        let lease = self.inner.claim(request)?;
        Ok(lease.map(|lease| Lease {
            lease_ms: None,
            peer_times_ms: vec![],
            until_ms: now_ms() + self.span_ms,
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

#[test]
fn a_lease_source_whose_clock_went_back_is_not_called_in_a_loop() {
    let (place, table) = (Place::new(), Table::new(400));
    let source = Clocked { inner: Shared(table.clone()), off_ms: -10_000, span_ms: 300 };
    let flake = place.builder().timeout_ms(200).worker(WorkerSource::leases(source)).open().unwrap();
    let (begun, mut refused) = (Instant::now(), 0);
    while begun.elapsed() < Duration::from_millis(2_000) {
        if let Err(error) = flake.next() {
            assert_eq!(error.code(), Code::WorkerLost, "{error}");
            refused += 1;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    // What the renewals do not give a new claim does, time and again.
    let (renewals, claims) = (table.renewals.load(SeqCst), table.claims.load(SeqCst));
    assert!(
        (1..40).contains(&renewals) && (2..20).contains(&claims),
        "{renewals}, {claims}, {refused} refused"
    );
}

#[test]
fn spans_of_milliseconds_are_renewed_with_a_pause() {
    let (place, table) = (Place::new(), Table::new(400));
    // On a busy machine such a span is over before it is used.
    let flake = loop {
        let source = Clocked { inner: Shared(table.clone()), off_ms: 0, span_ms: 30 };
        match place.builder().worker(WorkerSource::leases(source)).open() {
            Err(error) if error.code() == Code::WorkerLost => continue,
            flake => break flake.unwrap(),
        }
    };
    let before = table.renewals.load(SeqCst);
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(500) {
        let _ = flake.next();
    }
    let renewals = table.renewals.load(SeqCst) - before;
    assert!((2..=60).contains(&renewals), "{renewals} renewals in half a second");
}

#[test]
fn a_lease_lost_again_and_again_leaves_nothing_behind() {
    let (place, table) = (Place::new(), Table::new(100));
    let flake = place.builder().worker(WorkerSource::leases(Shared(table.clone()))).open().unwrap();
    let mut last = 0;
    for _ in 0..12 {
        // A renewal may be late on a busy machine.
        ids_unless(&flake, &table, Duration::from_millis(120), &mut last, &[Code::WorkerLost]);
        table.losing.store(true, SeqCst);
        ids_unless(&flake, &table, Duration::from_millis(80), &mut last, &[Code::WorkerLost]);
    }
    assert!(flake.stats().unwrap().claims > 6, "{:?}", flake.stats());
    flake.close().unwrap();
    assert_eq!(flake.next().unwrap_err().code(), Code::Closed);
    for id in 0..8u32 {
        place.builder().worker(id).open().unwrap();
    }
}

/// Gives leases of 400 ms, and does with its calls as it is told.
struct Hanging {
    inner: Shared,
    /// Renewals, or claims after the first, hang while this is set.
    renewals: Arc<AtomicBool>,
    claims: Arc<AtomicBool>,
    off_ms: Arc<std::sync::atomic::AtomicI64>,
}

impl Hanging {
    fn hang_while(&self, flag: &AtomicBool) {
        for _ in 0..10_000 {
            if !flag.load(SeqCst) {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl WorkerLeases for Hanging {
    fn claim(&self, request: &ClaimRequest) -> Answer<Option<Lease>> {
        if self.inner.0.claims.load(SeqCst) == 1 {
            self.hang_while(&self.claims);
        }
        let off_ms = self.off_ms.load(SeqCst);
        let lease = self.inner.claim(request)?;
        Ok(lease.map(|lease| Lease { peer_times_ms: vec![now_ms() + off_ms; 3], ..lease }))
    }
    fn renew(&self, lease: &Lease, until_ms: i64) -> Answer<Option<Renewal>> {
        self.hang_while(&self.renewals);
        self.inner.renew(lease, until_ms)
    }
    fn release(&self, lease: &Lease, until_ms: i64) -> Answer<()> {
        self.inner.release(lease, until_ms)
    }
}

fn hanging(table: &Arc<Table>) -> Hanging {
    Hanging {
        inner: Shared(table.clone()),
        renewals: Arc::default(),
        claims: Arc::default(),
        off_ms: Arc::default(),
    }
}

/// Until ids come again; the errors meanwhile.
fn until_healed(flake: &Snowflake, claims: u64, within: Duration) -> Vec<Code> {
    let (begun, mut codes) = (Instant::now(), Vec::new());
    while flake.stats().unwrap().claims < claims || flake.next().is_err() {
        assert!(begun.elapsed() < within, "it does not heal: {:?}", flake.stats());
        codes.extend(flake.next().err().map(|error| error.code()));
        std::thread::sleep(Duration::from_millis(5));
    }
    codes
}

#[test]
fn a_renewal_that_hangs_is_given_up_and_another_lease_claimed() {
    let (place, table) = (Place::new(), Table::new(400));
    let source = hanging(&table);
    let hangs = source.renewals.clone();
    hangs.store(true, SeqCst);
    let flake = place.builder().timeout_ms(300).worker(WorkerSource::leases(source)).open().unwrap();
    let mut last = flake.next().unwrap();
    let codes = until_healed(&flake, 2, Duration::from_secs(6));
    assert!(codes.iter().all(|code| *code == Code::WorkerLost), "{codes:?}");
    hangs.store(false, SeqCst);
    ids(&flake, &table, Duration::from_millis(800), &mut last);
}

#[test]
fn a_claim_after_a_loss_that_hangs_is_made_again() {
    let (place, table) = (Place::new(), Table::new(400));
    let source = hanging(&table);
    let hangs = source.claims.clone();
    hangs.store(true, SeqCst);
    let flake = place.builder().timeout_ms(300).worker(WorkerSource::leases(source)).open().unwrap();
    let mut last = flake.next().unwrap();
    table.losing.store(true, SeqCst);
    std::thread::sleep(Duration::from_millis(600));
    // Only the first claim after the loss hangs.
    table.claims.fetch_add(1, SeqCst);
    until_healed(&flake, 2, Duration::from_secs(6));
    ids(&flake, &table, Duration::from_millis(500), &mut last);
    let held = flake.worker_id().unwrap();
    hangs.store(false, SeqCst);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(flake.worker_id().unwrap(), held, "what the late claim brought is not used");
    let released = table.releases.lock().unwrap().clone();
    assert_eq!(released.len(), 1, "but given back: {released:?}");
    ids(&flake, &table, Duration::from_millis(300), &mut last);
}

#[test]
fn a_clock_that_the_peers_do_not_share_claims_no_lease_after_a_loss_either() {
    let (place, table) = (Place::new(), Table::new(400));
    let source = hanging(&table);
    let off_ms = source.off_ms.clone();
    let flake = place.builder().worker(WorkerSource::leases(source)).open().unwrap();
    flake.next().unwrap();
    off_ms.store(60_000, SeqCst);
    table.losing.store(true, SeqCst);
    let begun = Instant::now();
    let error = loop {
        match flake.next() {
            Ok(_) => assert!(begun.elapsed() < Duration::from_secs(5), "it goes on"),
            Err(error) => break error,
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    assert_eq!(error.code(), Code::WorkerLost, "{error}");
    assert!(error.message().contains("median of its 3 peers"), "{error}");
    off_ms.store(0, SeqCst);
    until_healed(&flake, 2, Duration::from_secs(4));
}

#[test]
fn a_lease_that_was_lost_is_not_given_back() {
    let (place, table) = (Place::new(), Table::new(400));
    let flake = place.builder().worker(WorkerSource::leases(Shared(table.clone()))).open().unwrap();
    flake.next().unwrap();
    // No other is free: the generator has but the lease that it lost.
    table.rows.lock().unwrap().extend((1..8).map(|id| (id, (u64::MAX, now_ms() + 60_000))));
    table.losing.store(true, SeqCst);
    // Not before it is lost: a renewal that is only late is a failure, too.
    let lost = |error: Option<String>| error.is_some_and(|error| error.contains("no longer held here"));
    while !lost(flake.stats().unwrap().last_error) {
        let _ = flake.next();
    }
    flake.close().unwrap();
    let released = table.releases.lock().unwrap().clone();
    assert!(released.is_empty(), "it may be another's: {released:?}");
}

#[test]
fn leases_that_are_lost_at_once_are_claimed_with_pauses() {
    let (place, table) = (Place::new(), Table::new(200));
    let flake =
        place.builder().timeout_ms(400).worker(WorkerSource::leases(Shared(table.clone()))).open().unwrap();
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(3_000) {
        table.losing.store(true, SeqCst);
        let _ = flake.next();
        std::thread::sleep(Duration::from_millis(1));
    }
    let claims = table.claims.load(SeqCst);
    // A caller without a span presses: at most five a second.
    assert!((3..=15).contains(&claims), "{claims} claims in three seconds");
}
