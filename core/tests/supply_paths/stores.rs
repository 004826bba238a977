//! Where the marks are: an update of a mark ends in the store that it is for, and in no other.

use super::{Host, settings};
use leafid_core::IdOrder;
use leafid_core::supply::memory_mark::MemoryMark;
use leafid_core::supply::{Call, MarkStore, SupplySettings};
use std::time::Duration;

#[test]
fn ids_whose_mark_is_for_a_file_are_not_issued_if_it_is_in_memory_alone() {
    let mut host = Host::new(SupplySettings { marks: MarkStore::Files, ..settings() });
    let (tag, buffer) = host.tag("order");
    let ticket = host.wait(tag, 1);
    assert!(host.step() && host.step());
    let (id, Call::UpdateMark(update)) = host.supply.next_call(host.clocks()).unwrap() else { panic!() };
    let mut memory = MemoryMark::new(IdOrder::Ascending);
    host.supply.done(id, update.end_in_memory(&mut memory), host.clocks());
    assert_eq!((host.collect(ticket), memory.mark()), (Err("Waits".into()), 0));
    assert!(buffer.take().is_err());
    let error = host.supply.tag_stats(tag).unwrap().last_error.unwrap();
    assert_eq!(error.code().name(), "internal");
}

#[test]
fn a_mark_is_read_where_it_is() {
    for (marks, ends_in_memory) in [(MarkStore::Files, true), (MarkStore::Memory, false)] {
        let mut host = Host::new(SupplySettings { marks, ..settings() });
        let (tag, _) = host.tag("order");
        host.wait(tag, 1);
        let (id, Call::ReadMark(read)) = host.supply.next_call(host.clocks()).unwrap() else { panic!() };
        let end = if ends_in_memory { read.end_in_memory(None) } else { read.end(None, "m") };
        host.supply.done(id, end, host.clocks());
        let error = host.supply.tag_stats(tag).unwrap().last_error.unwrap();
        assert_eq!((error.code().name(), host.asked.len()), ("internal", 0));
    }
}

#[test]
fn an_update_in_memory_has_no_steps_for_a_file() {
    let mut host = Host::new(settings());
    host.files = Some(Default::default());
    let (tag, buffer) = host.tag("order");
    let ticket = host.wait(tag, 1);
    let (id, Call::ReadMark(read)) = host.supply.next_call(host.clocks()).unwrap() else { panic!() };
    host.supply.done(id, read.end_in_memory(None), host.clocks());
    assert!(host.step() && host.step());
    assert_eq!(host.collect(ticket), Err("Waits".into()));
    assert!(buffer.take().is_err());
    host.pass(Duration::from_millis(1));
    assert_eq!(host.supply.tag_stats(tag).unwrap().last_error.unwrap().code().name(), "internal");
}
