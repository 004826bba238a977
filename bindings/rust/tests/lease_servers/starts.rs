//! Starts while no server can be reached: only with a span that is still held.

use crate::common::{HANG, PATIENT_MS, Place, newest, sorted_and_distinct, until};
use crate::holder::{Holder, holder};
use crate::holding::{LEASE_MS, ids, ids_until};
use crate::server::Server;
use leafid::{Code, Error, SnowflakeBuilder};
use serde_json::json;
use std::fs::File;
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::time::Duration;

/// Leaves a lease whose holder was killed. Answers the largest id that it issued.
fn killed(place: &Place, server: &Server) -> i64 {
    let mut holder = holder(place, &server.url(), "wait");
    let ids: Vec<i64> = (0..20).map(|_| holder.say().parse().unwrap()).collect();
    holder.kill();
    *ids.last().unwrap()
}

fn file(place: &Place) -> PathBuf {
    place.dir.path().join(&place.name).join("worker-0.lease")
}

fn builder(place: &Place, server: &Server) -> SnowflakeBuilder {
    place.builder().worker(server.url()).request_timeout_ms(PATIENT_MS)
}

fn refused(builder: &SnowflakeBuilder, says: &str) -> Error {
    let error = builder.open().unwrap_err();
    assert_eq!(error.code(), Code::WorkerLost, "{error}");
    assert!(error.message().starts_with("no lease server can be reached, and "), "{error}");
    assert!(error.message().contains(says), "{error}");
    error
}

const NONE: &str = "no cached lease is still valid here";

#[test]
fn a_killed_holder_s_span_is_gone_on_with_and_renewed_when_the_server_is_back() {
    let (place, server) = (Place::new(), Server::new(2 * LEASE_MS));
    let mut holder = holder(&place, &server.url(), "wait");
    let mut last = (0..20).map(|_| holder.say().parse().unwrap()).max().unwrap();
    let until_ms = || newest(&file(&place))["held"]["until_ms"].clone();
    let at_first = until_ms();
    until("a renewal that is written down", || until_ms() != at_first);
    // Not between the two writes of a renewal, which lock the file.
    let cache = File::open(file(&place)).unwrap();
    cache.lock().unwrap();
    holder.kill();
    drop(cache);
    server.down(true);
    let before = server.seen("renew").len();
    let flake = builder(&place, &server).open().unwrap();
    assert_eq!(flake.worker_id().unwrap(), 0);
    assert_eq!(ids(&flake, &server, Duration::from_millis(100), &mut last), [""; 0]);
    assert_eq!(server.seen("renew").len(), before);
    server.down(false);
    assert_eq!(ids_until(&flake, &server, &mut last, || server.seen("renew").len() >= before + 2), [""; 0]);
    let renewals = server.seen("renew");
    assert_ne!(renewals[before]["body"]["token"], renewals[before - 1]["body"]["token"], "the latest one");
    assert_eq!((server.seen("claim").len(), flake.stats().unwrap().claims), (1, 1));
    flake.close().unwrap();
    assert_eq!(server.seen("release").len(), 1);
    server.down(true);
    refused(&builder(&place, &server), NONE);
}

#[test]
fn what_is_remembered_is_private_and_what_cannot_be_forgotten_is_not_given_back() {
    [false, true].into_iter().for_each(what_cannot_be_forgotten);
}

fn what_cannot_be_forgotten(replaced: bool) {
    let (place, server) = (Place::new(), Server::new(20_000));
    let flake = builder(&place, &server).open().unwrap();
    flake.next().unwrap();
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(file(&place)).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600, "who has the token can renew");
    let elsewhere = place.dir.path().join("elsewhere");
    std::fs::rename(file(&place), &elsewhere).unwrap();
    if replaced {
        std::fs::copy(elsewhere, file(&place)).unwrap();
    }
    flake.close().unwrap();
    assert!(server.seen("release").is_empty(), "{replaced}");
}

