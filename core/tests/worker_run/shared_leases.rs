//! Runs of one process whose source answers several claims with one lease: whoever holds it, it is released once, and
//! never while a run holds it.

use super::host::{CLOSE, Host, OPEN, settings};
use leafid_core::call::CallId;
use leafid_core::run::{Answer, ClaimCall, Claimed, ProcessLeases, RunCall, RunState, RunTicket, Workers};
use leafid_core::{Code, Lease};
use std::rc::Rc;
use std::time::Duration;

const HELD: RunState = RunState::Held { worker_id: 4, lost: false };

fn first() -> Host {
    Host::new(settings(Workers::Callback { leases: true }))
}

/// Another run of the same process. It has a disk of its own, so that no lock holds it back.
fn beside(first: &Host) -> Host {
    let mut host = self::first();
    (host.leases, host.clocks) = (Rc::clone(&first.leases), first.clocks);
    host
}

/// A claim that is under way.
struct Claim(CallId, ClaimCall, RunTicket);

fn claims(host: &mut Host) -> Claim {
    let ticket = host.want(OPEN);
    let (id, RunCall::Claim(call)) = host.drive_to("Claim") else { unreachable!("it is one") };
    Claim(id, call, ticket)
}

/// A claim that its run has given up.
fn late(host: &mut Host) -> Claim {
    let claim = claims(host);
    host.drive_for(2_000);
    assert_eq!(host.abandoned.last(), Some(&claim.0));
    claim
}

impl Claim {
    /// The lease comes.
    fn comes(&self, host: &mut Host, lease: Lease) {
        let Claim(id, call, _) = self;
        host.done(*id, call.clone().end(Ok(Some(Claimed::Lease(lease, Duration::ZERO)))));
    }

    fn error(&self, host: &Host) -> Code {
        match host.run.answer(self.2) {
            Answer::Failed(error) => error.code(),
            other => panic!("{other:?}"),
        }
    }
}

fn lease(host: &Host, worker_id: i64, token: Option<&str>) -> Lease {
    let (from_ms, until_ms) = (host.now_ms(), host.now_ms() + 60_000);
    let token = token.map(String::from);
    Lease { worker_id, from_ms, until_ms, lease_ms: Some(10_000), token, ..Lease::default() }
}

/// Opens, and holds worker id 4.
fn opens(host: &mut Host, token: Option<&str>) {
    let claim = claims(host);
    let lease = lease(host, 4, token);
    claim.comes(host, lease);
    host.drive();
    assert_eq!(host.run.state(), HELD);
}

/// The release that is next.
fn releases(host: &mut Host) -> Option<(CallId, RunCall)> {
    let pulled = host.pull();
    assert!(pulled.as_ref().is_none_or(|(_, call)| matches!(call, RunCall::Release(_))), "{pulled:?}");
    pulled
}

fn releases_end(host: &mut Host, (id, call): (CallId, RunCall)) {
    let RunCall::Release(call) = call else { panic!("{call:?}") };
    host.done(id, call.end(Ok(())));
    host.drive();
}

/// `first`, then the others.
#[test]
fn a_late_lease_is_not_released_if_another_run_has_had_it_since() {
    for token in [Some("t1"), None] {
        for state in ["locks", "held", "renewed", "closing", "released", "lost"] {
            let mut first = first();
            let late = late(&mut first);
            let mut came = lease(&first, 4, token);
            let mut second = beside(&first);
            match state {
                "locks" => {
                    let claim = claims(&mut second);
                    claim.comes(&mut second, came.clone());
                    second.drive_to("LockHost");
                }
                "held" => opens(&mut second, token),
                _ => {
                    opens(&mut second, token);
                    second.id();
                }
            }
            match state {
                // Its answer is under way, and tells a token that the run does not know yet.
                "renewed" => {
                    second.pass(5_000);
                    second.drive_to("Renew");
                    came.token = Some("t2".into());
                }
                "closing" => {
                    second.want(CLOSE);
                    second.drive_to("CloseRecord");
                }
                "released" => {
                    second.want(CLOSE);
                    let release = second.drive_to("Release");
                    releases_end(&mut second, release);
                }
                "lost" => {
                    second.source.has_lost = true;
                    second.source.worker_ids = vec![5];
                    second.drive_for(6_000);
                    assert_eq!(second.run.state(), RunState::Held { worker_id: 5, lost: false });
                }
                _ => {}
            }
            late.comes(&mut first, came);
            assert!(releases(&mut first).is_none(), "{token:?} {state}");
        }
    }
}

