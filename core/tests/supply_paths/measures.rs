//! What a supply costs: bytes of a tag, time of a fetch, and the longest hold. They print, and judge nothing.

use super::{Host, settings};
use leafid_core::supply::{SupplySettings, TagId, Ticket, Wish};
use leafid_core::{Code, Error};
use std::time::{Duration, Instant};

/// The bytes of memory that this process has.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = pages.and_then(|text| text.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()));
    pages.unwrap_or(0) * 4096
}

fn tags(host: &mut Host, count: usize) -> Vec<TagId> {
    (0..count).map(|n| host.supply.tag(&format!("t{n}")).unwrap().0).collect()
}

fn wait(host: &mut Host, tag: TagId) -> Ticket {
    let wish = Wish { count: 1, timeout: Duration::from_secs(60), ..Wish::default() };
    host.supply.wait(tag, wish, host.clocks())
}

#[test]
#[ignore = "it measures"]
fn the_bytes_of_a_tag() {
    const TAGS: usize = 50_000;
    let mut host = Host::new(settings());
    let before = resident();
    let tags = tags(&mut host, TAGS);
    let new = resident() - before;
    let tickets: Vec<Ticket> = tags.iter().map(|tag| wait(&mut host, *tag)).collect();
    let waiting = resident() - before;
    while let Some((id, call)) = host.supply.next_call(host.clocks()) {
        host.carry_out(id, call);
        host.marks.clear();
        host.asked.clear();
    }
    tickets.into_iter().for_each(|ticket| assert!(host.collect(ticket).is_ok()));
    while host.supply.next_notice(host.clocks()).is_some() {}
    let used = resident() - before;
    println!("bytes a tag: {} new, {} with a caller, {} used", new / TAGS, waiting / TAGS, used / TAGS);
}

#[test]
#[ignore = "it measures"]
fn the_time_of_a_fetch() {
    const FETCHES: usize = 100_000;
    let mut host = Host::new(SupplySettings { step: Some(1), ..settings() });
    let tags = tags(&mut host, 100);
    let (mut machine, mut holds) = (Duration::ZERO, 0);
    for at in 0..FETCHES {
        let tag = tags[at % tags.len()];
        let mut timed = |host: &mut Host, act: &mut dyn FnMut(&mut Host)| {
            let begun = Instant::now();
            act(host);
            machine += begun.elapsed();
            holds += 1;
        };
        let mut ticket = None;
        timed(&mut host, &mut |host| ticket = Some(wait(host, tag)));
        for _ in 0..3 {
            let mut call = None;
            timed(&mut host, &mut |host| call = host.supply.next_call(host.clocks()));
            let (id, call) = call.unwrap();
            let end = host.end_of(call);
            let mut end = Some(end);
            timed(&mut host, &mut |host| host.supply.done(id, end.take().unwrap(), host.clocks()));
        }
        timed(&mut host, &mut |host| drop(host.supply.next_notice(host.clocks())));
        timed(&mut host, &mut |host| drop(host.supply.collect(ticket.unwrap())));
        host.asked.clear();
    }
    println!("{:?} of machine a fetch, in {} holds", machine / FETCHES as u32, holds / FETCHES);
}

#[test]
#[ignore = "it measures"]
fn the_longest_hold_with_10_000_tags_that_meet_a_returning_server() {
    let mut host = Host::new(settings());
    let tags = tags(&mut host, 10_000);
    host.errors = vec![Error::new(Code::SegmentUnavailable, "down"); 1_000];
    tags.iter().for_each(|tag| _ = wait(&mut host, *tag));
    host.pass(Duration::from_secs(10));
    let down = host.asked.len();
    host.errors.clear();
    let mut holds: Vec<Duration> = Vec::new();
    let (mut served, back) = (0, host.now);
    while served < tags.len() {
        let begun = Instant::now();
        let call = host.supply.next_call(host.clocks());
        holds.push(begun.elapsed());
        if let Some((id, call)) = call {
            let end = host.end_of(call);
            let begun = Instant::now();
            host.supply.done(id, end, host.clocks());
            holds.push(begun.elapsed());
        } else {
            host.now = host.supply.next_time().unwrap().max(host.now);
        }
        let begun = Instant::now();
        let notice = host.supply.next_notice(host.clocks());
        holds.push(begun.elapsed());
        served += usize::from(matches!(notice, Some(leafid_core::supply::Notice::Wake(_))));
    }
    holds.sort_unstable();
    println!(
        "down: {down} requests in 10 s; back: all served after {:?} of its clock, {} holds, the longest {:?}",
        host.now - back,
        holds.len(),
        &holds[holds.len() - 3..]
    );
    let begun = Instant::now();
    host.supply.close(host.clocks());
    println!("a close of all: {:?}", begun.elapsed());
}

#[test]
#[ignore = "it measures"]
fn the_time_of_10_000_waits_for_a_tag_that_was_unknown() {
    let mut host = Host::new(settings());
    let (tag, _) = host.tag("order");
    host.errors = vec![Error::new(Code::UnknownTag, "no")];
    wait(&mut host, tag);
    host.drive();
    host.now += Duration::from_secs(60);
    let begun = Instant::now();
    (0..10_000).for_each(|_| _ = wait(&mut host, tag));
    println!("10,000 waits for a tag that was unknown: {:?}", begun.elapsed());
}

#[test]
#[ignore = "it measures"]
fn the_longest_hold_with_10_000_callers_that_expire_together() {
    let mut host = Host::new(settings());
    let (tag, _) = host.tag("order");
    (0..10_000).for_each(|_| _ = wait(&mut host, tag));
    host.now += Duration::from_secs(60);
    let mut longest = Duration::ZERO;
    while host.supply.next_time().is_some_and(|at| at <= host.now) {
        let begun = Instant::now();
        drop(host.supply.next_notice(host.clocks()));
        longest = longest.max(begun.elapsed());
    }
    println!("10,000 callers of one tag expire: the longest hold {longest:?}");
}
