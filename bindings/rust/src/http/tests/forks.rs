//! Tests of forks: a child has its own connections, and writes nothing on its parent's.

use super::fake_server::{FakeServer, ManualPool, Seen, fetch, source, start};
use super::tls::Authority;
use crate::os::child::in_child;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

fn two_processes(server: &FakeServer, source: ManualPool) {
    assert_eq!(start(fetch(&source, "order")), 1_000);
    // A handle that the child drops, as it would at its exit.
    let mut source = Some(source);
    let ended_well = in_child(|| {
        let source = source.take().unwrap();
        let fetched = (0..2).all(|_| fetch(&source, "order").is_ok());
        source.close_idle();
        drop(source);
        fetched
    });
    assert!(ended_well());
    let source = source.unwrap();
    assert_eq!(start(fetch(&source, "order")), 4_000);
    let connections: Vec<_> = server.seen().iter().map(|seen| seen.connection).collect();
    assert_eq!(connections, [1, 2, 2, 1], "the parent's connection is as it was");
    // A child that does nothing holds no copy of it.
    let (mut told, mut tell) = std::io::pipe().unwrap();
    let ended_well = in_child(move || told.read_exact(&mut [0]).is_ok());
    source.close_idle();
    assert_eq!(server.ended(2), 2, "the parent's connection is closed though its child lives");
    tell.write_all(&[0]).unwrap();
    assert!(ended_well());
}

/// Whatever the other threads do during the fork, the child can send requests.
#[test]
fn forks_while_other_threads_ask() {
    let authority = Authority::new();
    let tls = authority.server(&["localhost"], |_| (), Seen::right);
    let plain = FakeServer::right();
    let sources = [source(&[&plain]), authority.source(format!("https://localhost:{}", tls.address.port()))];
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for source in &sources {
            for tag in ["a", "b"] {
                scope.spawn(|| {
                    while !done.load(SeqCst) {
                        fetch(source, tag).unwrap();
                        // From time to time a new connection is needed.
                        source.close_idle();
                    }
                });
            }
        }
        let children: Vec<_> = (0..20)
            .map(|_| {
                std::thread::sleep(Duration::from_millis(3));
                in_child(|| sources.iter().all(|source| fetch(source, "c").is_ok()))
            })
            .collect();
        let ended_well = children.into_iter().map(|child| child()).filter(|&well| well).count();
        done.store(true, SeqCst);
        assert_eq!(ended_well, 20);
    });
}

#[test]
fn plain() {
    let server = FakeServer::right();
    let source = source(&[&server]);
    two_processes(&server, source);
}

#[test]
fn tls() {
    let authority = Authority::new();
    let server = authority.server(&["127.0.0.1"], |_| (), Seen::right);
    let source = authority.source(format!("https://{}", server.address));
    two_processes(&server, source);
}
