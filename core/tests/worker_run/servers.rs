//! Leases of servers over HTTP: claimed, sent again as they were, and released.

use super::host::{CLOSE, Host, OPEN, settings};
use leafid_core::call::CallId;
use leafid_core::http::{HttpCall, HttpServer, HttpServers, NoResponse};
use leafid_core::run::cache_write::CacheWrite;
use leafid_core::run::{Answer, Need, RunCall, RunCallEnd, RunSettings, RunState, RunTicket, Workers};
use leafid_core::wire::Response;
use leafid_core::{Code, ServersHealth};
use serde_json::Value;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

const URL: &str = "http://leases";
const OTHER_URL: &str = "http://others";

fn host() -> Host {
    Host::new(settings_of(&[URL], false))
}

fn settings_of(urls: &[&str], persist: bool) -> RunSettings {
    let servers = HttpServers {
        option: "worker",
        servers: urls.iter().map(|url| HttpServer { url: (*url).into(), proxy: None }).collect(),
        request_timeout: Duration::from_secs(5),
        connect_timeout: Duration::from_millis(500),
    };
    let health = ServersHealth::new(urls.len());
    let workers = Workers::Servers { servers: Arc::new(servers), health };
    RunSettings { persist, ..settings(workers) }
}

/// Answers a request: `answer` makes the status and the body from the body of the request.
fn answer(call: RunCall, random: u128, answer: impl FnOnce(&str, &Value) -> (u16, String)) -> RunCallEnd {
    let RunCall::Http(mut call) = call else { panic!("{call:?}") };
    let request = call.request(random);
    let sent = serde_json::from_str(&request.body.unwrap().text).unwrap();
    let (status, body) = answer(&request.path, &sent);
    let body = body.into_bytes();
    let url = format!("{URL}{}", request.path);
    call.end(&Response { url, status, body, location: None, flaw: None, option: "worker" }).0.into()
}

fn lease(sent: &Value) -> (u16, String) {
    let (now, instance) = (sent["now"].as_i64().unwrap(), &sent["instance"]);
    let until = now + 30_000;
    let body = format!(
        r#"{{"worker_id":4,"from":{now},"until":{until},"lease_ms":10000,"peer_times":[],"token":"t1","instance":{instance}}}"#
    );
    (200, body)
}

/// A claim of an opening that is under way, and the number that it sends.
fn asks(host: &mut Host, random: u128) -> (CallId, Box<HttpCall>, String) {
    host.want(OPEN);
    let (id, RunCall::Http(mut call)) = host.drive_to("Http") else { unreachable!("it is one") };
    let body = call.request(random).body.unwrap().text;
    let sent: Value = serde_json::from_str(&body).unwrap();
    (id, call, sent["instance"].as_str().unwrap().into())
}

fn instance(random: u128) -> String {
    format!("{random:032x}")
}

/// An opening whose worker id the server leases.
fn opens(host: &mut Host) -> RunTicket {
    let ticket = host.want(OPEN);
    let (id, call) = host.drive_to("Http");
    host.done(id, answer(call, 1, |_, sent| lease(sent)));
    ticket
}

#[test]
fn a_lease_of_a_server_is_claimed_and_released() {
    let mut host = host();
    let ticket = host.want(OPEN);
    let (id, call) = host.drive_to("Http");
    let end = answer(call, 1, |path, sent| {
        assert_eq!(path, "/api/worker/claim");
        lease(sent)
    });
    host.done(id, end);
    host.drive();
    assert_eq!(host.run.answer(ticket), Answer::Look);
    assert_eq!(host.run.state(), RunState::Held { worker_id: 4, lost: false });
    host.id();
    host.want(CLOSE);
    let (id, call) = host.drive_to("Http");
    let end = answer(call, 2, |path, sent| {
        assert_eq!((path, sent["token"].as_str()), ("/api/worker/release", Some("t1")));
        (204, String::new())
    });
    host.done(id, end);
    host.drive();
    assert_eq!(host.closed, Some(Ok(())));
}

fn unreachable(call: RunCall) -> RunCallEnd {
    let RunCall::Http(mut call) = call else { panic!("{call:?}") };
    call.request(7);
    call.failed(NoResponse::TimedOut, false).into()
}

