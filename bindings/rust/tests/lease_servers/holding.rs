//! Leases that are held, renewed, lost and given back.

use crate::common::forks::{in_child, plain_fork};
use crate::common::{HANG, PATIENT_MS, Place, until};
use crate::server::Server;
use leafid::{Code, Layout, Snowflake};
use serde_json::json;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// How long most leases last: a machine may stall for half of it, until they are renewed late.
pub(crate) const LEASE_MS: i64 = 12_000;

/// Ids for this long, each in a span that was given and above the last. What fails with `worker_lost` is asked again.
pub(crate) fn ids(flake: &Snowflake, server: &Server, time: Duration, last: &mut i64) -> Vec<String> {
    let (begun, mut errors) = (Instant::now(), Vec::new());
    while begun.elapsed() < time {
        match flake.next() {
            Ok(id) => {
                assert!(id > *last, "{id} after {last}");
                assert!(server.covers(id), "{:?} lies in no span given", Layout::LEAF.decode(id));
                *last = id;
            }
            Err(error) => {
                assert_eq!(error.code(), Code::WorkerLost, "{error}");
                errors.push(error.message().to_owned());
            }
        }
        std::thread::sleep(Duration::from_micros(300));
    }
    errors
}

/// As [`ids`], until this is so.
pub(crate) fn ids_until(
    flake: &Snowflake,
    server: &Server,
    last: &mut i64,
    mut is_so: impl FnMut() -> bool,
) -> Vec<String> {
    let (begun, mut errors) = (Instant::now(), Vec::new());
    while !is_so() {
        assert!(begun.elapsed() < HANG, "it does not come about: {:?}", flake.stats());
        errors.extend(ids(flake, server, Duration::from_millis(5), last));
    }
    errors
}

#[test]
fn the_same_settings_share_one_lease() {
    let (place, server) = (Place::new(), Server::new(10_000));
    let one = place.builder().worker(server.url()).request_timeout_ms(50_000).open().unwrap();
    let other = place.builder().worker(vec![server.url()]).request_timeout_ms(50_000).timeout_ms(90_000);
    let other = other.open().unwrap();
    assert_eq!(one.stats().unwrap().handles, 2);
    drop(one);
    other.next().unwrap();
    let third = place.builder().worker(server.url()).request_timeout_ms(60_000).open().unwrap();
    assert_eq!(third.worker_id().unwrap(), 1, "asked otherwise, it is another one");
    assert_eq!(server.seen("claim").len(), 2);
}

#[test]
fn a_parent_that_forks_and_rests_keeps_its_lease() {
    let (place, server) = (Place::new(), Server::new(LEASE_MS));
    let flake = place.builder().worker(server.url()).request_timeout_ms(PATIENT_MS).open().unwrap();
    flake.next().unwrap();
    assert_eq!(in_child(plain_fork, |say| say(0)), [0]);
    let renewed = server.seen("renew").len();
    until("the third renewal", || server.seen("renew").len() >= renewed + 3);
    flake.next().unwrap();
    assert_eq!((flake.worker_id().unwrap(), server.seen("claim").len()), (0, 1));
}

#[test]
fn a_close_ends_what_is_under_way() {
    let (place, server) = (Place::new(), Server::new(LEASE_MS));
    let flake =
        place.builder().worker(server.url()).request_timeout_ms(HANG.as_millis() as i64).open().unwrap();
    flake.next().unwrap();
    server.fault("renew", json!({"hang": true}));
    until("a renewal", || !server.seen("renew").is_empty());
    let begun = Instant::now();
    flake.close().unwrap();
    assert!(begun.elapsed() < HANG / 2, "{:?}", begun.elapsed());
    until("the end of the connection", || server.report()["tags"]["renew"]["under_way"] == 0);
    assert!(server.seen("release").is_empty(), "its token may be another by now");
    // Another opening of the same builder's is not concerned.
    server.tell(json!({"do": "clear"}));
    place.builder().worker(server.url()).request_timeout_ms(60_000).open().unwrap().next().unwrap();
}

#[test]
fn a_forked_child_claims_anew_and_leaves_its_parent_s_lease_alone() {
    let (place, server) = (Place::new(), Server::new(20_000));
    let flake = place.builder().worker(server.url()).request_timeout_ms(PATIENT_MS).open().unwrap();
    let before = flake.next().unwrap();
    let childs = in_child(plain_fork, |say| {
        say(i64::from(flake.worker_id().unwrap()));
        say(flake.next().unwrap());
        flake.close().unwrap();
    });
    assert_eq!((flake.worker_id().unwrap(), childs[0]), (0, 1));
    assert!(server.covers(before) && server.covers(childs[1]));
    assert_eq!(server.seen("release").len(), 1, "the child's own");
    assert_eq!(server.seen("release")[0]["body"]["worker_id"], json!(1));
    flake.next().unwrap();
    flake.close().unwrap();
    assert_eq!(server.seen("release").len(), 2);
}

/// What stands between may answer two requests alike: an answer is used by the request alone whose `instance` it repeats.
#[test]
fn a_forked_child_is_not_served_by_its_parent_s_answer() {
    let (place, server) = (Place::new(), Server::new(20_000));
    let flake = place.builder().worker(server.url()).request_timeout_ms(PATIENT_MS).open().unwrap();
    let before = flake.next().unwrap();
    server.fault("claim", json!({"duplicate": "first"}));
    for _ in 0..2 {
        let refused = in_child(plain_fork, |say| {
            say(flake.next().unwrap_or_else(|error| i64::from(error.code() == Code::SourceInvalid)));
        });
        assert_eq!(refused, [1]);
    }
    let claims = server.seen("claim");
    let instances: BTreeSet<_> = claims.iter().map(|seen| seen["body"]["instance"].to_string()).collect();
    assert!(instances.len() >= 3, "a claim of its own for each process: {instances:?}");
    assert_eq!(server.seen("release").len(), 0, "it is their parent's");
    assert!(flake.next().unwrap() > before);
}
