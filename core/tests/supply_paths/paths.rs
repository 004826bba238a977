//! A fetch, from the wish to the ids.

use super::{Host, settings};
use leafid_core::supply::{Call, Notice, Prewarm, SupplySettings, Wish};
use std::time::Duration;

#[test]
fn a_caller_gets_the_ids_once_the_mark_above_them_is_durable() {
    let mut host = Host::new(settings());
    let (tag, buffer) = host.tag("order");
    let ticket = host.wait(tag, 3);
    for expected in ["ReadMark", "Fetch", "UpdateMark"] {
        assert!(buffer.take().is_err() && host.collect(ticket) == Err("Waits".into()), "{expected}");
        let (id, call) = host.supply.next_call(host.clocks()).unwrap();
        assert!(format!("{call:?}").starts_with(expected), "{call:?}");
        assert!(host.supply.next_call(host.clocks()).is_none(), "one call of a tag at a time");
        host.carry_out(id, call);
    }
    host.drive();
    assert_eq!(host.notices, [Notice::Wake(ticket)]);
    assert_eq!(host.collect(ticket), Ok(vec![1, 2, 3]));
    assert_eq!(buffer.take(), Ok((4, false)), "the rest is in the buffer");
}

#[test]
fn an_end_of_another_call_and_a_second_end_have_no_effect() {
    let mut host = Host::new(settings());
    let (one, other) = (host.tag("one").0, host.tag("other").0);
    let tickets = [host.wait(one, 1), host.wait(other, 1)];
    let (of_one, Call::ReadMark(read_one)) = host.supply.next_call(host.clocks()).unwrap() else { panic!() };
    let (of_other, Call::ReadMark(read_other)) = host.supply.next_call(host.clocks()).unwrap() else {
        panic!()
    };
    let (end_one, end_other) = (read_one.end_in_memory(None), read_other.end_in_memory(None));
    host.supply.done(of_one, end_other.clone(), host.clocks());
    assert!(!host.supply.has_calls(host.clocks()), "it is of another call");
    for (id, end) in [(of_one, end_one), (of_other, end_other)] {
        host.supply.done(id, end.clone(), host.clocks());
        host.supply.done(id, end, host.clocks());
    }
    host.drive();
    assert_eq!(host.asked.len(), 2);
    assert_eq!(tickets.map(|ticket| host.collect(ticket).unwrap().len()), [1, 1]);
}

#[test]
fn the_source_is_told_what_was_given_before() {
    let mut host = Host::new(settings());
    let (tag, _) = host.tag("order");
    let tickets = [host.wait(tag, 10), host.wait(tag, 10)];
    host.most = 10;
    host.drive();
    assert!(tickets.into_iter().all(|ticket| host.collect(ticket).is_ok()));
    assert_eq!(host.asked[..2], [("order".to_owned(), 20, 0), ("order".to_owned(), 10, 11)]);
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

#[test]
fn with_a_prefetch_of_100_only_who_needs_ids_has_them_fetched() {
    for (prefetch, ahead) in [(99, 1), (100, 0)] {
        let prewarm = Prewarm::Tags(vec!["order".into()]);
        let mut host = Host::new(SupplySettings { step: Some(200), prefetch, prewarm, ..settings() });
        let (tag, buffer) = host.tag("order");
        host.drive();
        assert_eq!(
            (buffer.take_many(200).unwrap().0.count, host.asked.len()),
            (200, 1),
            "before the first use"
        );
        let ticket = host.wait(tag, 200);
        host.drive();
        assert_eq!((host.collect(ticket).unwrap().len(), host.asked.len()), (200, 2 + ahead));
        // Who cannot wait comes back.
        buffer.take_many(200).ok();
        let wish = Wish { count: 200, blocks_at_most: Some(Duration::ZERO), ..Wish::default() };
        let ticket = host.supply.wait(tag, wish, host.clocks());
        assert!(host.collect(ticket).is_err());
        host.drive();
        assert_eq!((buffer.take_many(200).unwrap().0.count, host.asked.len()), (200, 3 + ahead));
    }
}
