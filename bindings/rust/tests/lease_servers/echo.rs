//! What stands between may answer two requests alike, with an older answer, or with that to another: a lease answer is
//! used by the request alone that it repeats `instance` or `nonce` of. Which repeat it, core/tests/http tells.

use crate::common::forks::{in_child, plain_fork};
use crate::common::{HANG, Place, newest, sorted_and_distinct};
use crate::holding::{LEASE_MS, ids};
use crate::request::{Reaction, Seen};
use crate::server::Server;
use leafid::{Code, Error, Snowflake};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

fn says_what_to_do(said: &str, field: &str) {
    let server = format!("A lease server must repeat the {field} (leafid help leases)");
    for part in ["nothing of it is used", &server, "a cache or a proxy before it"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

fn open(place: &Place, server: &Server) -> Result<Snowflake, Error> {
    place.builder().worker(server.url()).open()
}

/// That a host which was refused remembers nothing of any lease, and took no part in any.
fn has_nothing(place: &Place, server: &Server) {
    let held = |path: &Path| newest(path).get("held").is_some();
    let directory = place.dir.path().join(&place.name);
    let files: Vec<_> = std::fs::read_dir(directory).map(|all| all.flatten().collect()).unwrap_or_default();
    let leases = files.iter().filter(|file| file.path().extension().is_some_and(|kind| kind == "lease"));
    assert!(leases.into_iter().all(|file| !held(&file.path())), "{files:?}");
    assert_eq!(server.seen("release").len(), 0, "another's lease is not to be given back");
}

fn a_claim(seen: &Seen) -> bool {
    seen.call == "claim"
}

#[test]
fn two_hosts_whose_claims_are_collapsed_share_no_id() {
    let (one, other, server) = (Place::new(), Place::new(), Server::new(20_000));
    server.reacts(|seen| if a_claim(seen) { Reaction::Again } else { Reaction::Right });
    let flake = open(&one, &server).unwrap();
    let (mut made, mut last) = (flake.take(5_000).unwrap(), 0);
    let error = open(&other, &server).unwrap_err();
    assert_eq!(error.code(), Code::SourceInvalid, "{error}");
    assert!(error.message().contains("has the instance of another request"), "{error}");
    has_nothing(&other, &server);
    // Once nothing stands between: another worker id.
    server.reacts(|_| Reaction::Right);
    let theirs = open(&other, &server).unwrap();
    assert_eq!((flake.worker_id().unwrap(), theirs.worker_id().unwrap()), (0, 1));
    made.extend(theirs.take(5_000).unwrap());
    made.extend(flake.take(5_000).unwrap());
    assert!(sorted_and_distinct(made));
    assert_eq!(ids(&theirs, &server, Duration::from_millis(50), &mut last), [""; 0]);
}

#[test]
fn a_forked_child_is_not_served_by_its_parent_s_answer() {
    let (place, server) = (Place::new(), Server::new(20_000));
    let flake = open(&place, &server).unwrap();
    let before = flake.next().unwrap();
    server.reacts(|seen| if a_claim(seen) { Reaction::Again } else { Reaction::Right });
    for _ in 0..2 {
        let refused = in_child(plain_fork, |say| {
            say(flake.next().unwrap_or_else(|error| i64::from(error.code() == Code::SourceInvalid)));
        });
        assert_eq!(refused, [1]);
    }
    let claims = server.seen("claim");
    let instances: BTreeSet<_> = claims.iter().map(|seen| seen.body["instance"].to_string()).collect();
    assert!(instances.len() >= 3, "a claim of its own for each process: {instances:?}");
    assert_eq!(server.seen("release").len(), 0, "it is their parent's");
    assert!(flake.next().unwrap() > before);
}

/// Waits for a renewal that failed. Answers what it said.
fn failed_renewal(flake: &Snowflake, server: &Server, last: &mut i64) -> String {
    let begun = Instant::now();
    loop {
        ids(flake, server, Duration::from_millis(10), last);
        match flake.stats().unwrap().last_error {
            Some(error) if error.contains("renew") => return error,
            _ => assert!(begun.elapsed() < HANG, "no renewal failed"),
        }
    }
}

#[test]
fn a_renewal_s_answer_without_its_nonce_is_no_renewal() {
    std::thread::scope(|scope| {
        for (nonce, says) in [
            (Value::Null, "the answer does not repeat the nonce of its request"),
            (json!("0123456789abcdef0123456789abcdef"), "has the nonce of another request"),
            (json!(7), "has a nonce that is not text"),
        ] {
            scope.spawn(move || {
                let (place, server) = (Place::new(), Server::new(2 * LEASE_MS));
                let flake = open(&place, &server).unwrap();
                let (mut last, until_ms) = (0, flake.stats().unwrap().lease_until_ms.unwrap());
                let wrong = json!({"nonce": nonce});
                server.reacts(move |_| Reaction::But(wrong.clone()));
                let said = failed_renewal(&flake, &server, &mut last);
                assert!(said.contains(says), "{said}");
                assert!(!said.contains("token-"), "only its holder may see a token: {said}");
                says_what_to_do(&said, "nonce");
                assert_eq!(flake.stats().unwrap().lease_until_ms, Some(until_ms), "nothing of it is used");
                let file = place.dir.path().join(&place.name).join("worker-0.lease");
                assert_eq!(newest(&file)["held"]["until_ms"], json!(until_ms), "nor remembered");
            });
        }
    });
}