#[test]
fn no_token_stands_in_a_file_that_others_may_open() {
    let (place, server) = (Place::new(), Server::new(20_000));
    let flake = builder(&place, &server).open().unwrap();
    flake.close().unwrap();
    std::thread::sleep(Duration::from_millis(10));
    std::fs::set_permissions(file(&place), std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let mut holder = holder(&place, &server.url(), "wait");
    (0..20).for_each(|_| drop(holder.say()));
    // The id came after the claim's answer was to be remembered; a close waits for that, too.
    holder.kill();
    let text = std::fs::read_to_string(file(&place)).unwrap();
    assert!(
        !text.contains(server.token(0).as_str()) && newest(&file(&place)).get("held").is_none(),
        "{text}"
    );
    server.down(true);
    refused(&builder(&place, &server), NONE);
}

#[test]
fn a_server_that_answers_is_believed_though_a_span_is_held() {
    let (place, server) = (Place::new(), Server::new(20_000));
    killed(&place, &server);
    for (status, body, code) in [
        (409, json!({"error": "worker_in_use", "message": "all"}).to_string(), Code::WorkerInUse),
        (400, json!({"error": "invalid_argument", "message": "no"}).to_string(), Code::InvalidArgument),
        (401, "who?".into(), Code::SourceInvalid),
        (404, "where?".into(), Code::SourceInvalid),
        (500, "broken".into(), Code::WorkerLost),
        (200, "[]".into(), Code::WorkerLost),
        (200, "{}".into(), Code::SourceInvalid),
    ] {
        server.tell(json!({"do": "fault", "fault": {"status": status, "body": body}}));
        let lazy = builder(&place, &server).lazy(true).open().unwrap();
        for _ in 0..2 {
            let error = lazy.next().unwrap_err();
            assert_eq!(error.code(), code, "{status}: {error}");
            assert!(error.message().contains(&format!("answered {status}")), "{error}");
        }
    }
    // What stands before a server that is down.
    server.tell(json!({"do": "fault", "fault": {"status": 503, "body": "no endpoints"}}));
    builder(&place, &server).open().unwrap().next().unwrap();
}

#[test]
fn of_two_processes_at_once_one_goes_on() {
    let (place, server) = (Place::new(), Server::new(20_000));
    let before = killed(&place, &server);
    server.down(true);
    let mut both = [0; 2].map(|_| holder(&place, &server.url(), "wait"));
    let first: Vec<String> = both.iter_mut().map(Holder::say).collect();
    let (worked, refused): (Vec<&String>, Vec<_>) =
        first.iter().partition(|said| said.parse::<i64>().is_ok());
    assert_eq!((worked.len(), refused.len()), (1, 1), "{first:?}");
    assert!(refused[0].contains("worker_lost") && refused[0].contains("other processes hold"), "{first:?}");
    assert!(sorted_and_distinct(vec![before, worked[0].parse().unwrap()]));
    assert!(worked[0].parse::<i64>().unwrap() > before);
    both.into_iter().for_each(Holder::kill);
}

#[test]
fn a_forked_child_has_its_parent_s_span_only_when_that_is_gone() {
    let (place, server) = (Place::new(), Server::new(20_000));
    // Down for whoever comes after the parent's claim.
    server.tell(json!({"do": "fault", "fault": {"lost": true}, "after": 1}));
    let mut parent = holder(&place, &server.url(), "fork");
    let issued: Vec<i64> = (0..20).map(|_| parent.say().parse().unwrap()).collect();
    let said = parent.say();
    assert!(said.contains("worker_lost") && said.contains("other processes hold"), "{said}");
    parent.process.kill().unwrap();
    parent.process.wait().unwrap();
    let childs: i64 = parent.say().parse().unwrap();
    assert!(childs > *issued.last().unwrap() && server.covers(childs));
    assert_eq!(parent.say(), "closed");
}

/// What it waited for is then no longer waited for, and its caller has a handle to close.
#[test]
fn an_opening_that_is_interrupted_while_its_lease_is_cached_is_open() {
    let (place, server) = (Place::new(), Server::new(20_000));
    builder(&place, &server).open().unwrap().close().unwrap();
    let cache = File::open(file(&place)).unwrap();
    cache.lock().unwrap();
    let (name, builder) = (place.name.clone(), builder(&place, &server).timeout_ms(60_000));
    let (opened, told) = channel();
    std::thread::spawn(move || opened.send(builder.open_unless(&mut || leafid::metrics().contains(&name))));
    let flake = told.recv_timeout(HANG).unwrap().unwrap();
    cache.unlock().unwrap();
    flake.next().unwrap();
    flake.close().unwrap();
}
