//! What a supply keeps: bytes of a tag, tags that are forgotten, and marks that it holds itself.

use super::{Host, settings};
use leafid_core::supply::{Call, Collected, MarkStore, Prewarm, SupplySettings};
use leafid_core::{Code, Fetched, Segment};
use std::time::Duration;

fn held() -> SupplySettings {
    SupplySettings { marks: MarkStore::Held { gives_back: None }, step: None, ..settings() }
}

#[test]
fn where_the_supply_holds_the_marks_no_mark_is_read_or_written_and_none_is_forgotten() {
    let mut host = Host::new(held());
    let (tag, buffer) = host.tag("order");
    host.most = 5;
    host.next = 100;
    // No caller waits, and the name may be made up.
    host.supply.wants_more(tag, host.clocks());
    assert!(!host.step());
    let ticket = host.wait(tag, 2);
    assert!(host.step() && host.asked[0] == ("order".into(), 0, 0));
    assert_eq!(host.collect(ticket), Ok(vec![100, 101]));
    host.supply.forget(tag);
    assert_eq!(buffer.take_many(9).map(|(run, _)| run.count), Ok(3), "its ids stay");
    host.next = 50;
    let ticket = host.wait(tag, 1);
    host.pass(Duration::from_secs(2));
    let error = host.collect(ticket).unwrap_err();
    assert!(error.contains("below the highest end seen"), "{error}");
}

#[test]
fn a_store_that_lost_data_is_not_raised_by_the_mark_that_the_supply_holds() {
    let mut host = Host::new(held());
    let (tag, _) = host.tag("order");
    host.next = 1_000;
    let ticket = host.wait(tag, 10);
    host.drive();
    assert!(host.collect(ticket).is_ok());
    host.next = 5;
    let ticket = host.wait(tag, 20);
    host.pass(Duration::from_secs(2));
    let error = host.collect(ticket).unwrap_err();
    assert!(error.contains("below the highest end seen"), "{error}");
    assert!(host.asked.iter().all(|(_, _, after)| *after == 0), "{:?}", host.asked);
    // Only a client's own bound goes to the store.
    host.supply.take_range(tag, 10, 40, Duration::from_secs(2), host.clocks());
    host.drive();
    assert_eq!(host.asked.last().unwrap().2, 40);
}

#[test]
fn ranges_of_one_tag_run_beside_each_other_and_none_is_given_twice() {
    let mut host = Host::new(held());
    let (tag, _) = host.tag("order");
    let take = |host: &mut Host| host.supply.take_range(tag, 10, 0, Duration::from_secs(2), host.clocks());
    let tickets = [take(&mut host), take(&mut host), take(&mut host), take(&mut host)];
    let calls: Vec<_> = (0..4).map(|_| host.supply.next_call(host.clocks()).unwrap()).collect();
    let mut gives = [(11, 21), (1, 11), (11, 21), (31, 41)].into_iter();
    host.supply.cancel(tickets[3], host.clocks());
    for (id, call) in calls {
        let Call::Fetch(fetch) = call else { panic!("{call:?}") };
        let (start, end) = gives.next().unwrap();
        let fetched = Fetched { segment: Segment::new(start, end, 1).unwrap(), step: None };
        host.supply.done(id, fetch.end(Ok(Some(fetched))), host.clocks());
    }
    let ends = tickets.map(|ticket| match host.supply.collect(ticket) {
        Collected::Range(range) => Ok(range.segment.start()),
        Collected::Failed { error, .. } => Err(error.code()),
        other => panic!("{other:?}"),
    });
    assert_eq!(ends, [Ok(11), Ok(1), Err(Code::SegmentRegressed), Err(Code::Internal)]);
    let late = take(&mut host);
    host.supply.next_call(host.clocks()).unwrap();
    host.pass(Duration::from_secs(2));
    let error = host.collect(late).unwrap_err();
    assert_eq!(error, "segment_unavailable: no id of \"order\" in time: the store has not answered yet");

    let mut host = Host::new(settings());
    let (tag, _) = host.tag("order");
    let ticket = host.supply.take_range(tag, 10, 0, Duration::from_secs(2), host.clocks());
    assert!(host.collect(ticket).is_err_and(|error| error.starts_with("invalid_argument")));
    assert!(!host.step());
}

#[test]
fn named_tags_are_fetched_ahead_eight_at_a_time() {
    let names: Vec<String> = (0..20).map(|n| format!("t{n:02}")).collect();
    let mut host = Host::new(SupplySettings { prewarm: Prewarm::Tags(names.clone()), ..settings() });
    assert!(host.supply.has_calls(host.clocks()));
    assert!(host.step());
    assert_eq!(host.supply.tags().count(), 8);
    host.drive();
    let asked: Vec<&String> = host.asked.iter().map(|(tag, ..)| tag).collect();
    assert_eq!(asked, names.iter().collect::<Vec<_>>());
}

#[test]
fn a_clone_has_the_same_ids_in_another_buffer() {
    let mut host = Host::new(settings());
    let (tag, buffer) = host.tag("order");
    let ticket = host.wait(tag, 1);
    host.drive();
    assert!(host.collect(ticket).is_ok());
    let copy = host.supply.clone();
    assert!(copy == host.supply);
    let taken = buffer.take_many(3).unwrap();
    assert!(copy != host.supply);
    assert_eq!(copy.buffer(tag).unwrap().take_many(3).unwrap(), taken);
    assert!(copy == host.supply);
}
