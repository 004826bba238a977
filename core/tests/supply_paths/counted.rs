//! Counters in a directory that processes share: which steps the host carries out, and what a fetch gets.

use super::{Host, settings};
use leafid_core::format::counter::Marker;
use leafid_core::format::{shared, two_slots};
use leafid_core::supply::counter_update::{
    CounterDirectory, CounterInput, CounterStep, CounterUpdate, CounterUpdated, MARKER, NamedCounter,
};
use leafid_core::supply::{Call, Source, SupplySettings};
use std::collections::BTreeMap;
use std::sync::Arc;

type Files = BTreeMap<String, Vec<u8>>;

fn host() -> (Host, Files) {
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
    let (mut host, mut files) = host();
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
    let (mut host, mut files) = host();
    let (tag, _) = host.tag("user");
    let ticket = host.wait(tag, 1);
    drive(&mut host, &mut files);
    let error = host.collect(ticket).unwrap_err();
    assert!(error.starts_with("unknown_tag: /c has no counter of the tag \"user\"; it has none"), "{error}");
}
