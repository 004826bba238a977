//! A supply that holds its marks, as that of an id server: what its store is asked for, and what clients hear.

use super::{Host, settings};
use leafid_core::call::Level;
use leafid_core::supply::{Call, Collected, MarkStore, Notice, SupplySettings, TagId};
use leafid_core::{Code, Error, Fetched, IdOrder, Segment};
use std::time::Duration;

const STOPS: Duration = Duration::from_secs(7);

fn held() -> SupplySettings {
    let marks = MarkStore::Held { gives_back: Some(STOPS) };
    SupplySettings { marks, step: None, adaptive: true, ..settings() }
}

fn segment(start: i64, end: i64) -> Segment {
    Segment::new(start, end, 1).unwrap()
}

/// Has a tag fetched, and takes this many of its ids.
fn takes(host: &mut Host, tag: TagId, count: usize) -> Vec<i64> {
    let ticket = host.wait(tag, count);
    host.drive();
    host.collect(ticket).unwrap()
}

/// Answers the next call.
fn answer(host: &mut Host, start: i64, count: i64) {
    let Some((id, Call::Fetch(fetch))) = host.supply.next_call(host.clocks()) else { panic!() };
    let fetched = Fetched { segment: segment(start, start + count), step: Some(10) };
    host.supply.done(id, fetch.end(Ok(Some(fetched))), host.clocks());
}

fn logs(host: &Host) -> Vec<&str> {
    let log = |notice| if let &Notice::Log(Level::Warn, ref line) = notice { Some(&line[..]) } else { None };
    host.notices.iter().filter_map(log).collect()
}

#[test]
fn a_name_is_as_long_as_a_column_of_characters() {
    let mut host = Host::new(held());
    for (name, is_tag) in [("\u{8a02}".repeat(128), true), ("\u{8a02}".repeat(129), false)] {
        assert_eq!(host.supply.tag(&name).is_ok(), is_tag);
    }
}

#[test]
fn a_close_gives_back_the_ids_at_the_end_of_the_last_range() {
    let mut host = Host::new(held());
    let (order, user) = (host.tag("order").0, host.tag("user").0);
    assert_eq!(takes(&mut host, order, 1), [1]);
    takes(&mut host, user, 10);
    host.tag("never used");
    // Two ranges of it, with another one between them.
    host.next = 51;
    takes(&mut host, user, 3);
    host.supply.close(host.clocks());
    host.drive();
    assert_eq!(host.given_back, [("order".into(), segment(2, 11)), ("user".into(), segment(51, 71))]);
    assert_eq!(host.notices.last(), Some(&Notice::Closed(Ok(()))));
    let mut host = Host::new(SupplySettings { marks: MarkStore::Held { gives_back: None }, ..held() });
    let (order, _) = host.tag("order");
    takes(&mut host, order, 3);
    host.supply.close(host.clocks());
    host.drive();
    assert_eq!((host.given_back.len(), host.notices.last()), (0, Some(&Notice::Closed(Ok(())))));
}

#[test]
fn a_close_waits_for_the_store_as_long_as_it_is_given_and_says_what_failed() {
    for hangs in [true, false] {
        let mut host = Host::new(held());
        let (order, _) = host.tag("order");
        takes(&mut host, order, 3);
        host.notices.clear();
        host.supply.close(host.clocks());
        let (id, Call::GiveBack(back)) = host.supply.next_call(host.clocks()).unwrap() else { panic!() };
        let mut told = vec![Notice::Abandon(id)];
        let mut error = Error::new(Code::SegmentUnavailable, "the store is down");
        if hangs {
            host.now += STOPS - Duration::from_millis(1);
            host.drive();
            assert_eq!(
                (&host.notices[..], host.supply.next_time()),
                (&[][..], Some(host.now + Duration::from_millis(1)))
            );
            host.now += Duration::from_millis(1);
            let late = "the store did not answer in time; some unused ids are not given back";
            error = Error::new(Code::StateIo, late);
        } else {
            told.clear();
            host.supply.done(id, back.end(Err(error.clone())), host.clocks());
        }
        host.drive();
        told.push(Notice::Closed(Err(error)));
        assert_eq!(host.notices, told);
    }
}

