//! How callers wait, and how their waits end.

use super::{Host, ids, settings};
use leafid_core::supply::{Collected, Notice, SupplySettings, Wish};
use leafid_core::{Code, Error};
use std::collections::BTreeSet;
use std::time::Duration;

fn down() -> Error {
    Error::new(Code::SegmentUnavailable, "the fetch of a segment failed: down")
}

#[test]
fn a_caller_whose_time_is_over_hears_of_the_last_error_and_its_ids_go_to_the_next() {
    let mut host = Host::new(settings());
    let (tag, buffer) = host.tag("order");
    host.wait(tag, 1);
    host.drive();
    let (had, _) = buffer.take_many(4).unwrap();
    buffer.take_many(100).unwrap();
    host.errors = vec![down(); 100];
    let wish = Wish { count: 2, had: vec![had], timeout: Duration::from_secs(2), ..Wish::default() };
    let ticket = host.supply.wait(tag, wish, host.clocks());
    host.pass(Duration::from_millis(1_999));
    assert!(matches!(host.supply.collect(ticket), Collected::Waits));
    host.pass(Duration::from_millis(1));
    let Collected::Failed { error, by } = host.supply.collect(ticket) else { panic!() };
    let message = "no id of the tag \"order\" within 2000 ms: the fetch of a segment failed: down";
    assert_eq!((error.message(), by.is_some()), (message, true));
    let next = host.wait(tag, 4);
    assert_eq!(host.collect(next), Ok(ids(&[had])));
    let logs = host.notices.iter().filter(|notice| matches!(notice, Notice::Log(..))).count();
    assert_eq!(logs, 1, "{:?}", host.notices);
}

#[test]
fn an_unknown_tag_is_told_at_once_and_asked_for_again_only_for_a_caller() {
    let mut host = Host::new(settings());
    let (tag, _) = host.tag("nothing");
    let unknown = Error::new(Code::UnknownTag, "no");
    host.errors = vec![unknown.clone(), unknown];
    let ticket = host.wait(tag, 1);
    host.drive();
    assert_eq!(host.collect(ticket), Err("unknown_tag: no".into()));
    host.pass(Duration::from_secs(60));
    assert_eq!((host.asked.len(), host.supply.next_time()), (1, None));
    let tickets = [host.wait(tag, 1), host.wait(tag, 1)];
    host.drive();
    assert_eq!(
        tickets.map(|ticket| host.collect(ticket)),
        [Err("unknown_tag: no".into()), Err("unknown_tag: no".into())]
    );
    assert_eq!(host.asked.len(), 2);
}

#[test]
fn who_has_gone_gets_nothing_and_its_ids_go_to_the_next() {
    let mut host = Host::new(SupplySettings { prefetch: 100, ..settings() });
    let (tag, buffer) = host.tag("order");
    let (gone, stays) = (host.wait(tag, 3), host.wait(tag, 2));
    host.drive();
    host.supply.cancel(gone, host.clocks());
    assert_eq!(host.collect(stays), Ok(vec![4, 5]), "it had its ids before");
    assert_eq!(buffer.take().unwrap().0, 6);
    let next = host.wait(tag, 7);
    assert_eq!(host.collect(next), Ok(vec![7, 8, 9, 10, 1, 2, 3]));
    host.supply.cancel(gone, host.clocks());
    assert!(host.collect(gone).is_err_and(|error| error.starts_with("internal")));
}

#[test]
fn who_wants_no_ids_hears_once_there_are_some_and_leaves_them() {
    let mut host = Host::new(settings());
    let (tag, buffer) = host.tag("order");
    let ticket = host.wait(tag, 0);
    assert_eq!(host.collect(ticket), Err("Waits".into()));
    host.drive();
    assert_eq!(host.collect(ticket), Ok(Vec::new()));
    assert_eq!(buffer.take().unwrap().0, 1);
    let at_hand = host.wait(tag, 0);
    assert_eq!(host.collect(at_hand), Ok(Vec::new()));
}

#[test]
fn a_close_ends_callers_and_buffers_once() {
    let mut host = Host::new(settings());
    let (tag, buffer) = host.tag("order");
    let ticket = host.wait(tag, 1);
    assert!(host.step());
    host.supply.close(host.clocks());
    host.supply.close(host.clocks());
    host.drive();
    assert_eq!(host.collect(ticket), Err("closed: the segments were closed; open them again".into()));
    let late = host.wait(tag, 1);
    assert!(host.collect(late).is_err_and(|error| error.starts_with("closed")));
    assert!(buffer.take().is_err() && host.supply.tag("other").is_err());
    let closed = host.notices.iter().filter(|notice| matches!(notice, Notice::Closed(Ok(())))).count();
    assert_eq!((closed, host.supply.next_time()), (1, None));
}

#[test]
fn who_asks_for_an_unknown_tag_while_it_backs_off_hears_so_at_once() {
    let mut host = Host::new(settings());
    let (tag, _) = host.tag("nothing");
    host.errors = vec![Error::new(Code::UnknownTag, "no")];
    let first = host.wait(tag, 1);
    host.drive();
    assert!(host.collect(first).is_err());
    let second = host.wait(tag, 1);
    assert_eq!(host.collect(second), Err("unknown_tag: no".into()));
    assert!(!host.supply.has_calls(host.clocks()));
}

