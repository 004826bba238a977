//! Unused tags: what is reported of them, and when nothing of them is left.

use super::{Host, settings};
use leafid_core::supply::{Call, MarkStore, SupplySettings, TagId, Wish};
use leafid_core::{Code, Error};
use std::time::Duration;

fn unknown() -> Error {
    Error::new(Code::UnknownTag, "no")
}

fn down() -> Error {
    Error::new(Code::SegmentUnavailable, "the fetch of a segment failed: down")
}

fn names(host: &Host) -> Vec<String> {
    host.supply.tags().map(|(name, _)| name.to_owned()).collect()
}

fn held() -> Host {
    Host::new(SupplySettings { marks: MarkStore::Held { gives_back: None }, step: None, ..settings() })
}

#[test]
fn a_caller_that_has_not_collected_yet_hears_why_it_got_nothing() {
    let mut host = Host::new(settings());
    let (tag, _) = host.tag("nothing");
    host.errors = vec![unknown()];
    let tickets = [host.wait(tag, 1), host.wait(tag, 1)];
    host.drive();
    assert_eq!(host.collect(tickets[0]), Err("unknown_tag: no".into()));
    host.supply.forget(tag);
    assert_eq!(names(&host), ["nothing"], "one has not collected");
    assert_eq!(host.collect(tickets[1]), Err("unknown_tag: no".into()));
    assert!(names(&host).is_empty());
}

#[test]
fn who_waits_for_a_forgotten_tag_hears_that_it_was() {
    let mut host = held();
    let (tag, _) = host.tag("order");
    host.supply.forget(tag);
    let range = host.supply.take_range(tag, 1, 0, Duration::from_secs(2), host.clocks());
    for ticket in [host.wait(tag, 1), range] {
        assert_eq!(host.collect(ticket), Err("closed: the tag was forgotten meanwhile; get it again".into()));
    }
}

#[test]
fn a_tag_that_is_busy_when_it_is_forgotten_goes_once_it_rests() {
    let mut host = Host::new(settings());
    let (tag, buffer) = host.tag("nothing");
    host.errors = vec![unknown()];
    let ticket = host.wait(tag, 1);
    assert!(host.step());
    let (id, call) = host.supply.next_call(host.clocks()).unwrap();
    host.supply.cancel(ticket, host.clocks());
    host.supply.forget(tag);
    assert_eq!(names(&host), ["nothing"], "its source is asked");
    host.carry_out(id, call);
    assert!(names(&host).is_empty() && buffer.take().is_err());
    assert!(host.supply.next_time().is_none() && !host.supply.has_calls(host.clocks()));
}

#[test]
fn a_tag_whose_turn_has_not_come_goes_with_its_last_caller() {
    let mut host = Host::new(settings());
    host.errors = vec![down(); 3];
    let wish = Wish { count: 1, timeout: Duration::from_secs(600), ..Wish::default() };
    let mut tags = Vec::new();
    for n in 0..50 {
        let tag = host.tag(&format!("t{n}")).0;
        let ticket = host.supply.wait(tag, wish.clone(), host.clocks());
        tags.push((tag, ticket));
    }
    while host.asked.len() < 3 {
        assert!(host.step());
    }
    assert!(host.supply.stats().is_down);
    for (at, (tag, ticket)) in tags.into_iter().enumerate() {
        match at % 2 {
            0 => host.supply.forget(tag),
            _ => host.supply.cancel(ticket, host.clocks()),
        }
        match at % 2 {
            0 => host.supply.cancel(ticket, host.clocks()),
            _ => host.supply.forget(tag),
        }
    }
    // Reads of marks may be under way.
    host.drive();
    assert!(names(&host).is_empty(), "{:?}", names(&host));
    assert_eq!(host.supply.stats().queued, 0);
}

#[test]
fn a_tag_that_is_asked_for_again_stays() {
    let mut host = Host::new(settings());
    let (tag, _) = host.tag("order");
    host.errors = vec![unknown()];
    let ticket = host.wait(tag, 1);
    host.supply.forget(tag);
    assert_eq!(host.tag("order").0, tag);
    host.drive();
    assert!(host.collect(ticket).is_err());
    assert_eq!(names(&host), ["order"]);
}

#[test]
fn names_that_a_leaf_has_no_ids_for_fill_no_memory() {
    let mut host = super::served::leaf();
    // All that it answers is wrong.
    let drive = |host: &mut Host| {
        while let Some((id, call)) = host.supply.next_call(host.clocks()) {
            match call {
                Call::Http(call) => super::served::answer(host, (id, *call), 3, "<html>"),
                call => host.carry_out(id, call),
            }
        }
        while host.supply.next_notice(host.clocks()).is_some() {}
    };
    let ask = |host: &mut Host, at: usize| {
        let tag: TagId = host.tag(&format!("name{at}")).0;
        let ticket = host.wait(tag, 1);
        for _ in 0..3 {
            drive(host);
            host.now += Duration::from_millis(500);
        }
        host.supply.cancel(ticket, host.clocks());
        host.supply.forget(tag);
        drive(host);
        host.now += Duration::from_secs(60);
        drive(host);
        assert!(names(host).is_empty(), "{:?}", names(host));
        format!("{:?}", host.supply).len()
    };
    let sizes: Vec<usize> = (0..40).map(|at| ask(&mut host, at)).collect();
    assert!(sizes[39] < sizes[20] + 200, "{sizes:?}");
}
