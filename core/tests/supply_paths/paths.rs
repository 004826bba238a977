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

#[test]
fn with_a_prefetch_of_100_only_who_needs_ids_has_them_fetched() {
    for (prefetch, ahead) in [(99, 1), (100, 0)] {
        let prewarm = Prewarm::Tags(vec!["order".into()]);
        let mut host = Host::new(SupplySettings { step: Some(2), prefetch, prewarm, ..settings() });
        let (tag, buffer) = host.tag("order");
        host.drive();
        assert_eq!((buffer.take_many(2).unwrap().0.count, host.asked.len()), (2, 1), "before the first use");
        let ticket = host.wait(tag, 2);
        host.drive();
        assert_eq!((host.collect(ticket), host.asked.len()), (Ok(vec![3, 4]), 2 + ahead));
        // Who cannot wait comes back.
        buffer.take_many(2).ok();
        let wish = Wish { count: 2, blocks_at_most: Some(Duration::ZERO), ..Wish::default() };
        let ticket = host.supply.wait(tag, wish, host.clocks());
        assert!(host.collect(ticket).is_err());
        host.drive();
        assert_eq!((buffer.take_many(2).unwrap().0.count, host.asked.len()), (2, 3 + ahead));
    }
}
