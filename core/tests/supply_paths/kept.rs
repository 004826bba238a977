//! Unused ids: stored by a close, for a bounded time, and issued after the next start.

use super::{Host, settings};
use leafid_core::Run;
use leafid_core::format::unused::MachineStart;
use leafid_core::supply::{Call, MarkStore, SupplySettings};

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
