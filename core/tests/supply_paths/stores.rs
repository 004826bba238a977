//! Where marks, unused ids and counters are: an update of a mark ends in the store that it is for, unused ids are stored by a
//! close for a bounded time and issued after the next start, and of a directory of counters the host carries out each step.

use super::{Host, settings};
use leafid_core::format::counter::Marker;
use leafid_core::format::unused::MachineStart;
use leafid_core::format::{shared, two_slots};
use leafid_core::supply::counter_update::{
    CounterDirectory, CounterInput, CounterStep, CounterUpdate, CounterUpdated, MARKER, NamedCounter,
};
use leafid_core::supply::memory_mark::MemoryMark;
use leafid_core::supply::{Call, MarkStore, Source, SupplySettings};
use leafid_core::{IdOrder, Run};
use std::collections::BTreeMap;
use std::sync::Arc;
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

type Files = BTreeMap<String, Vec<u8>>;

fn counting_host() -> (Host, Files) {
    let (id, created) = ("d1".to_owned(), "2026-01-01".to_owned());
    let marker = Marker { id: id.clone(), created: created.clone(), counters: 0 };
    let marker = two_slots::new_file(|number| shared::seal(number, &marker)).unwrap();
    let directory = CounterDirectory { path: "/c".into(), name: "file:/c".into(), id, created };
    let named = NamedCounter { start: 50, step: 5, told: false };
    let source = Source::File { directory: Arc::new(directory), tags: vec![("order".into(), named)] };
    let source_name = source.name().to_owned();
    assert_eq!(source_name, "file:/c");
    let settings = SupplySettings { source, source_name, step: None, ..settings() };
    (Host::new(settings), Files::from([(MARKER.to_owned(), marker.to_vec())]))
}

fn carry_out(files: &mut Files, mut update: CounterUpdate) -> CounterUpdated {
    let mut step = update.step(CounterInput::Begin, "/c");
    loop {
        step = match step {
            CounterStep::Done => return update.end(),
            CounterStep::Peek(name) => {
                update.step(CounterInput::Read(files.get(&name).map(|bytes| &bytes[..])), &name)
            }
            CounterStep::Open(name, new) => {
                if let Some(new) = new {
                    files.entry(name.clone()).or_insert(new.to_vec());
                }
                update.step(CounterInput::Read(files.get(&name).map(|bytes| &bytes[..])), &name)
            }
            CounterStep::List => {
                let names: Vec<String> = files.keys().cloned().collect();
                update.step(CounterInput::Names(&names), "/c")
            }
            CounterStep::Write { name, offset, bytes, .. } => {
                let file = files.get_mut(&name).unwrap();
                file[offset..offset + bytes.len()].copy_from_slice(&bytes[..]);
                update.step(CounterInput::Read(Some(&file[..])), &name)
            }
        };
    }
}

/// Carries out all calls. Returns the updates of counters, as text.
fn drive(host: &mut Host, files: &mut Files) -> Vec<String> {
    let mut updates = Vec::new();
    while let Some((id, call)) = host.supply.next_call(host.clocks()) {
        match call {
            Call::UpdateCounter(update) => {
                updates.push(format!("{update:?}"));
                let end = carry_out(files, *update);
                host.supply.done(id, end, host.clocks());
            }
            call => host.carry_out(id, call),
        }
    }
    updates
}

#[test]
fn a_named_counter_is_made_by_its_first_fetch_and_its_step_is_written_once() {
    let (mut host, mut files) = counting_host();
    let (tag, buffer) = host.tag("order");
    let ticket = host.wait(tag, 1);
    let first = drive(&mut host, &mut files);
    assert!(first.len() == 1 && first[0].contains("told: false"), "{first:?}");
    assert_eq!(host.collect(ticket), Ok(vec![50]));
    assert_eq!(buffer.take_many(9).unwrap().0.count, 4, "the step of the counter");
    let ticket = host.wait(tag, 1);
    let second = drive(&mut host, &mut files);
    assert!(second[0].contains("told: true"), "{second:?}");
    assert_eq!(host.collect(ticket), Ok(vec![55]));
}

#[test]
fn a_tag_without_a_counter_is_unknown() {
    let (mut host, mut files) = counting_host();
    let (tag, _) = host.tag("user");
    let ticket = host.wait(tag, 1);
    drive(&mut host, &mut files);
    let error = host.collect(ticket).unwrap_err();
    assert!(error.starts_with("unknown_tag: /c has no counter of the tag \"user\"; it has none"), "{error}");
}
