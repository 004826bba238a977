//! Several servers.

use crate::common::{Place, until};
use crate::holding::LEASE_MS;
use crate::server::Server;
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
