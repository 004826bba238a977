//! The table of states at the head of the machine: it names the states that the code has, and every way that a fetch
//! goes is in it; and when the next fetch is asked for.

use super::{Host, settings};
use leafid_core::supply::{Call, FetchStage, MarkStore, SupplySettings, TagId};
use leafid_core::{Code, Error};
use std::collections::BTreeSet;
use std::time::Duration;

const HEAD: &str = include_str!("../../src/supply/supply.rs");

/// The names in backticks that are states.
fn states(text: &str) -> Vec<FetchStage> {
    let names = text.split('`').skip(1).step_by(2);
    names.filter_map(|name| FetchStage::ALL.into_iter().find(|stage| format!("{stage:?}") == name)).collect()
}

/// Each row as its state and those that may come next.
fn rows() -> Vec<(FetchStage, Vec<FetchStage>)> {
    let rows = HEAD.lines().filter_map(|line| line.strip_prefix("//! | `"));
    rows.map(|row| {
        let cells: Vec<&str> = row.split(" | ").collect();
        let state = states(&format!("`{}", cells[0]));
        (state[0], states(cells[2]))
    })
    .collect()
}

#[test]
fn the_table_names_all_states() {
    let named: BTreeSet<String> = rows().iter().map(|(state, _)| format!("{state:?}")).collect();
    assert_eq!(named, FetchStage::ALL.iter().map(|stage| format!("{stage:?}")).collect());
    assert!(rows().iter().all(|(_, next)| !next.is_empty()));
}

/// The ways of a tag through its states while the host carries out calls, some of which fail.
fn ways(settings: SupplySettings) -> BTreeSet<String> {
    let mut host = Host::new(settings);
    let (tag, _) = host.tag("order");
    let mut ways = BTreeSet::new();
    let mut before = FetchStage::Rests;
    let mut look = |host: &Host, ways: &mut BTreeSet<String>, tag: TagId| {
        let stage = host.supply.tag_stats(tag).unwrap().stage;
        // A fetch that is over may be wanted again at once.
        let rests = (stage == FetchStage::Queues && before != FetchStage::Rests).then_some(FetchStage::Rests);
        for next in rests.into_iter().chain([stage]) {
            if next != before {
                ways.insert(format!("{before:?} {next:?}"));
            }
            before = next;
        }
    };
    for turn in 0..60 {
        host.wait(tag, 3);
        look(&host, &mut ways, tag);
        while let Some((id, call)) = host.supply.next_call(host.clocks()) {
            look(&host, &mut ways, tag);
            if matches!(call, Call::Fetch(_)) && turn % 3 == 1 {
                host.errors.push(Error::new(Code::SegmentUnavailable, "down"));
            }
            match call {
                Call::ReadMark(read) if turn % 5 == 2 => {
                    let end = read.refused(Error::new(Code::StateIo, "no"));
                    host.supply.done(id, end, host.clocks());
                }
                Call::UpdateMark(update) if turn % 7 == 3 => {
                    let end = update.refused(Error::new(Code::StateIo, "no"));
                    host.supply.done(id, end, host.clocks());
                }
                call => host.carry_out(id, call),
            }
            look(&host, &mut ways, tag);
        }
        host.now += Duration::from_millis(700);
    }
    ways
}

#[test]
fn each_way_of_a_fetch_is_in_the_table() {
    let mut known: BTreeSet<String> = BTreeSet::new();
    for (state, next) in rows() {
        known.extend(next.iter().map(|next| format!("{state:?} {next:?}")));
        // Any error.
        known.insert(format!("{state:?} Rests"));
    }
    let held = SupplySettings { marks: MarkStore::Held { gives_back: None }, ..settings() };
    let kept = super::stores::settings_that_keep();
    let went: BTreeSet<String> = [settings(), held, kept].into_iter().flat_map(ways).collect();
    let unknown: Vec<&String> = went.difference(&known).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    let seen = ["Rests Queues", "Queues ReadsMark", "ReadsMark Asks", "Asks Marks", "Queues TakesUnused"];
    for way in seen {
        assert!(went.contains(way), "{way} was not gone: {went:?}");
    }
}

/// As a user sees it who takes one id after another: the first ones, `waits`, find the buffer empty.
#[test]
fn the_next_fetch_is_asked_for_during_the_take_of_the_vectors() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/vectors/prefetch.json");
    let vectors: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    for case in vectors["cases"].as_array().unwrap() {
        let (length, nth) = (case["length"].as_i64().unwrap(), case["nth"].as_u64().unwrap() as usize);
        for waits in [1, 2, nth - 1, nth] {
            let mut host = Host::new(SupplySettings { step: Some(length), ..settings() });
            let (tag, buffer) = host.tag("order");
            let ticket = host.wait(tag, waits);
            host.drive();
            let mut taken = host.collect(ticket).unwrap();
            while taken.len() < nth && taken.len() < length as usize {
                assert_eq!(host.asked.len(), 1, "{case}: {} of {waits} waited", taken.len());
                let (id, wants_fetch) = buffer.take().unwrap();
                taken.push(id);
                if wants_fetch {
                    host.supply.wants_more(tag, host.clocks());
                }
                host.drive();
            }
            if (taken.len() as i64) < nth as i64 {
                assert_eq!(host.asked.len(), 1, "{case}: it is short");
                host.wait(tag, 1);
                host.drive();
            }
            assert!(host.asked.len() >= 2, "{case}: {waits} waited");
        }
    }
}
