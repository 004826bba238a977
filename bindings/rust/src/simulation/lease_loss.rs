//! Tests of lost leases. The tests control when claims and renewals return.

use super::*;
use crate::Answer;
use crate::snowflake::wait::Wait;
use crate::tasks::renewal_timer::Renewable;
use crate::worker::leases::{ClaimRequest, WorkerLeases};
use crate::worker::source::WorkerSource;
use leafid_core::{Action, Lease, Renewal};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

const PATIENCE: Duration = Duration::from_secs(5);

/// A call of the lease source, and the channel for its result.
enum Call {
    Claim(Sender<Answer<Option<Lease>>>),
    Renew(Sender<Answer<Option<Renewal>>>),
    Release(Lease),
}

struct ChannelLeases(Sender<Call>);

impl WorkerLeases for ChannelLeases {
    fn claim(&self, _: &ClaimRequest) -> Answer<Option<Lease>> {
        let (answer, answered) = channel();
        self.0.send(Call::Claim(answer))?;
        answered.recv()?
    }
    fn renew(&self, _: &Lease, _: i64) -> Answer<Option<Renewal>> {
        let (answer, answered) = channel();
        self.0.send(Call::Renew(answer))?;
        answered.recv()?
    }
    fn release(&self, lease: &Lease, _: i64) -> Answer<()> {
        Ok(self.0.send(Call::Release(lease.clone()))?)
    }
}

fn lease(worker_id: i64) -> Lease {
    Lease {
        worker_id,
        until_ms: START_MS + 60_000,
        lease_ms: Some(60_000),
        token: Some(format!("of {worker_id}")),
        ..Lease::default()
    }
}

/// A generator that holds worker id 7 by a lease.
struct Leased {
    world: World,
    process: Process,
    open: Open,
    calls: Receiver<Call>,
}

impl Leased {
    fn new() -> Leased {
        Leased::with(World::new(), builder())
    }

    fn with(world: World, builder: SnowflakeBuilder) -> Leased {
        let process = world.process();
        let (sender, calls) = channel();
        let source = WorkerSource::leases(ChannelLeases(sender));
        let open = std::thread::scope(|scope| {
            let opening = scope.spawn(|| process.open_worker(source, builder).unwrap());
            let Call::Claim(answer) = calls.recv_timeout(PATIENCE).unwrap() else { panic!() };
            answer.send(Ok(Some(lease(7)))).unwrap();
            opening.join().unwrap()
        });
        // The first span is granted: after a loss callers wait for the next lease.
        open.next().unwrap();
        Leased { world, process, open, calls }
    }

    /// The work of the background thread.
    fn renew(&self) {
        Arc::clone(&self.open.generator.driver).renew();
    }

    /// The next renewal is due.
    fn renewal(&self) -> Sender<Answer<Option<Renewal>>> {
        self.world.pass(30_000);
        self.renew();
        match self.calls.recv_timeout(PATIENCE) {
            Ok(Call::Renew(answer)) => answer,
            _ => panic!("no renewal"),
        }
    }

    fn lose(&self) {
        self.renewal().send(Ok(None)).unwrap();
    }

    fn claim(&self) -> Sender<Answer<Option<Lease>>> {
        match self.calls.recv_timeout(PATIENCE) {
            Ok(Call::Claim(answer)) => answer,
            _ => panic!("no claim"),
        }
    }

    fn released(&self) -> Lease {
        match self.calls.recv_timeout(PATIENCE) {
            Ok(Call::Release(lease)) => lease,
            _ => panic!("nothing is given back"),
        }
    }

    /// A caller needs a span, on a thread that may wait or not. Returns the worker id of the generator after it.
    fn asks(&self, may_wait: bool) -> Result<u32> {
        asks(&self.open, may_wait)
    }

    fn fails(&self, claim: &Sender<Answer<Option<Lease>>>, why: &str) {
        claim.send(Err(why.into())).unwrap();
        until(|| self.asks(false).is_err_and(|error| error.message().contains(why)));
    }
}

fn asks(open: &Open, may_wait: bool) -> Result<u32> {
    let max_wait = (!may_wait).then_some(Duration::ZERO);
    let settings = SnowflakeSettings { max_wait, ..SnowflakeSettings::clone(&open.settings) };
    let never = &mut || false;
    Wait::new(&settings, never).until_done(&open.generator, Action::NeedSpan)?;
    Ok(Generator::of(&open.generator.driver).unwrap().worker_id())
}