/// A host that slept over it would hear of the cached leases when their time is over.
#[test]
fn what_the_end_of_a_request_makes_ready_is_pulled_before_the_host_sleeps() {
    let mut host = Host::new(settings_of(&[URL], true));
    host.want(OPEN);
    let (id, call) = host.drive_to("Http");
    assert!(host.pull().is_none() && host.sleeps());
    host.done(id, unreachable(call));
    assert!(!host.sleeps());
    host.drive_to("ListLeaseCaches");
}

#[test]
fn a_release_that_fails_ends_the_close_before_the_host_sleeps() {
    let mut host = host();
    opens(&mut host);
    host.drive();
    host.id();
    let ticket = host.want(CLOSE);
    let (id, call) = host.drive_to("Http");
    host.done(id, unreachable(call));
    host.drive();
    assert_eq!((host.run.answer(ticket), host.closed), (Answer::Look, Some(Ok(()))));
}

/// The worker id that the server leases is held on this host: its claim is undone.
fn held_here(persists: bool) -> (Host, RunTicket, CallId, RunCall) {
    let mut host = Host::new(settings_of(&[URL], persists));
    host.disk.record_locks.insert(4);
    let ticket = opens(&mut host);
    let (id, call) = host.drive_to("UnlockHost");
    (host, ticket, id, call)
}

/// Its lease would be had by nobody.
#[test]
fn a_round_that_was_given_up_does_not_claim_another_worker_id() {
    for closes in [false, true] {
        let (mut host, ticket, id, call) = held_here(true);
        host.calls.clear();
        match closes {
            true => drop(host.want(CLOSE)),
            false => host.run.give_up(ticket, host.clocks),
        }
        let end = host.carry_out(call);
        host.done(id, end);
        host.drive();
        assert_eq!(host.calls, [""; 0], "the lease of an id that is held here is left to end");
        let state = host.run.state();
        match closes {
            true => assert_eq!((state, host.closed), (RunState::Closed, Some(Ok(())))),
            false => {
                assert!(matches!(state, RunState::Failed(error) if error.code() == Code::WouldBlock));
            }
        }
    }
}

#[test]
fn a_close_that_is_over_gives_up_its_request_and_asks_no_other_server() {
    let mut host = Host::new(settings_of(&[URL, "http://others"], false));
    opens(&mut host);
    host.drive();
    host.id();
    host.pass(5_000);
    let (id, call) = host.drive_to("Http");
    host.want(CLOSE);
    host.drive_for(1_900);
    assert_eq!((host.closed.clone(), &host.abandoned[..]), (None, &[][..]));
    host.drive_for(200);
    assert_eq!((host.closed.clone(), &host.abandoned[..]), (Some(Ok(())), &[id][..]));
    host.calls.clear();
    host.done(id, unreachable(call));
    host.drive_for(10_000);
    assert_eq!(host.calls, [""; 0], "its token may be another by now");
}

/// A second claim would take a second worker id.
#[test]
fn a_claim_without_an_answer_is_sent_again_as_it_was_by_the_next_run() {
    let mut first = host();
    let ticket = first.want(OPEN);
    let (id, call) = first.drive_to("Http");
    let RunCall::Http(mut call) = call else { unreachable!("it is one") };
    call.request(7);
    first.done(id, call.failed(NoResponse::TimedOut, false).into());
    first.drive();
    let Answer::Failed(error) = first.run.answer(ticket) else { panic!("it is down") };
    assert_eq!(error.code(), Code::WorkerLost);
    assert!(error.message().contains("with persist = false no lease is cached"), "{error}");
    let others = Host::new(settings_of(&[OTHER_URL], false));
    let sent = [(others, 8), (host(), 9), (host(), 10)].map(|(mut next, random)| {
        next.leases = Rc::clone(&first.leases);
        asks(&mut next, random).2
    });
    assert_eq!(sent, [8, 7, 10].map(instance), "two runs that send it get one lease");
}

