//! Tests of lost leases. The tests control when claims and renewals return.

use super::*;
use crate::Answer;
use crate::snowflake::recovery_state::Recovery;
use crate::snowflake::renewal_log::RenewalLog;
use crate::snowflake::wait::Wait;
use crate::tasks::renewal_timer::RenewalTimer;
use crate::worker::acquire::Acquired;
use crate::worker::claim::{self, ClaimContext};
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
        Leased { world, process, open, calls }
    }

    fn lose(&self) {
        self.open.generator.lose(Error::new(Code::WorkerLost, "lost"));
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

    /// Waits for the generator that replaces this one, or for the error.
    fn successor(&self, may_wait: bool) -> Result<Open> {
        let generator = &self.open.generator;
        generator.await_successor(Instant::now() + PATIENCE, may_wait, &mut || false)?;
        Ok(Open { generator: Arc::clone(generator.newest()), settings: Arc::clone(&self.open.settings) })
    }

    fn fails(&self, claim: &Sender<Answer<Option<Lease>>>) {
        claim.send(Err("down".into())).unwrap();
        let ended = |lost: &leafid_core::LeaseLoss| !lost.is_claiming();
        until(|| {
            self.open.generator.with_recovery(|state| state.lost.as_ref().is_some_and(ended)) == Some(true)
        });
    }
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
    let last = leased.open.next().unwrap();
    leased.world.set_clock(-1_000);
    leased.lose();
    let claim = leased.claim();
    assert!(leased.open.generator.waits_for_source());
    claim.send(Ok(Some(lease(3)))).unwrap();
    let next = leased.successor(true).unwrap();
    assert_eq!(next.generator.worker_id, 3);
    assert!(next.next().unwrap() > last);
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
    let Recovery::UnderWay(again) = leased.open.generator.recover_if_lost(false) else { panic!() };
    assert_eq!(again, Duration::from_millis(200));
    leased.world.pass(200);
    leased.open.generator.recover_if_lost(false);
    let second = leased.claim();
    first.send(Ok(Some(lease(3)))).unwrap();
    assert_eq!(leased.released(), lease(3));
    second.send(Ok(Some(lease(4)))).unwrap();
    assert_eq!(leased.successor(true).unwrap().generator.worker_id, 4);
}

#[test]
fn what_is_claimed_for_a_generator_that_was_closed_meanwhile_is_given_back() {
    let Leased { world: _world, process, open, calls } = Leased::new();
    open.generator.lose(Error::new(Code::WorkerLost, "lost"));
    let Call::Claim(answer) = calls.recv_timeout(PATIENCE).unwrap() else { panic!() };
    process.close(open);
    answer.send(Ok(Some(lease(3)))).unwrap();
    let Ok(Call::Release(given_back)) = calls.recv_timeout(PATIENCE) else { panic!("it is not") };
    assert_eq!(given_back, lease(3));
}

#[test]
fn a_lease_of_peers_that_disagree_is_given_back() {
    let leased = Leased::new();
    leased.lose();
    let disagreed = Lease { peer_times_ms: vec![START_MS + 60_000; 3], ..lease(3) };
    leased.claim().send(Ok(Some(disagreed.clone()))).unwrap();
    assert_eq!(leased.released(), disagreed);
}