#[test]
fn of_several_late_answers_with_one_lease_none_releases_it_while_it_is_held() {
    let mut first = first();
    let mut second = beside(&first);
    let claims = [late(&mut first), late(&mut second)];
    let mut third = beside(&first);
    opens(&mut third, Some("t1"));
    for (claim, host) in claims.iter().zip([&mut first, &mut second]) {
        let came = lease(host, 4, Some("t1"));
        claim.comes(host, came);
        assert!(releases(host).is_none());
    }
}

#[test]
fn of_several_late_answers_with_one_lease_that_nobody_holds_one_releases_it() {
    let mut first = first();
    let mut second = beside(&first);
    let (one, other) = (late(&mut first), late(&mut second));
    let came = lease(&first, 4, None);
    one.comes(&mut first, came.clone());
    let release = releases(&mut first).expect("nobody holds it");
    releases_end(&mut first, release);
    other.comes(&mut second, came);
    assert!(releases(&mut second).is_none(), "another process may have it by now");
}

/// A release that was asked for may be carried out at any time until it ends.
#[test]
fn a_lease_that_is_being_released_is_not_taken_by_a_claim_that_is_under_way() {
    for begins_before in [true, false] {
        let mut first = first();
        let late = late(&mut first);
        let came = lease(&first, 4, None);
        let mut second = beside(&first);
        let before = begins_before.then(|| claims(&mut second));
        late.comes(&mut first, came.clone());
        let release = releases(&mut first).expect("nobody holds it yet");
        let claim = before.unwrap_or_else(|| claims(&mut second));
        if begins_before {
            releases_end(&mut first, release);
            claim.comes(&mut second, came);
        } else {
            claim.comes(&mut second, came);
            second.drive();
            releases_end(&mut first, release);
        }
        second.drive();
        assert_eq!(claim.error(&second), Code::WorkerInUse);
        assert_eq!(second.source.released, [], "it is released already");
        opens(&mut second, None);
    }
}

/// Their ids would be the same.
#[test]
fn a_lease_that_another_run_holds_is_not_taken() {
    let mut first = first();
    opens(&mut first, Some("t1"));
    let mut second = beside(&first);
    let claim = claims(&mut second);
    let again = lease(&first, 4, Some("t1"));
    claim.comes(&mut second, again);
    second.drive();
    assert_eq!(claim.error(&second), Code::WorkerInUse);
    assert_eq!((first.run.state(), &second.source.released[..]), (HELD, &[][..]));
}

#[test]
fn what_is_no_copy_is_released_or_taken() {
    let mut first = first();
    let late_claim = late(&mut first);
    let mut second = beside(&first);
    opens(&mut second, Some("t1"));
    let other = lease(&first, 5, Some("t2"));
    late_claim.comes(&mut first, other);
    assert!(releases(&mut first).is_some(), "a slow source would run out of worker ids");
    let mut elsewhere = self::first();
    let claim = late(&mut elsewhere);
    let copy = lease(&elsewhere, 4, Some("t1"));
    claim.comes(&mut elsewhere, copy);
    assert!(releases(&mut elsewhere).is_some(), "in another process");
}

/// The source said that the lease was lost: the next one may be of the same worker id.
#[test]
fn after_a_loss_the_same_worker_id_is_leased_anew() {
    let mut host = first();
    opens(&mut host, None);
    host.id();
    (host.source.has_lost, host.source.worker_ids) = (true, vec![4]);
    host.drive_for(6_000);
    assert_eq!(host.run.state(), HELD);
}

/// It would know nothing of the other runs.
#[test]
fn a_host_that_forgets_what_its_runs_share_gets_no_lease() {
    let mut host = first();
    let claim = claims(&mut host);
    *host.leases.borrow_mut() = ProcessLeases::new();
    let came = lease(&host, 4, Some("t1"));
    claim.comes(&mut host, came);
    host.drive();
    assert_eq!(claim.error(&host), Code::WorkerInUse);
}