/// Its worker id would be leased for nobody.
#[test]
fn a_claim_that_ends_late_without_an_answer_outlasts_the_end_of_the_next_one() {
    let mut first = host();
    let (id, call, _) = asks(&mut first, 7);
    first.drive_for(2_000);
    assert_eq!(first.abandoned, [id]);
    let (next, next_call, sent) = asks(&mut first, 8);
    assert_eq!(sent, instance(8), "the first one may be answered yet");
    first.done(id, call.failed(NoResponse::TimedOut, false).into());
    first.done(next, answer(RunCall::Http(next_call), 8, |_, sent| lease(sent)));
    first.drive();
    assert_eq!(first.run.state(), RunState::Held { worker_id: 4, lost: false });
    let mut second = host();
    second.leases = Rc::clone(&first.leases);
    assert_eq!(asks(&mut second, 9).2, instance(7));
}

/// A server is wrong to lease a worker id twice. A release would give it to a third one.
#[test]
fn a_late_lease_that_another_run_of_the_process_holds_is_not_released() {
    let mut first = host();
    let (id, call, _) = asks(&mut first, 7);
    first.drive_for(2_000);
    let mut second = host();
    second.leases = Rc::clone(&first.leases);
    opens(&mut second);
    second.drive();
    assert_eq!(second.run.state(), RunState::Held { worker_id: 4, lost: false });
    first.done(id, answer(RunCall::Http(call), 7, |_, sent| lease(sent)));
    assert!(first.pull().is_none(), "{:?}", first.calls);
}

/// A run with a lease of a server that is to be cached, and its write.
fn leased_and_cached() -> (Host, RunTicket, CallId, Box<CacheWrite>) {
    let mut host = Host::new(settings_of(&[URL], true));
    let ticket = opens(&mut host);
    let (id, RunCall::WriteLeaseCache(write)) = host.drive_to("WriteLeaseCache") else {
        unreachable!("it is one")
    };
    (host, ticket, id, write)
}

/// A process that ends soon after its opening can start again without a server.
#[test]
fn an_opening_waits_until_its_lease_is_cached() {
    for hangs in [false, true] {
        let (mut host, ticket, id, mut write) = leased_and_cached();
        host.drive();
        assert!(matches!(host.run.answer(ticket), Answer::Pending(_)));
        if hangs {
            host.drive_for(1_999);
            assert!(matches!(host.run.answer(ticket), Answer::Pending(_)));
            host.pass(1);
            host.drive();
        } else {
            write.initial(false).unwrap();
            host.done(id, write.end("the cache").into());
        }
        assert_eq!(host.run.answer(ticket), Answer::Look);
        assert_eq!(host.asked(OPEN), Answer::Look);
    }
}

#[test]
fn a_lease_that_stays_cached_is_told_of_when_its_close_does_not_release_it() {
    let (mut host, _, id, mut write) = leased_and_cached();
    write.initial(false).unwrap();
    host.done(id, write.end("the cache").into());
    host.drive();
    host.id();
    let ticket = host.want(CLOSE);
    host.drive_to("DropLeaseCache");
    host.drive_for(2_000);
    let expected = "worker id 4 is not released, because its lease is still cached: state_io: /state/orders did not answer within \
                    2000 ms; see the disk, or raise timeout_ms; it ends by itself";
    assert!(host.log.iter().any(|(_, text)| text == expected), "{:?}", host.log);
    assert!(!host.log.iter().any(|(_, text)| text.contains("the disk does not answer")), "it is told once");
    assert_ne!(host.run.answer(ticket), Answer::Look);
    assert!(!host.calls.iter().any(|call| call == "Beside Http"), "another process may use it");
}

#[test]
fn a_quiet_close_waits_for_no_server() {
    let mut host = host();
    opens(&mut host);
    host.drive();
    host.id();
    host.pass(5_000);
    let (id, _) = host.drive_to("Http");
    assert_eq!(host.asked(Need::Close { quietly: true, waits_for_source: true }), Answer::Look);
    assert_eq!((&host.abandoned[..], host.closed), (&[id][..], Some(Ok(()))));
}

#[test]
fn the_release_of_an_opening_that_was_undone_is_told_of_by_its_worker_id() {
    let mut host = host();
    opens(&mut host);
    let (id, call) = host.drive_to("LockHost");
    host.want(CLOSE);
    let end = host.carry_out(call);
    host.done(id, end);
    host.drive_to("Http");
    host.drive_for(2_000);
    let expected = "the release of worker id 4 did not answer in time";
    assert!(host.log.iter().any(|(_, text)| text == expected), "{:?}", host.log);
}
