//! Unused ids: stored by a close, for a bounded time, and issued after the next start.

use super::{Host, settings};
use leafid_core::call::{FileAction, IoFailure, SharedFailure};
use leafid_core::format::file_steps::{FileFacts, FileStep};
use leafid_core::format::unused::MachineStart;
use leafid_core::supply::{Call, MarkStore, Notice, SupplySettings};
use leafid_core::{Code, Error, Run};
use std::time::Duration;

pub(crate) fn settings_that_keep() -> SupplySettings {
    let machine_start = Some(MachineStart { machine: "m".into(), boot: "b".into() });
    SupplySettings { marks: MarkStore::Files, keep_unused: true, machine_start, ..settings() }
}

/// A host with ids of these tags in its buffers.
fn host(tags: &[&str]) -> Host {
    let mut host = Host::new(settings_that_keep());
    for name in tags {
        let (tag, _) = host.tag(name);
        let ticket = host.wait(tag, 1);
        host.drive();
        assert!(host.collect(ticket).is_ok());
    }
    host.notices.clear();
    host
}

fn closed(host: &mut Host) -> Vec<Notice> {
    let mut notices = Vec::new();
    while let Some(notice) = host.supply.next_notice(host.clocks()) {
        notices.push(notice);
    }
    notices
}

#[test]
fn a_close_stores_what_is_left_and_then_it_is_closed() {
    let mut host = host(&["one", "other"]);
    let (tag, _) = host.tag("one");
    let waits = host.wait(tag, 100);
    host.supply.close(host.clocks());
    let mut left = Vec::new();
    while let Some((id, call)) = host.supply.next_call(host.clocks()) {
        let Call::UpdateMark(update) = &call else { panic!("{call:?}") };
        left.push(format!("{update:?}").contains("Keep"));
        assert!(!closed(&mut host).iter().any(|notice| matches!(notice, Notice::Closed(_))));
        host.carry_out(id, call);
    }
    assert_eq!(left, [true, true]);
    assert_eq!(closed(&mut host), [Notice::Closed(Ok(()))]);
    assert!(host.collect(waits).is_err_and(|error| error.starts_with("closed")));
    assert_eq!((host.supply.next_time(), closed(&mut host)), (None, vec![]));
}

#[test]
fn a_write_that_fails_is_told_by_the_close() {
    let mut host = host(&["one", "other"]);
    host.supply.close(host.clocks());
    let error = Error::new(Code::StateIo, "no");
    let (id, Call::UpdateMark(update)) = host.supply.next_call(host.clocks()).unwrap() else { panic!() };
    host.supply.done(id, update.refused(error.clone()), host.clocks());
    host.drive();
    assert_eq!(host.notices, [Notice::Closed(Err(error))]);
}

#[test]
fn a_close_waits_for_a_disk_that_hangs_for_two_seconds() {
    let mut host = host(&["one", "other"]);
    host.supply.close(host.clocks());
    let (id, call) = host.supply.next_call(host.clocks()).unwrap();
    let at = host.supply.next_time();
    assert_eq!(at, Some(host.now + Duration::from_secs(2)));
    host.now += Duration::from_secs(2);
    let notices = closed(&mut host);
    let message = "the disk did not answer in time; some unused ids of the segments are not stored";
    let late = Notice::Closed(Err(Error::new(Code::StateIo, message)));
    assert_eq!(notices, [Notice::Abandon(id), late]);
    host.carry_out(id, call);
    assert!(host.supply.next_call(host.clocks()).is_none(), "nothing more is stored");
    assert!(closed(&mut host).is_empty() && host.supply.next_time().is_none());
}

#[test]
fn ids_that_were_stored_are_issued_before_the_source_is_asked_and_only_once() {
    let mut host = Host::new(settings_that_keep());
    let (tag, _) = host.tag("order");
    let ticket = host.wait(tag, 1);
    let (id, Call::UpdateMark(update)) = host.supply.next_call(host.clocks()).unwrap() else { panic!() };
    assert!(format!("{update:?}").contains("Take"));
    // The file was lost: a fetch follows, and no second look.
    host.supply.done(id, update.missing(), host.clocks());
    host.drive();
    assert!(host.collect(ticket).is_ok());
    assert_eq!(host.asked.len(), 1);
    let ticket = host.wait(tag, 20);
    let (_, call) = host.supply.next_call(host.clocks()).unwrap();
    assert!(matches!(call, Call::ReadMark(_)), "{call:?}");
    host.supply.cancel(ticket, host.clocks());
}

#[test]
fn a_write_that_ends_after_the_close_is_not_told() {
    let mut host = host(&["one"]);
    host.supply.close(host.clocks());
    let (id, call) = host.supply.next_call(host.clocks()).unwrap();
    host.now += Duration::from_secs(2);
    assert_eq!(closed(&mut host).len(), 2);
    host.carry_out(id, call);
    assert!(closed(&mut host).is_empty(), "it is closed once");
}

#[test]
fn who_found_the_buffer_empty_before_it_was_filled_gets_what_comes_first() {
    let mut host = host(&["order"]);
    let (tag, buffer) = host.tag("order");
    let (run, _) = buffer.take_many(3).unwrap();
    assert_eq!((run, buffer.take().unwrap().0), (Run { first: 2, stride: 1, count: 3 }, 5));
    host.next = 100;
    host.supply.wants_more(tag, host.clocks());
    host.drive();
    host.supply.put_back(tag, &[run], host.clocks());
    host.supply.close(host.clocks());
    host.drive();
    let mut next = Host { files: host.files, ..Host::new(settings_that_keep()) };
    let (tag, buffer) = next.tag("order");
    next.supply.wants_more(tag, next.clocks());
    next.drive();
    assert_eq!(next.supply.tag_stats(tag).unwrap().left, 3 + 5 + 10, "more than two segments");
    let ticket = next.wait(tag, 1);
    let got = next.collect(ticket).unwrap();
    assert_eq!((got[0], buffer.take().unwrap().0), (2, 3));
    let ticket = next.wait(tag, 7);
    assert_eq!(next.collect(ticket), Ok(vec![4, 6, 7, 8, 9, 10, 100]));
}

#[test]
fn ids_whose_removal_from_the_file_failed_are_not_issued() {
    let mut before = host(&["order"]);
    before.supply.close(before.clocks());
    before.drive();
    let mut host = Host { files: before.files, next: before.next, ..Host::new(settings_that_keep()) };
    let (tag, _) = host.tag("order");
    let ticket = host.wait(tag, 1);
    let (id, Call::UpdateMark(mut update)) = host.supply.next_call(host.clocks()).unwrap() else { panic!() };
    let bytes = host.files.iter().flatten().next().unwrap().1;
    let facts = FileFacts { id: (1, 2), changed_ms: host.clocks().wall_ms, now_ms: host.clocks().wall_ms };
    assert!(matches!(update.step(bytes, facts, "m"), FileStep::Write { .. }));
    let failure = SharedFailure::Io(FileAction::Write, IoFailure::other("as the test says"));
    host.supply.done(id, update.failed("m", &failure), host.clocks());
    host.drive();
    assert_eq!(host.collect(ticket), Ok(vec![11]), "the file may give those below to another process");
    assert_eq!(host.asked.len(), 1);
}
