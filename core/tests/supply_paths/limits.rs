//! What bounds a supply: calls beside each other, a source that is down, turns among callers and among tags.

use super::{Host, settings};
use leafid_core::supply::{Call, Notice, Source, SupplySettings, TagId, Wish};
use leafid_core::{Code, Error};
use std::time::Duration;

fn down() -> Error {
    Error::new(Code::SegmentUnavailable, "the fetch of a segment failed: down")
}

/// Takes calls until there are none, and ends all but those to the source, which hang. Returns the number of these.
fn hang(host: &mut Host) -> usize {
    let mut hanging = 0;
    while let Some((id, call)) = host.supply.next_call(host.clocks()) {
        match call {
            Call::Fetch(_) => hanging += 1,
            call => host.carry_out(id, call),
        }
    }
    hanging
}

#[test]
fn a_source_that_hangs_has_four_calls_then_sixteen_and_all_callers_hear_of_it() {
    let mut host = Host::new(settings());
    let tags: Vec<TagId> = (0..1_000).map(|n| host.tag(&format!("t{n}")).0).collect();
    let tickets: Vec<_> = tags.iter().map(|tag| host.wait(*tag, 1)).collect();
    assert_eq!(hang(&mut host), 4);
    assert_eq!(host.supply.next_time(), Some(host.now + Duration::from_millis(100)), "when they are slow");
    let mut hanging = 4;
    for _ in 0..10 {
        host.now += Duration::from_millis(100);
        hanging += hang(&mut host);
    }
    assert_eq!(hanging, 16, "no more, however long they hang");
    host.now += Duration::from_secs(1);
    let mut woken = 0;
    while host.supply.next_time().is_some_and(|at| at <= host.now) {
        assert!(host.supply.next_call(host.clocks()).is_none());
        let mut at_once = 0;
        while let Some(Notice::Wake(_)) = host.supply.next_notice(host.clocks()) {
            at_once += 1;
        }
        woken += at_once;
    }
    assert_eq!(woken, 1_000);
    for (at, ticket) in tickets.into_iter().enumerate() {
        let error = host.collect(ticket).unwrap_err();
        assert!(error.contains("its source has not answered"), "{at}: {error}");
    }
}

#[test]
fn a_callback_has_four_calls_at_once_however_many_answers_came() {
    let mut host = Host::new(settings());
    for n in 0..40 {
        let tag = host.tag(&format!("warm{n}")).0;
        host.wait(tag, 1);
    }
    host.drive();
    assert_eq!(host.asked.len(), 40);
    for n in 0..40 {
        let tag = host.tag(&format!("t{n}")).0;
        host.wait(tag, 1);
    }
    assert_eq!(hang(&mut host), 4);
}

#[test]
fn no_more_than_sixteen_calls_hang_while_a_source_is_down() {
    let mut host = Host::new(settings());
    host.errors = vec![down(); 3];
    for n in 0..100 {
        let tag = host.tag(&format!("t{n}")).0;
        let wish = Wish { count: 1, timeout: Duration::from_secs(600), ..Wish::default() };
        host.supply.wait(tag, wish, host.clocks());
    }
    while host.asked.len() < 3 {
        assert!(host.step());
    }
    assert!(host.supply.stats().is_down);
    let mut calls = Vec::new();
    for _ in 0..60 {
        host.now += Duration::from_secs(1);
        while let Some((id, call)) = host.supply.next_call(host.clocks()) {
            match call {
                Call::Fetch(_) => calls.push((id, call)),
                call => host.carry_out(id, call),
            }
        }
    }
    assert_eq!((calls.len(), host.supply.stats().is_down), (16, true));
    assert!(!host.supply.has_calls(host.clocks()));
    assert!(host.supply.next_time().is_some_and(|at| at > host.now), "it is not polled in vain");
    let (id, call) = calls.remove(0);
    host.carry_out(id, call);
    assert!(host.step(), "its mark");
    assert!(!host.supply.stats().is_down && host.supply.has_calls(host.clocks()));
}

#[test]
fn a_source_that_is_down_is_asked_five_times_a_second_and_serves_all_once_it_is_back() {
    let mut host = Host::new(settings());
    let tags: Vec<TagId> = (0..1_000).map(|n| host.tag(&format!("t{n}")).0).collect();
    host.errors = vec![down(); 10_000];
    let wait = |host: &mut Host, tag| {
        let wish = Wish { count: 1, timeout: Duration::from_secs(60), ..Wish::default() };
        host.supply.wait(tag, wish, host.clocks())
    };
    let tickets: Vec<_> = tags.iter().map(|tag| wait(&mut host, *tag)).collect();
    host.pass(Duration::from_secs(10));
    assert!((20..=55).contains(&host.asked.len()), "{} requests in 10 s", host.asked.len());
    assert!(host.supply.stats().is_down);
    host.errors.clear();
    host.pass(Duration::from_millis(400));
    assert!(tickets.into_iter().all(|ticket| host.collect(ticket).is_ok()));
    assert!(!host.supply.stats().is_down);
}

#[test]
fn a_call_for_many_ids_keeps_no_call_for_one_waiting() {
    let mut host = Host::new(SupplySettings { step: Some(4), ..settings() });
    host.most = 4;
    let (tag, _) = host.tag("order");
    let many = host.wait(tag, 1 << 20);
    let one = host.wait(tag, 1);
    host.step();
    host.step();
    host.step();
    assert!(host.collect(one).is_ok(), "the source gives four at a time");
    let mut wanted = Vec::new();
    for _ in 0..200 {
        wanted.push(host.wait(tag, 1));
        host.step();
        host.step();
        host.step();
    }
    assert!(wanted.into_iter().all(|ticket| host.collect(ticket).is_ok()));
    let left = host.supply.tag_stats(tag).unwrap();
    assert_eq!((left.waiting, left.left), (1, 0), "all others went to the one that waits");
    host.most = i64::MAX;
    host.drive();
    assert_eq!(host.collect(many).map(|ids| ids.len()), Ok(1 << 20));
}

