//! Leases of a user's source: renewed, lost, claimed again, and released with the last token.

use super::host::{CLOSE, Host, OPEN, settings};
use crate::common::NOW_MS;
use leafid_core::call::{FileAdvice, IoFailure};
use leafid_core::run::record_open::RecordOpen;
use leafid_core::run::{
    Answer, Claimed, Need, RunCall, RunCallEnd, RunSettings, RunState, SourceFailure, Workers,
};
use leafid_core::{Action, Code, Error, Layout};
use std::time::Duration;

fn leased(worker_ids: &[i64]) -> Host {
    let mut host = Host::new(settings(Workers::Callback { leases: true }));
    host.source.worker_ids = worker_ids.into();
    host
}

fn opened(worker_ids: &[i64]) -> Host {
    let mut host = leased(worker_ids);
    assert_eq!(host.asked(OPEN), Answer::Look);
    host
}

fn failed(answer: &Answer) -> (Code, String) {
    match answer {
        Answer::Failed(error) => (error.code(), error.message().into()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_lease_is_renewed_half_way_and_released_with_its_last_token() {
    let mut host = opened(&[4]);
    let first = host.id();
    host.drive_for(6_000);
    assert_eq!(host.calls.iter().filter(|call| *call == "Source Renew").count(), 1);
    let last = host.id();
    assert!(last > first);
    let last_ms = host.now_ms();
    assert_eq!(host.asked(CLOSE), Answer::Look);
    let [(worker_id, token, until_ms)] = &host.source.released[..] else { panic!("{:?}", host.source) };
    assert_eq!((*worker_id, token.as_str()), (4, "t2"));
    assert!((last_ms + 1..=last_ms + 2).contains(until_ms), "no id at or after it");
    let at = |name: &str| host.calls.iter().rposition(|call| call == name).unwrap();
    assert!(at("Disk UnlockHost") < at("Beside Release"), "first the worker id is given back");
}

#[test]
fn after_a_loss_another_lease_is_claimed_above_all_ids() {
    let mut host = opened(&[4, 5]);
    let last = host.id();
    let old = host.run.generator().unwrap().clone();
    host.source.has_lost = true;
    host.drive_for(5_100);
    assert_eq!(host.run.state(), RunState::Held { worker_id: 5, lost: false });
    assert_eq!(host.source.previous, [None, Some(4)]);
    assert_eq!(old.next(host.now_ms()), Err(Action::Sealed));
    host.source.has_lost = false;
    let ms = |id| Layout::LEAF.decode(id).unwrap().timestamp_ms;
    let next = host.id();
    assert!(ms(next) > ms(last));
    assert_eq!(host.source.released, [], "another process may hold it");
    assert!(
        host.log.iter().any(|(_, text)| text == "worker id 5 took the place of the lost 4"),
        "{:?}",
        host.log
    );
}

/// Another process of this host may have got it, and would find it locked until its lease is over.
#[test]
fn a_lost_worker_id_is_given_back_once_its_span_is_used_up() {
    let mut host = opened(&[4, 5]);
    let first = host.id();
    (host.source.has_lost, host.source.is_down) = (true, true);
    let (id, claim) = host.drive_until("Claim");
    let end = host.carry_out(claim);
    host.done(id, end);
    host.drive();
    let last = host.id();
    assert!(last > first, "the rest is used");
    let old = host.run.generator().unwrap().clone();
    let left_ms = host.run.stats(host.now_ms()).reserved_until_ms - host.now_ms();
    host.calls.clear();
    host.drive_for(left_ms as u64 - 1);
    assert!(!host.calls.iter().any(|call| call == "Disk CloseRecord"), "{:?}", host.calls);
    host.drive_for(1);
    assert!(host.calls.ends_with(&["Disk CloseRecord".into(), "Disk UnlockHost".into()]), "{:?}", host.calls);
    assert_eq!(old.next(host.now_ms()), Err(Action::Sealed));
    (host.source.has_lost, host.source.is_down) = (false, false);
    host.clocks.wall_ms = NOW_MS;
    let next = (0..100).find_map(|_| {
        host.drive_for(100);
        host.asked(Need::Span);
        host.run.generator().unwrap().next(host.now_ms()).ok()
    });
    assert_eq!(host.run.state(), RunState::Held { worker_id: 5, lost: false });
    let ms = |id| Layout::LEAF.decode(id).unwrap().timestamp_ms;
    assert!(ms(next.unwrap()) > ms(last), "whatever the clock does");
}

#[test]
fn a_claim_that_comes_too_late_is_released() {
    let mut host = leased(&[4, 5]);
    let ticket = host.want(OPEN);
    let (id, call) = host.drive_to("Claim");
    host.pass(2_000);
    host.drive();
    assert_eq!(host.abandoned, [id]);
    let (code, text) = failed(&host.run.answer(ticket));
    assert_eq!(code, Code::WorkerLost);
    assert!(text.starts_with("the claim of a worker id did not answer within timeout_ms (2000)"), "{text}");
    let end = host.carry_out(call);
    host.done(id, end.clone());
    host.drive();
    assert_eq!(host.source.released.len(), 1);
    host.done(id, end);
    host.drive();
    assert_eq!(host.source.released.len(), 1, "an end counts once");
    assert_eq!(host.asked(OPEN), Answer::Look);
    assert_eq!(host.run.state(), RunState::Held { worker_id: 5, lost: false });
}

/// Its lease would count from the time of the next claim.
#[test]
fn the_end_of_an_abandoned_claim_is_not_that_of_the_next_one() {
    let mut host = leased(&[4, 5]);
    host.want(OPEN);
    let (_, call) = host.drive_to("Claim");
    let late = host.carry_out(call);
    host.pass(2_000);
    host.drive();
    let ticket = host.want(OPEN);
    let (id, call) = host.drive_to("Claim");
    host.done(id, late);
    host.drive();
    assert!(matches!(host.run.answer(ticket), Answer::Pending(_)));
    let end = host.carry_out(call);
    host.done(id, end);
    host.drive();
    assert_eq!(host.run.state(), RunState::Held { worker_id: 5, lost: false });
}

/// They would have the time of each claim after a loss.
#[test]
fn clocks_of_peers_that_hang_hold_up_no_claim() {
    let leases = settings(Workers::Callback { leases: true });
    let mut host = Host::new(RunSettings { peer_times: true, ..leases });
    host.source.worker_ids = vec![4, 5, 6, 7];
    assert_eq!(host.asked(OPEN), Answer::Look);
    host.id();
    let loses_with_peers = |host: &mut Host, wanted: &str| {
        host.source.has_lost = true;
        host.calls.clear();
        let pulled = host.drive_until(wanted);
        host.source.has_lost = false;
        (pulled, host.calls.iter().any(|call| call == "Source PeerTimes"))
    };
    let ((hung, call), _) = loses_with_peers(&mut host, "PeerTimes");
    host.drive_for(2_100);
    assert_eq!(
        (&host.abandoned[..], host.run.state()),
        (&[hung][..], RunState::Held { worker_id: 5, lost: false })
    );
    let ((id, claim), asks_peers) = loses_with_peers(&mut host, "Claim");
    assert!(!asks_peers, "the first call still hangs");
    for (id, call) in [(id, claim), (hung, call)] {
        let end = host.carry_out(call);
        host.done(id, end);
    }
    host.drive();
    assert_eq!(host.run.state(), RunState::Held { worker_id: 6, lost: false });
    let (_, asks_peers) = loses_with_peers(&mut host, "Claim");
    assert!(asks_peers);
}

#[test]
fn of_several_records_of_another_layout_the_smallest_id_is_named() {
    let mut host = leased(&[4]);
    for worker_id in [3, 5] {
        let open = RecordOpen::new("orders", worker_id, Layout::SONYFLAKE, FileAdvice::StateDir);
        host.disk.files.insert(worker_id, open.initial().unwrap().to_vec());
    }
    let (code, text) = failed(&host.asked(OPEN));
    assert_eq!(code, Code::StateMismatch);
    assert!(text.starts_with("/state/orders/worker-3.state has the layout"), "{text}");
}

/// A source may answer two claims of one process with one lease.
#[test]
fn a_late_claim_that_brought_the_lease_that_is_held_is_not_released() {
    for holds in ["LockHost", "", "CloseRecord"] {
        let mut host = leased(&[4, 4]);
        host.want(OPEN);
        let (id, call) = host.drive_to("Claim");
        let late = host.carry_out(call);
        host.pass(2_000);
        host.drive();
        assert_eq!(host.abandoned, [id]);
        host.source.forget_tokens();
        host.want(OPEN);
        match holds {
            "LockHost" => drop(host.drive_to(holds)),
            "" => host.drive(),
            _ => {
                host.drive();
                host.id();
                host.want(CLOSE);
                host.drive_to(holds);
            }
        }
        host.done(id, late);
        assert!(host.pull().is_none(), "{holds}");
    }
}

/// A second one with the same token would be refused, because the first one made another.
#[test]
fn a_renewal_that_takes_long_is_not_sent_twice_and_counts_whole() {
    let mut host = opened(&[4]);
    host.id();
    host.pass(5_000);
    let (id, call) = host.drive_to("Renew");
    let end = host.carry_out(call);
    host.calls.clear();
    host.drive_for(4_500);
    host.id();
    assert_eq!(
        (&host.abandoned[..], host.run.state()),
        (&[][..], RunState::Held { worker_id: 4, lost: false })
    );
    assert!(!host.calls.iter().any(|call| call == "Source Renew"), "{:?}", host.calls);
    host.done(id, end);
    // Beyond the end of the first lease: the next renewal is half-way of the one that came.
    host.drive_for(400);
    host.source.is_down = true;
    host.drive_for(2_000);
    assert_eq!(host.run.state(), RunState::Held { worker_id: 4, lost: false });
    assert_eq!(host.asked(CLOSE), Answer::Look);
    assert_eq!(host.source.released[0].1, "t2");
}

#[test]
fn a_renewal_that_hangs_is_abandoned_when_its_lease_is_over() {
    let mut host = opened(&[4, 5]);
    host.id();
    host.pass(5_000);
    let (id, call) = host.drive_to("Renew");
    host.drive_for(4_900);
    assert_eq!(host.abandoned, []);
    host.drive_for(200);
    assert_eq!(host.abandoned, [id]);
    assert_eq!(host.run.state(), RunState::Held { worker_id: 5, lost: false });
    assert!(host.log.iter().any(|(_, text)| text.contains("it hangs")), "{:?}", host.log);
    let late = host.carry_out(call);
    host.done(id, late);
    assert_eq!(host.asked(CLOSE), Answer::Look);
    let token = host.source.released.iter().map(|(worker_id, token, _)| (*worker_id, token.as_str()));
    assert_eq!(token.collect::<Vec<_>>(), [(5, "t2")]);
}

#[test]
fn a_close_waits_for_a_renewal_and_releases_its_token() {
    for waits_for_source in [true, false] {
        let mut host = opened(&[4]);
        host.id();
        host.pass(5_000);
        let (id, call) = host.drive_to("Renew");
        host.want(Need::Close { quietly: false, waits_for_source });
        host.drive();
        assert_eq!(host.closed.is_some(), !waits_for_source);
        assert_eq!(host.source.released, []);
        let end = host.carry_out(call);
        host.done(id, end);
        host.drive();
        assert_eq!((&host.closed, host.source.released[0].1.as_str()), (&Some(Ok(())), "t2"));
    }
}

/// The end of the old round would seat the new one on its lock.
#[test]
fn no_round_begins_before_the_one_before_is_undone() {
    let mut host = opened(&[4, 5, 6]);
    host.id();
    host.source.has_lost = true;
    host.pass(5_000);
    let (id, hung) = host.drive_to("LockHost");
    host.calls.clear();
    // Far longer than a round may take.
    host.drive_for(60_000);
    assert!(!host.calls.iter().any(|call| call == "Source Claim"), "{:?}", host.calls);
    host.source.has_lost = false;
    let end = host.carry_out(hung);
    host.done(id, end);
    host.drive_for(15_000);
    let order: Vec<&str> = host.calls.iter().map(String::as_str).take(4).collect();
    assert_eq!(order, ["Disk UnlockHost", "Beside Release", "Source Claim", "Disk LockHost"]);
    assert_eq!(host.source.released[0].0, 5);
    assert_eq!(host.run.state(), RunState::Held { worker_id: 6, lost: false });
}

/// A generator without its lease would go on for ever.
#[test]
fn a_lease_that_ends_during_the_first_write_is_held_all_the_same() {
    let mut host = leased(&[4, 5]);
    host.source.lease_ms = 1_000;
    host.want(OPEN);
    let (id, call) = host.drive_to("WriteRecord");
    host.pass(1_500);
    let end = host.carry_out(call);
    host.done(id, end);
    host.source.is_down = true;
    host.drive();
    let flake = host.run.generator().unwrap().clone();
    host.asked(Need::Span);
    let until = flake.until();
    host.drive_for(3_000);
    host.asked(Need::Span);
    assert_eq!(flake.until(), until, "no span without a lease");
    assert_eq!(host.run.state(), RunState::Held { worker_id: 4, lost: true });
}

#[test]
fn a_source_that_gives_no_lease_although_it_leases_is_a_defect() {
    let mut host = leased(&[4]);
    let ticket = host.want(OPEN);
    let (id, call) = host.drive_to("Claim");
    let RunCall::Claim(call) = call else { unreachable!("it is one") };
    host.done(id, call.end(Ok(Some(Claimed::Id(4)))));
    host.drive();
    assert_eq!(failed(&host.run.answer(ticket)).0, Code::Internal);
}

#[test]
fn what_needs_the_event_loop_is_refused_to_those_who_block_it_alone() {
    for loops in [false, true] {
        let mut host = leased(&[4]);
        let ticket = host.want(Need::Open { longest: Some(Duration::from_millis(2)), loops });
        let (id, call) = host.drive_to("Claim");
        host.done(id, RunCallEnd::needs_loop());
        host.drive();
        assert_eq!(matches!(host.run.answer(ticket), Answer::Failed(_)), !loops);
        let end = host.carry_out(call);
        host.done(id, end);
        host.drive();
        assert_eq!(host.source.released.len(), usize::from(!loops));
        assert_eq!(host.run.answer(ticket) == Answer::Look, loops);
    }
}

/// A process whose opening fails probably ends.
#[test]
fn a_failed_opening_waits_until_its_lease_is_released() {
    for (loops, hangs) in [(true, false), (true, true), (false, false)] {
        let mut host = leased(&[4]);
        host.disk.host_locks.insert(4);
        let ticket = host.want(Need::Open { longest: None, loops });
        let (id, call) = host.drive_until("Release");
        let waits = matches!(host.run.answer(ticket), Answer::Pending(_));
        assert_eq!(waits, loops, "an event loop may be what the release needs");
        if hangs {
            host.drive_for(1_900);
            assert!(matches!(host.run.answer(ticket), Answer::Pending(_)));
            host.drive_for(200);
        } else {
            let end = host.carry_out(call);
            host.done(id, end);
        }
        assert_eq!(failed(&host.run.answer(ticket)).0, Code::WorkerInUse);
    }
}

#[test]
fn a_claim_after_a_loss_that_no_retry_heals_is_told_once_and_counted() {
    let mut host = opened(&[4]);
    host.id();
    host.source.has_lost = true;
    let mut claim = host.drive_until("Claim");
    let before = host.run.stats(host.now_ms());
    for _ in 0..2 {
        let (id, RunCall::Claim(call)) = claim else { unreachable!("it is one") };
        let error = Error::new(Code::InvalidArgument, "the pool is no list");
        host.done(id, call.end(Err(SourceFailure::Coded(error))));
        claim = host.drive_until("Claim");
    }
    let stats = host.run.stats(host.now_ms());
    assert_eq!(stats.renewal_failures, before.renewal_failures + 2);
    assert!(stats.last_error.unwrap().contains("the pool is no list"));
    let told =
        host.log.iter().filter(|(_, text)| text.starts_with("the span of worker id 4 was not renewed"));
    assert_eq!(told.count(), 1, "{:?}", host.log);
    assert_eq!(stats.reserved_until_ms, before.reserved_until_ms, "what was granted stays so");
}

#[test]
fn the_first_span_is_granted_also_after_the_loss_of_its_lease() {
    let mut host = opened(&[4]);
    (host.source.has_lost, host.source.is_down) = (true, true);
    host.pass(5_000);
    // The next one is never durable.
    host.drive_to("WriteRecord");
    host.drive();
    assert_eq!(host.run.state(), RunState::Held { worker_id: 4, lost: true });
    host.clocks.wall_ms -= 5_000;
    host.id();
}

#[test]
fn ids_stay_reserved_after_the_close() {
    let mut host = opened(&[4]);
    host.id();
    let before = host.run.stats(host.now_ms()).reserved_until_ms;
    assert!(before > host.now_ms());
    host.asked(CLOSE);
    assert_eq!(host.run.stats(host.now_ms()).reserved_until_ms, before);
}

/// Those who wait would hammer a source that is down.
#[test]
fn a_caller_who_waits_after_a_loss_has_one_claim_made_sooner_and_no_others() {
    let patient = settings(Workers::Callback { leases: true });
    let mut host = Host::new(RunSettings { timeout: Duration::from_secs(60), ..patient });
    host.source.worker_ids = vec![4];
    assert_eq!(host.asked(OPEN), Answer::Look);
    host.id();
    (host.source.has_lost, host.source.is_down) = (true, true);
    let claimed = |host: &mut Host| {
        let (id, call) = host.drive_until("Claim");
        let end = host.carry_out(call);
        host.done(id, end);
        host.clocks.boot.as_millis()
    };
    let mut last = claimed(&mut host);
    let first_caller = host.want(Need::Span);
    let mut pauses = [0; 5];
    for pause in &mut pauses {
        let next = claimed(&mut host);
        (*pause, last) = (next - last, next);
    }
    assert_eq!(pauses, [200, 400, 800, 1_600, 3_200]);
    host.drive_for(1_000);
    host.want(Need::Span);
    assert_eq!(claimed(&mut host) - last, 1_000, "another caller comes");
    assert!(matches!(host.run.answer(first_caller), Answer::Pending(_)));
}

#[test]
fn only_a_source_that_says_so_has_lost_a_lease() {
    let coded = |code| SourceFailure::Coded(Error::new(code, "as asked"));
    for (failure, is_lost) in [
        (coded(Code::WorkerLost), true),
        (coded(Code::StateIo), false),
        (SourceFailure::Text("worker_lost: lost".into()), false),
        (SourceFailure::Panicked, false),
        (SourceFailure::NotBegun(IoFailure::other("no thread")), false),
    ] {
        let mut host = opened(&[4]);
        host.source.is_down = true;
        host.id();
        host.pass(5_000);
        let (id, call) = host.drive_to("Renew");
        let RunCall::Renew(call) = call else { unreachable!("it is one") };
        host.done(id, call.end(Err(failure.clone())));
        assert_eq!(host.run.state(), RunState::Held { worker_id: 4, lost: is_lost }, "{failure:?}");
    }
}

#[test]
fn a_lease_that_ends_by_itself_is_left_to_end_if_its_id_is_held_on_this_host() {
    for ids in [&[4, 5][..], &[4; 8]] {
        let callback = settings(Workers::Callback { leases: true });
        let mut host = Host::new(RunSettings { leases_end: true, ..callback });
        host.source.worker_ids = ids.into();
        host.disk.host_locks.insert(4);
        let ticket = host.want(OPEN);
        host.drive_for(3_000);
        match ids.len() {
            2 => assert_eq!(host.run.state(), RunState::Held { worker_id: 5, lost: false }),
            _ => assert_eq!(failed(&host.run.answer(ticket)).0, Code::WorkerInUse),
        }
        assert!(host.source.released.is_empty(), "{:?}", host.source.released);
    }
}