fn until(is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn what_takes_the_place_of_the_lost_one_begins_above_all_that_it_issued() {
    let leased = Leased::new();
    leased.open.next().unwrap();
    leased.lose();
    let claim = leased.claim();
    let last = leased.open.next().unwrap();
    leased.world.set_clock(-1_000);
    let told = leased.asks(false).unwrap_err();
    assert!(told.code() == Code::WouldBlock && told.message().contains("or another one claimed"), "{told}");
    claim.send(Ok(Some(lease(3)))).unwrap();
    assert_eq!(leased.asks(true).unwrap(), 3);
    assert!(leased.open.next().unwrap() > last);
}

#[test]
fn ids_of_a_lease_may_run_ahead_where_no_record_is_left() {
    let world = World::new();
    *lock(&world.0.file_system) = FileSystem { name: "overlay".into(), kind: FilesystemKind::Ephemeral };
    let leased = Leased::with(world, builder().on_exhausted(leafid_core::OnExhausted::Borrow));
    leased.open.next().unwrap();
}

#[test]
fn a_claim_that_was_given_up_takes_nobody_s_place() {
    let leased = Leased::new();
    leased.lose();
    let first = leased.claim();
    leased.world.pass(20_000);
    leased.renew();
    leased.world.pass(200);
    leased.renew();
    let second = leased.claim();
    first.send(Ok(Some(lease(3)))).unwrap();
    assert_eq!(leased.released(), lease(3));
    second.send(Ok(Some(lease(4)))).unwrap();
    assert_eq!(leased.asks(true).unwrap(), 4);
}

#[test]
fn what_is_claimed_for_a_generator_that_was_closed_meanwhile_is_given_back() {
    let leased = Leased::new();
    leased.lose();
    let claim = leased.claim();
    let Leased { world: _world, process, open, calls } = leased;
    process.close(open);
    claim.send(Ok(Some(lease(3)))).unwrap();
    let Ok(Call::Release(given_back)) = calls.recv_timeout(PATIENCE) else { panic!("it is not") };
    assert_eq!(given_back, lease(3));
}

#[test]
fn a_lease_of_peers_that_disagree_is_given_back() {
    let leased = Leased::new();
    leased.lose();
    let disagreed = Lease { peer_times_ms: vec![START_MS + 90_000; 3], ..lease(3) };
    leased.claim().send(Ok(Some(disagreed.clone()))).unwrap();
    assert_eq!(leased.released(), disagreed);
}

#[test]
fn who_waits_for_a_successor_is_told_why_there_is_none_and_has_it_claimed_again() {
    let leased = Leased::new();
    leased.lose();
    leased.fails(&leased.claim(), "down 0");
    for why in ["down 1", "down 2"] {
        leased.world.pass(1_000);
        // An event loop waits elsewhere.
        assert_eq!(leased.asks(false).unwrap_err().code(), Code::WouldBlock);
        leased.fails(&leased.claim(), why);
    }
    // timeout_ms is over since the loss.
    for may_wait in [true, false] {
        let why = leased.asks(may_wait).unwrap_err();
        assert!(why.code() == Code::WorkerLost && why.message().contains("down 2"), "{why}");
    }
    // Before the next one is due.
    leased.world.pass(200);
    assert!(leased.asks(false).is_err());
    leased.claim().send(Ok(Some(lease(3)))).unwrap();
    assert_eq!(leased.asks(true).unwrap(), 3);
}

/// A generator with the lease of a call that takes as long as this test.
fn patient() -> Leased {
    Leased::with(World::new(), builder().timeout_ms(3_600_000))
}

fn later(worker_id: i64) -> Lease {
    Lease { until_ms: START_MS + 150_000, ..lease(worker_id) }
}

/// The process was stopped (SIGSTOP, a frozen sandbox, a paused machine) for longer than its lease, in the middle of a
/// renewal. Its request is lost, and so is the first claim, by the same connection.
#[test]
fn a_call_after_a_stop_waits_for_the_next_claim_that_succeeds() {
    let leased = patient();
    leased.open.next().unwrap();
    let renewal = leased.renewal();
    leased.world.pass(60_000);
    renewal.send(Err("timed out".into())).unwrap();
    let first = leased.claim();
    std::thread::scope(|scope| {
        let open = &leased.open;
        let call = scope.spawn(move || asks(open, true));
        leased.fails(&first, "down");
        leased.world.pass(200);
        leased.claim().send(Ok(Some(later(3)))).unwrap();
        assert_eq!(call.join().unwrap().unwrap(), 3);
    });
}

#[test]
fn what_no_retry_heals_is_told_at_once() {
    let leased = patient();
    leased.lose();
    leased.claim().send(Err(Error::new(Code::SourceInvalid, "answered 401").into())).unwrap();
    let why = leased.asks(true).unwrap_err();
    assert!(why.code() == Code::SourceInvalid && why.message().ends_with("answered 401"), "{why}");
}

#[test]
fn a_close_waits_for_the_renewal_and_gives_back_what_it_left() {
    let leased = Leased::new();
    let answer = leased.renewal();
    let renewal = Renewal { until_ms: START_MS + 90_000, token: Some("new".into()), ..Renewal::default() };
    let generator = &leased.open.generator;
    std::thread::scope(|scope| {
        let closing = scope.spawn(|| generator.driver.close());
        until(|| generator.core.first_unused().is_none());
        // By now it waits.
        std::thread::sleep(Duration::from_millis(20));
        answer.send(Ok(Some(renewal))).unwrap();
        closing.join().unwrap().unwrap();
    });
    assert_eq!(leased.released().token.as_deref(), Some("new"));
}