#[test]
fn calls_for_many_ids_take_turns_and_calls_for_one_do_not_starve_them() {
    let mut host = Host::new(settings());
    host.most = 600;
    let (tag, _) = host.tag("order");
    let (long, short) = (host.wait(tag, 100_000), host.wait(tag, 300));
    let ones: Vec<_> = (0..2_000).map(|_| host.wait(tag, 1)).collect();
    let mut fetches = 0;
    while host.collect(short) == Err("Waits".into()) {
        (0..3).for_each(|_| assert!(host.step()));
        fetches += 1;
    }
    assert!(fetches <= 5, "{fetches}");
    for ticket in ones {
        while host.collect(ticket) == Err("Waits".into()) {
            (0..3).for_each(|_| assert!(host.step()));
        }
    }
    host.most = i64::MAX;
    host.drive();
    assert_eq!(host.collect(long).map(|ids| ids.len()), Ok(100_000));
}

#[test]
fn a_callback_is_asked_for_each_tag_in_turn() {
    let mut host = Host::new(SupplySettings { step: Some(1), ..settings() });
    let queue = |host: &mut Host, name: &str| {
        let (tag, buffer) = host.tag(name);
        while buffer.take().is_ok() {}
        host.supply.wants_more(tag, host.clocks());
    };
    (0..11).for_each(|n| queue(&mut host, &format!("busy{n}")));
    for turn in 0..110 {
        while host.asked.len() == turn {
            assert!(host.step());
        }
        assert!(host.step(), "its mark");
        let name = host.asked[turn].0.clone();
        queue(&mut host, &name);
    }
    for n in 0..11 {
        let name = format!("busy{n}");
        let count = host.asked.iter().filter(|(tag, ..)| *tag == name).count();
        assert!((9..=11).contains(&count), "{count} of {:?}", host.asked);
    }
}

#[test]
fn a_tag_that_is_queued_without_a_caller_moves_up_when_one_comes() {
    let mut host = Host::new(settings());
    let tags: Vec<TagId> = (0..20).map(|n| host.tag(&format!("t{n}")).0).collect();
    // Prefetches of all, and then a caller of the last.
    tags.iter().for_each(|tag| host.supply.wants_more(*tag, host.clocks()));
    let last = tags[19];
    let ticket = host.wait(last, 1);
    (0..3).for_each(|_| assert!(host.step()));
    assert_eq!(host.asked[0].0, "t19");
    assert!(host.collect(ticket).is_ok());
}

#[test]
fn a_thread_that_may_not_wait_hears_so_and_the_fetch_goes_on() {
    let mut host = Host::new(SupplySettings { source: Source::Callback { is_deferred: true }, ..settings() });
    let (tag, _) = host.tag("order");
    let blocks_at_most = Some(Duration::from_millis(2));
    let wish = Wish { count: 1, timeout: Duration::from_secs(2), blocks_at_most, ..Wish::default() };
    let ticket = host.supply.wait(tag, wish.clone(), host.clocks());
    let error = host.collect(ticket).unwrap_err();
    assert_eq!(
        error,
        "would_block: no id of the tag \"order\" is at hand, and its fetch needs this thread's event loop: return to it \
         and call again, or await next"
    );
    host.drive();
    assert!(host.notices.is_empty(), "{:?}", host.notices);
    let ticket = host.supply.wait(tag, wish.clone(), host.clocks());
    assert_eq!(host.collect(ticket), Ok(vec![1]), "the fetch was made");
    let wants = |count| Wish { count, blocks_at_most: Some(Duration::ZERO), ..wish.clone() };
    let ticket = host.supply.wait(tag, wants(50), host.clocks());
    assert!(host.collect(ticket).is_err_and(|error| error.starts_with("would_block")));
    host.drive();
    let ticket = host.supply.wait(tag, wants(50), host.clocks());
    assert!(host.collect(ticket).is_ok(), "as many were fetched as it came for");
    assert_eq!(host.supply.tag_stats(tag).unwrap().waits, 0, "it did not wait");

    let mut host = Host::new(settings());
    let (tag, _) = host.tag("order");
    let ticket = host.supply.wait(tag, wish, host.clocks());
    assert_eq!(host.collect(ticket), Err("Waits".into()), "another thread fetches");
    host.now += Duration::from_millis(2);
    assert!(host.supply.next_notice(host.clocks()).is_some());
    let error = host.collect(ticket).unwrap_err();
    assert!(error.ends_with("its fetch is running: call again, or await next"), "{error}");
}

#[test]
fn no_poll_runs_more_than_64_timers() {
    let mut host = Host::new(settings());
    let (tag, _) = host.tag("order");
    let tickets: Vec<_> = (0..1_000).map(|_| host.wait(tag, 1)).collect();
    host.now += Duration::from_secs(2);
    assert!(host.supply.next_call(host.clocks()).is_some());
    let ended = tickets.iter().filter(|ticket| host.collect(**ticket) != Err("Waits".into())).count();
    assert_eq!(ended, 64);
    assert!(host.supply.next_time().is_some_and(|at| at <= host.now), "the others are due");
}