#[test]
fn who_waits_for_a_successor_is_told_why_there_is_none_and_has_it_claimed_again() {
    let leased = Leased::new();
    leased.lose();
    leased.fails(&leased.claim());
    for _ in 0..2 {
        // An event loop waits elsewhere.
        let why = leased.successor(false).err().unwrap();
        assert!(why.code() == Code::WouldBlock && why.message().contains("down"), "{why}");
        leased.world.pass(1_000);
        assert!(leased.successor(false).is_err());
        leased.fails(&leased.claim());
    }
    // timeout_ms is over since the loss.
    for may_wait in [true, false] {
        let why = leased.successor(may_wait).err().unwrap();
        assert!(why.code() == Code::WorkerLost && why.message().contains("down"), "{why}");
    }
    // Before the next one is due.
    leased.world.pass(200);
    assert!(leased.successor(false).is_err());
    leased.claim().send(Ok(Some(lease(3)))).unwrap();
    assert_eq!(leased.successor(true).unwrap().generator.worker_id, 3);
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
    leased.world.pass(30_000);
    leased.open.generator.renew(false);
    let Ok(Call::Renew(renewal)) = leased.calls.recv_timeout(PATIENCE) else { panic!() };
    leased.world.pass(60_000);
    renewal.send(Err("timed out".into())).unwrap();
    let first = leased.claim();
    std::thread::scope(|scope| {
        let call = scope.spawn(|| {
            let never = &mut || false;
            let mut wait = Wait::new(&leased.open.settings, never);
            wait.until_done(&leased.open.generator, Action::NeedSpan)
        });
        leased.fails(&first);
        leased.world.pass(200);
        leased.claim().send(Ok(Some(later(3)))).unwrap();
        call.join().unwrap().unwrap();
    });
    assert_eq!(leased.open.generator.newest().worker_id, 3);
}

#[test]
fn what_no_retry_heals_is_told_at_once() {
    let leased = patient();
    leased.lose();
    leased.claim().send(Err(Error::new(Code::SourceInvalid, "answered 401").into())).unwrap();
    let why = leased.successor(true).err().unwrap();
    assert!(why.code() == Code::SourceInvalid && why.message().ends_with("answered 401"), "{why}");
}

/// The call was stopped with its process, and its time passed meanwhile.
#[test]
fn a_call_that_was_stopped_itself_waits_once_more() {
    let leased = patient();
    leased.open.next().unwrap();
    leased.lose();
    let _claim = leased.claim();
    let generator = &leased.open.generator;
    let never = &mut || false;
    let mut wait = Wait::new(&leased.open.settings, never);
    let mut waits = |passed| {
        wait.deadline = Some(Instant::now() - Duration::from_millis(passed));
        wait.until_done(generator, Action::NeedSpan).err().map(|error| error.code())
    };
    assert_eq!(waits(0), Some(Code::WorkerLost));
    assert_eq!(waits(1_001), None);
    assert_eq!(waits(1_001), Some(Code::WorkerLost), "only once");
}

#[test]
fn a_close_waits_for_the_renewal_and_gives_back_what_it_left() {
    let leased = Leased::new();
    leased.world.pass(30_000);
    leased.open.generator.renew(false);
    let Ok(Call::Renew(answer)) = leased.calls.recv_timeout(PATIENCE) else { panic!() };
    let renewal = Renewal { until_ms: START_MS + 90_000, token: Some("new".into()), ..Renewal::default() };
    let generator = Arc::clone(&leased.open.generator);
    std::thread::scope(|scope| {
        let closing = scope.spawn(|| generator.shut(PATIENCE));
        until(|| lock(&generator.span_writer).is_none());
        // By now it waits.
        std::thread::sleep(Duration::from_millis(20));
        answer.send(Ok(Some(renewal))).unwrap();
        closing.join().unwrap().unwrap();
    });
    assert_eq!(leased.released().token.as_deref(), Some("new"));
}

#[test]
fn a_long_line_of_successors_ends_on_a_small_stack() {
    let world = World::new();
    let process = world.process();
    let first = process.open(builder().persist(false)).unwrap();
    let rules = first.settings.key.space.rules;
    let (env, renewer) = (Arc::new(world.env()), Arc::new(RenewalTimer::new()));
    let mut next: Option<Arc<Generator>> = None;
    for _ in 0..2_000 {
        let context =
            ClaimContext { rules, floor: 0, acquired: Acquired::Nothing, forgets: false, inherited: false };
        let claim = claim::claim(&env, &first.settings, &context).unwrap();
        let (env, renewer, settings) = (Arc::clone(&env), Arc::clone(&renewer), Arc::clone(&first.settings));
        let generator =
            Arc::new(Generator::new(env, renewer, settings, context, claim, RenewalLog::default(), 0));
        if let Some(next) = next {
            assert!(generator.successor.set(next).is_ok());
        }
        next = Some(generator);
    }
    let small = std::thread::Builder::new().stack_size(128 * 1_024);
    small.spawn(move || drop(next)).unwrap().join().unwrap();
}