#[test]
fn callers_that_join_while_an_unknown_tag_is_asked_for_again_hear_of_that_fetch_alone() {
    let mut host = Host::new(settings());
    let (tag, _) = host.tag("nothing");
    host.errors = vec![Error::new(Code::UnknownTag, "no"), Error::new(Code::UnknownTag, "still no")];
    host.wait(tag, 1);
    host.drive();
    host.now += Duration::from_secs(60);
    let mut tickets = vec![host.wait(tag, 1)];
    assert!(host.step());
    tickets.extend((0..3).map(|_| host.wait(tag, 2)));
    assert!(tickets.iter().all(|ticket| host.collect(*ticket) == Err("Waits".into())));
    host.drive();
    for ticket in tickets {
        assert_eq!(host.collect(ticket), Err("unknown_tag: still no".into()));
    }
}

#[test]
fn a_caller_that_has_gone_is_not_woken() {
    let mut host = Host::new(settings());
    let (tag, _) = host.tag("order");
    let (gone, stays) = (host.wait(tag, 1), host.wait(tag, 1));
    (0..3).for_each(|_| assert!(host.step()));
    host.supply.cancel(gone, host.clocks());
    assert_eq!(host.supply.next_notice(host.clocks()), Some(Notice::Wake(stays)));
    assert_eq!(host.supply.next_notice(host.clocks()), None);
}

#[test]
fn a_caller_that_gets_some_of_its_ids_has_more_time() {
    let mut host = Host::new(settings());
    host.most = 5;
    let (tag, _) = host.tag("order");
    let ticket = host.wait(tag, 10);
    host.now += Duration::from_millis(1_500);
    (0..3).for_each(|_| assert!(host.step()));
    host.now += Duration::from_millis(1_500);
    assert_eq!(host.supply.next_notice(host.clocks()), None);
    assert_eq!(host.collect(ticket), Err("Waits".into()));
    host.now += Duration::from_millis(500);
    assert_eq!(host.supply.next_notice(host.clocks()), Some(Notice::Wake(ticket)));
    assert!(host.collect(ticket).is_err_and(|error| error.starts_with("segment_unavailable")));
    assert_eq!(host.supply.tag_stats(tag).unwrap().left, 5, "its ids are put back");
}

#[test]
fn ids_that_are_put_back_after_a_close_are_a_gap() {
    let mut host = Host::new(settings());
    let (tag, buffer) = host.tag("order");
    host.wait(tag, 1);
    host.drive();
    let (taken, _) = buffer.take_many(3).unwrap();
    host.supply.close(host.clocks());
    host.supply.put_back(tag, &[taken], host.clocks());
    assert_eq!(host.supply.tag_stats(tag).unwrap().left, 0);
}

#[test]
fn ids_that_are_put_back_twice_are_issued_once() {
    // Those that are left go first, or these go into the empty buffer at once.
    for count in [3, 9] {
        let mut host = Host::new(settings());
        let (tag, buffer) = host.tag("order");
        let ticket = host.wait(tag, 1);
        host.drive();
        assert_eq!(host.collect(ticket), Ok(vec![1]));
        let (run, _) = buffer.take_many(count).unwrap();
        (0..2).for_each(|_| host.supply.put_back(tag, &[run], host.clocks()));
        assert_eq!(host.supply.tag_stats(tag).unwrap().left, 9);
        let all = host.wait(tag, 9);
        assert_eq!(host.collect(all).map(|ids| ids.into_iter().collect::<BTreeSet<_>>().len()), Ok(9));
    }
}

#[test]
fn who_gets_the_id_that_requests_the_next_fetch_as_it_begins_to_wait_has_it_made() {
    let mut host = Host::new(settings());
    let (tag, _) = host.tag("order");
    let first = host.wait(tag, 1);
    host.drive();
    assert!(host.collect(first).is_ok());
    // It found the buffer empty before these came.
    let late = host.wait(tag, 5);
    assert!(host.collect(late).is_ok());
    host.drive();
    assert_eq!(host.asked.len(), 2);
}

#[test]
fn ids_that_are_put_back_do_not_lower_what_somebody_was_told() {
    let mut host = Host::new(settings());
    let (tag, buffer) = host.tag("order");
    let ticket = host.wait(tag, 1);
    host.drive();
    assert_eq!(host.collect(ticket), Ok(vec![1]));
    let take_and_put_back = |host: &mut Host, is_told: bool| {
        let (run, _) = buffer.take_many(4).unwrap();
        let told = is_told.then(|| host.supply.tag_stats(tag).unwrap().ids);
        host.supply.put_back(tag, &[run], host.clocks());
        (told, host.supply.tag_stats(tag).unwrap().ids)
    };
    assert_eq!(take_and_put_back(&mut host, false), (None, 1));
    assert_eq!(take_and_put_back(&mut host, true), (Some(5), 5));
}

#[test]
fn who_waited_elsewhere_is_told_what_is_known_of_the_tag() {
    let mut host = Host::new(settings());
    let (tag, _) = host.tag("order");
    host.errors = vec![down()];
    host.wait(tag, 1);
    host.drive();
    let late = |host: &Host| host.supply.late(tag, Duration::from_millis(7), host.clocks()).to_string();
    assert!(late(&host).contains("no id of the tag \"order\" within 7 ms: "), "{}", late(&host));
    host.supply.close(host.clocks());
    assert!(late(&host).starts_with("closed"), "{}", late(&host));
}