#[test]
fn what_the_store_refuses_is_returned_at_once_and_names_that_anybody_makes_up_are_not_logged() {
    for code in [Code::InvalidArgument, Code::UnknownTag] {
        let mut host = Host::new(held());
        host.errors = vec![Error::new(code, "as the store says")];
        let (tag, _) = host.tag("made up");
        let ticket = host.wait(tag, 1);
        host.drive();
        assert_eq!(host.collect(ticket), Err(format!("{}: as the store says", code.name())));
        assert!(logs(&host).is_empty(), "{:?}", host.notices);
    }
    let mut host = Host::new(held());
    host.errors = vec![Error::new(Code::SegmentUnavailable, "it is down")];
    let (tag, _) = host.tag("order");
    let ticket = host.wait(tag, 1);
    host.drive();
    assert_eq!(logs(&host), ["no range of \"order\": segment_unavailable: it is down"]);
    assert_eq!(host.collect(ticket), Err("Waits".into()));
}

#[test]
fn each_tag_is_asked_for_by_itself_whatever_the_store_answers_to_others() {
    let mut host = Host::new(held());
    host.errors = vec![Error::new(Code::SegmentUnavailable, "it is down"); 100];
    let tags: Vec<TagId> = (0..100).map(|n| host.tag(&format!("secret{n}")).0).collect();
    let tickets: Vec<_> = tags.iter().map(|tag| host.wait(*tag, 1)).collect();
    let mut calls = Vec::new();
    while let Some(call) = host.supply.next_call(host.clocks()) {
        calls.push(call);
    }
    assert_eq!(calls.len(), 100, "beside each other");
    calls.into_iter().for_each(|(id, call)| host.carry_out(id, call));
    assert!(!host.supply.stats().is_down);
    host.now += Duration::from_millis(400);
    host.drive();
    assert_eq!(host.asked.len(), 200, "each after its own back-off");
    assert!(tickets.into_iter().all(|ticket| host.collect(ticket).is_ok()));
    // What a client hears names no option of the server's, and no other tag.
    host.errors = vec![Error::new(Code::SegmentUnavailable, "it is down"); 100];
    let ticket = host.wait(tags[0], 100);
    host.pass(Duration::from_secs(2));
    let message = "segment_unavailable: no id of \"secret0\" in time: it is down";
    assert_eq!(host.collect(ticket), Err(message.into()));
}

#[test]
fn the_row_has_its_own_step_until_more_is_needed_and_a_batch_comes_in_several_ranges() {
    let mut host = Host::new(held());
    let (tag, buffer) = host.tag("order");
    host.wait(tag, 5_000_000);
    let wanted = |host: &mut Host, start| {
        let Some((id, Call::Fetch(fetch))) = host.supply.next_call(host.clocks()) else { panic!() };
        let count = if fetch.step == 0 { 10 } else { fetch.step };
        let fetched = Fetched { segment: segment(start, start + count), step: Some(10) };
        let step = fetch.step;
        host.supply.done(id, fetch.end(Ok(Some(fetched))), host.clocks());
        step
    };
    assert_eq!([wanted(&mut host, 1), wanted(&mut host, 11)], [0, 1_000_000], "as the row has it at first");
    while host.supply.next_call(host.clocks()).is_some_and(|(id, call)| {
        host.carry_out(id, call);
        true
    }) {}
    assert!(buffer.take_many(1).is_err());
}

#[test]
fn who_wishes_for_no_id_waits_until_there_are_some_and_takes_none() {
    let mut host = Host::new(held());
    let (tag, buffer) = host.tag("order");
    let warms = [host.wait(tag, 0), host.wait(tag, 0)];
    let one = host.wait(tag, 1);
    assert_eq!(host.collect(warms[0]), Err("Waits".into()));
    host.drive();
    assert_eq!(warms.map(|ticket| host.collect(ticket)), [Ok(vec![]), Ok(vec![])]);
    assert_eq!(host.collect(one), Ok(vec![1]));
    assert_eq!((buffer.take_many(20).unwrap().0.first, host.asked.len()), (2, 1));
    host.errors = vec![Error::new(Code::UnknownTag, "no")];
    let (tag, _) = host.tag("made up");
    let warm = host.wait(tag, 0);
    host.drive();
    assert_eq!(host.collect(warm), Err("unknown_tag: no".into()));
}

#[test]
fn a_range_is_of_its_caller_and_one_that_is_refused_leaves_nothing() {
    let mut host = Host::new(held());
    let (tag, _) = host.tag("order");
    let take = |host: &mut Host| host.supply.take_range(tag, 10, 0, Duration::from_secs(2), host.clocks());
    let tickets = [take(&mut host), take(&mut host)];
    for ticket in tickets {
        let Some((id, Call::Fetch(fetch))) = host.supply.next_call(host.clocks()) else { panic!() };
        assert_eq!(fetch.ticket, Some(ticket));
        host.carry_out(id, Call::Fetch(fetch));
    }
    let ranges = tickets.map(|ticket| host.supply.collect(ticket));
    assert!(ranges.iter().all(|range| matches!(range, Collected::Range(_))), "{ranges:?}");
    let stats = host.supply.tag_stats(tag).unwrap();
    assert_eq!((stats.ranged, stats.left), (20, 0));
    // What the store gave before is logged for its operator too.
    host.next = 1;
    let ticket = take(&mut host);
    host.drive();
    assert!(host.collect(ticket).is_err_and(|error| error.starts_with("segment_regressed")));
    assert!(logs(&host)[0].starts_with("no range of \"order\": segment_regressed"), "{:?}", logs(&host));
    host.supply.close(host.clocks());
    host.drive();
    let late = take(&mut host);
    assert!(!host.supply.has_calls(host.clocks()));
    assert!(host.collect(late).is_err_and(|error| error.starts_with("closed")));
}

