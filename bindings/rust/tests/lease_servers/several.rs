//! Several servers.

use crate::common::{Place, until};
use crate::holding::LEASE_MS;
use crate::request::Reaction;
use crate::server::Server;
use leafid::Code;
use serde_json::json;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// An address at which the kernel drops what asks for a connection, for as long as the rest is kept.
fn hanging_address() -> (SocketAddr, impl Sized) {
    let flags = rustix::net::SocketFlags::CLOEXEC;
    let (family, kind) = (rustix::net::AddressFamily::INET, rustix::net::SocketType::STREAM);
    let listener = rustix::net::socket_with(family, kind, flags, None).unwrap();
    rustix::net::bind(&listener, &"127.0.0.1:0".parse::<SocketAddr>().unwrap()).unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    let listener = TcpListener::from(listener);
    let at = listener.local_addr().unwrap();
    let short = Duration::from_millis(500);
    let full: Vec<_> = (0..4).map_while(|_| TcpStream::connect_timeout(&at, short).ok()).collect();
    (at, (listener, full))
}

#[test]
fn one_dead_among_three_costs_one_connect_timeout_once() {
    let (place, server) = (Place::new(), Server::new(LEASE_MS));
    let (dead, _full) = hanging_address();
    let urls = format!("http://{dead} , {}, http://127.0.0.1:9", server.url());
    let begun = Instant::now();
    let builder = place.builder().worker(urls).connect_timeout_ms(3_000).request_timeout_ms(60_000);
    let flake = builder.open().unwrap();
    let took = begun.elapsed();
    assert!((Duration::from_millis(2_990)..Duration::from_secs(29)).contains(&took), "{took:?}");
    // Renewals come when they are due: the dead one is not asked before.
    until("renewals", || server.seen("renew").len() >= 2);
    assert_eq!(flake.stats().unwrap().renewal_failures, 0);
    assert_eq!(server.seen("claim").len(), 1);
    flake.close().unwrap();
    assert_eq!(server.seen("release").len(), 1);
}

#[test]
fn all_tries_of_a_claim_are_one_instance() {
    let (place, first, second) = (Place::new(), Server::new(20_000), Server::new(20_000));
    first.reacts(|_| Reaction::Lost);
    let flake = place.builder().worker(vec![first.url(), second.url()]).open().unwrap();
    let instance = |server: &Server| server.seen("claim")[0].body["instance"].clone();
    assert_eq!(instance(&first), instance(&second));
    flake.close().unwrap();
    assert_eq!(second.seen("release").len(), 1, "the first one rests");
}

#[test]
fn a_wrong_answer_has_the_next_one_asked_and_a_refusal_has_not() {
    for (status, error, asked) in [
        (500, "state_io", true),
        (404, "unknown_tag", true),
        (401, "who", true),
        (200, "none", true),
        (409, "worker_in_use", false),
        (400, "invalid_argument", false),
    ] {
        let (place, first, second) = (Place::new(), Server::new(20_000), Server::new(20_000));
        let body = json!({"error": error, "message": "m"}).to_string();
        first.reacts(move |_| Reaction::Say(status, body.clone()));
        let opened = place.builder().worker([first.url().as_str(), second.url().as_str()]).open();
        assert_eq!((opened.is_ok(), second.seen("claim").len()), (asked, usize::from(asked)), "{status}");
    }
}

#[test]
fn a_renewal_that_is_refused_is_not_asked_elsewhere() {
    let (place, first, second) = (Place::new(), Server::new(LEASE_MS), Server::new(LEASE_MS));
    let flake = place.builder().worker(vec![first.url(), second.url()]).open().unwrap();
    first.steal(0);
    until("another claim", || first.seen("claim").len() >= 2);
    flake.next().unwrap();
    let body = json!({"error": "invalid_argument", "message": "until is no number"}).to_string();
    first.reacts(move |_| Reaction::Say(400, body.clone()));
    let said = || flake.stats().unwrap().last_error.unwrap_or_default();
    until("the refusal", || said().contains("until is no number"));
    first.reacts(|_| Reaction::Right);
    assert_eq!((second.seen("renew").len(), second.seen("claim").len()), (0, 0));
    flake.close().unwrap();
}

#[test]
fn no_server_among_several() {
    let place = Place::new();
    let error = place.builder().worker("http://127.0.0.1:9,http://127.0.0.1:1").open().unwrap_err();
    assert_eq!(error.code(), Code::WorkerLost);
    for said in [
        "no lease server can be reached",
        "no cached lease is still valid here",
        "127.0.0.1:1/api/worker/claim",
    ] {
        assert!(error.message().contains(said), "{error}");
    }
}
