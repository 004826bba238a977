//! Callers, their ids, and ends of calls, where no user sees it.

use super::{Host, settings};
use leafid_core::supply::Notice;
use leafid_core::{Code, Error};
use std::collections::BTreeSet;
use std::time::Duration;

fn down() -> Error {
    Error::new(Code::SegmentUnavailable, "the fetch of a segment failed: down")
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
fn ids_that_are_put_back_do_not_lower_what_was_reported() {
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
fn who_waited_elsewhere_gets_what_is_known_of_the_tag() {
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
