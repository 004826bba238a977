//! The end of a run: while it is opened, while the disk hangs, and while its caller leaves.

use super::host::{CLOSE, Host, OPEN, settings};
use leafid_core::run::{Answer, Need, RunState, RunTicket, Workers};
use leafid_core::{Code, Error};

const SEVEN: Workers = Workers::Within { first: 7, last: 7 };

#[test]
fn a_close_undoes_an_opening() {
    let mut host = Host::new(settings(Workers::Callback { leases: true }));
    host.source.worker_ids = vec![4];
    let opened = host.want(OPEN);
    let (id, call) = host.drive_to("OpenRecord");
    let closed = host.want(CLOSE);
    host.drive();
    assert!(matches!(host.run.answer(opened), Answer::Failed(error) if error.code() == Code::Closed));
    assert!(host.closed.is_none(), "the record may be locked");
    host.calls.clear();
    let end = host.carry_out(call);
    host.done(id, end);
    host.drive();
    assert_eq!(host.calls, ["Disk CloseRecord", "Disk UnlockHost", "Beside Release"]);
    assert_eq!((host.run.answer(closed), host.closed), (Answer::Look, Some(Ok(()))));
}

#[test]
fn a_close_does_not_wait_for_a_disk_that_hangs_and_what_it_brings_is_undone() {
    let mut host = Host::new(settings(SEVEN));
    host.asked(OPEN);
    host.id();
    let closed = host.want(CLOSE);
    let (id, call) = host.drive_to("WriteRecord");
    host.drive_for(2_001);
    let Answer::Failed(error) = host.run.answer(closed) else { panic!("{:?}", host.closed) };
    assert_eq!(error.code(), Code::StateIo);
    host.calls.clear();
    let end = host.carry_out(call);
    host.done(id, end);
    host.drive();
    assert_eq!(host.calls, ["Disk CloseRecord", "Disk UnlockHost"]);
    assert_eq!(host.closed, Some(Err(error)), "it was told once");
}

#[test]
fn the_last_opener_that_leaves_has_the_claim_undone() {
    let mut host = Host::new(settings(SEVEN));
    let tickets = [OPEN, OPEN].map(|need| host.want(need));
    let (id, call) = host.drive_to("LockHost");
    host.run.give_up(tickets[0], host.clocks);
    host.run.give_up(tickets[1], host.clocks);
    host.calls.clear();
    let end = host.carry_out(call);
    host.done(id, end);
    host.drive();
    assert_eq!(host.calls, ["Disk UnlockHost"]);
    assert!(matches!(host.run.state(), RunState::Failed(error) if error.code() == Code::WouldBlock));
    assert_eq!(host.asked(OPEN), Answer::Look, "it may be opened again");
}

#[test]
fn an_opening_is_told_of_a_disk_that_hangs_and_the_next_one_waits_for_it() {
    let mut host = Host::new(settings(SEVEN));
    let ticket = host.want(OPEN);
    let (id, call) = host.drive_to("OpenRecord");
    host.drive_for(3_000);
    let Answer::Failed(error) = host.run.answer(ticket) else { panic!("it waits") };
    assert_eq!(error.code(), Code::StateIo);
    assert!(error.message().starts_with("/state/orders did not answer within"), "{error}");
    let next = host.want(OPEN);
    host.drive();
    assert!(matches!(host.run.answer(next), Answer::Pending(_)));
    let end = host.carry_out(call);
    host.done(id, end);
    host.drive();
    assert_eq!(host.run.answer(next), Answer::Look);
}

fn told_of_the_disk(host: &Host, ticket: RunTicket) {
    let Answer::Failed(error) = host.run.answer(ticket) else { panic!("it waits") };
    assert_eq!(error.code(), Code::StateIo);
}

#[test]
fn who_opens_while_the_disk_hangs_waits_for_it_as_long_as_the_first_one() {
    let mut host = Host::new(settings(SEVEN));
    let first = host.want(OPEN);
    let (id, call) = host.drive_to("OpenRecord");
    host.drive_for(3_000);
    told_of_the_disk(&host, first);
    let next = host.want(OPEN);
    host.drive_for(1_500);
    // Those who come later do not put it off.
    let last = host.want(OPEN);
    host.drive_for(600);
    told_of_the_disk(&host, next);
    told_of_the_disk(&host, last);
    let end = host.carry_out(call);
    host.done(id, end);
    host.drive();
    assert_eq!(host.asked(OPEN), Answer::Look);
}

#[test]
fn an_opening_waits_no_longer_for_the_list_of_records_than_for_one() {
    for hangs in ["ListRecords", "PeekRecord"] {
        let mut host = Host::new(settings(Workers::Callback { leases: true }));
        host.source.worker_ids = vec![4];
        host.disk.files.insert(3, Vec::new());
        let ticket = host.want(OPEN);
        let (id, call) = host.drive_to(hangs);
        host.drive_for(1_900);
        assert!(matches!(host.run.answer(ticket), Answer::Pending(_)));
        host.drive_for(200);
        told_of_the_disk(&host, ticket);
        let next = host.want(OPEN);
        let end = host.carry_out(call);
        host.done(id, end);
        host.drive();
        assert_eq!(host.run.answer(next), Answer::Look, "{hangs}");
    }
}

#[test]
fn a_span_that_was_not_written_is_not_granted_and_the_next_caller_writes_again() {
    let mut host = Host::new(settings(SEVEN));
    host.asked(OPEN);
    host.id();
    let flake = host.run.generator().unwrap().clone();
    let until = flake.until();
    host.pass(10_000);
    let ticket = host.want(Need::Span);
    let (id, call) = host.drive_to("WriteRecord");
    let leafid_core::run::RunCall::WriteRecord(write) = call else { unreachable!("it is one") };
    let error = Error::new(Code::StateIo, "no");
    host.done(id, write.end(Err(error.clone())).into());
    assert_eq!((host.run.answer(ticket), flake.until()), (Answer::Failed(error), until));
    assert!(host.pull().is_none(), "in the background it rests");
    assert_eq!(host.asked(Need::Span), Answer::Look);
    assert!(flake.until() > until);
}