#[test]
fn a_tag_that_had_ids_is_not_forgotten_and_these_are_refused_in_any_order() {
    for (order, is_range) in [(IdOrder::Ascending, false), (IdOrder::Ranges, false), (IdOrder::Ranges, true)]
    {
        let mut host = Host::new(SupplySettings { order, ..held() });
        let (tag, _) = host.tag("order");
        let ticket = match is_range {
            true => host.supply.take_range(tag, 10, 0, Duration::from_secs(2), host.clocks()),
            false => host.wait(tag, 10),
        };
        assert!(host.step());
        assert!(!matches!(host.supply.collect(ticket), Collected::Waits | Collected::Failed { .. }));
        // Its row is gone for a while.
        host.errors = vec![Error::new(Code::UnknownTag, "no")];
        let ticket = host.wait(tag, 1);
        host.drive();
        assert_eq!(host.collect(ticket), Err("unknown_tag: no".into()));
        host.supply.forget(tag);
        assert_eq!(host.tag("order").0, tag);
        host.next = 1;
        host.now += Duration::from_millis(400);
        let ticket = host.wait(tag, 1);
        assert!(host.step());
        assert_eq!(host.collect(ticket), Err("Waits".into()));
        let outcomes = host.supply.tag_stats(tag).unwrap().outcomes;
        assert!(outcomes.contains(&("segment_regressed", 1)), "{outcomes:?}");
    }
}

#[test]
fn a_name_goes_with_its_last_caller_and_stays_once_its_row_was_seen_whoever_has_gone() {
    let mut host = Host::new(held());
    let (tag, _) = host.tag("order");
    let (one, other) = (host.wait(tag, 1), host.wait(tag, 1));
    let (id, call) = host.supply.next_call(host.clocks()).unwrap();
    for ticket in [one, other] {
        host.supply.cancel(ticket, host.clocks());
        host.supply.forget(tag);
    }
    assert_eq!(host.supply.tags().count(), 1, "the store is asked");
    host.carry_out(id, call);
    let ticket = host.wait(tag, 1);
    assert_eq!(host.collect(ticket), Ok(vec![1]), "although no caller waited when it came");
    // A store that is away says nothing of a name.
    host.errors = vec![Error::new(Code::SegmentUnavailable, "it is down")];
    let (tag, _) = host.tag("made up");
    let ticket = host.wait(tag, 1);
    host.drive();
    host.supply.cancel(ticket, host.clocks());
    host.supply.forget(tag);
    assert_eq!((host.supply.tags().count(), host.supply.next_time()), (1, None));
}

#[test]
fn a_tag_says_where_its_ranges_began_and_how_long_the_last_fetch_took() {
    let mut host = Host::new(held());
    let (tag, buffer) = host.tag("order");
    let ticket = host.wait(tag, 3);
    let Some((id, Call::Fetch(fetch))) = host.supply.next_call(host.clocks()) else { panic!() };
    host.now += Duration::from_millis(70);
    let fetched = Fetched { segment: segment(1, 11), step: Some(10) };
    host.supply.done(id, fetch.end(Ok(Some(fetched))), host.clocks());
    assert_eq!(host.collect(ticket), Ok(vec![1, 2, 3]));
    let stats = host.supply.tag_stats(tag).unwrap();
    assert_eq!((stats.starts, stats.last_fetch), (vec![1], Some(Duration::from_millis(70))));
    buffer.take_many(2).unwrap();
    host.supply.wants_more(tag, host.clocks());
    answer(&mut host, 100, 10);
    let stats = host.supply.tag_stats(tag).unwrap();
    assert_eq!(
        (stats.starts, stats.current, stats.next),
        (vec![1, 100], Some(segment(6, 11)), Some(segment(100, 110)))
    );
    buffer.take_many(20).unwrap();
    let stats = host.supply.tag_stats(tag).unwrap();
    assert_eq!((stats.starts, stats.last_fetch), (vec![100], Some(Duration::ZERO)));
}
