//! Tests of connections: kept after correct responses, closed after anything else; and of time limits.

use super::fake_server::{
    FakeServer, ManualPool, Reaction, Seen, brisk, fetch, http, options, source, start,
};
use crate::hang::HANG;
use leafid_core::Code;
use leafid_core::http::LateEnd;
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

fn connections(server: &FakeServer) -> Vec<usize> {
    server.seen().iter().map(|seen| seen.connection).collect()
}

#[test]
fn right_answers_keep_the_connection_and_others_do_not() {
    let unknown = r#"{"error":"unknown_tag","message":""}"#;
    let server = FakeServer::new(move |seen| match seen.number {
        3 => Reaction::Bytes(http("404 None", "", unknown)),
        5 => Reaction::Bytes(http("200 OK", "", &seen.body().replace(r#""nonce":""#, r#""nonce":"0"#))),
        7 => Reaction::Bytes(http("500 Oops", "", "")),
        9 => Reaction::Bytes(http("200 OK", "Connection: close\r\n", &seen.body())),
        // More than was requested.
        11 => Reaction::Bytes([http("200 OK", "", &seen.body()), http("200 OK", "", &seen.body())].concat()),
        _ => seen.right(),
    });
    let source = source(&[&server]);
    for number in 1..=12 {
        let fetched = fetch(&source, "order");
        assert_eq!(fetched.is_ok(), ![3, 5, 7, 11].contains(&number), "{number}");
        if fetched.is_err_and(|error| error.code() != Code::UnknownTag) {
            source.advance(400);
        }
    }
    assert_eq!(connections(&server), [1, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5]);
    source.close_idle();
    assert_eq!(server.ended(5), 5, "what is kept is closed");
}

#[test]
fn a_connection_on_which_something_came_unasked_is_not_used() {
    let read = Arc::new(Barrier::new(2));
    let later = Arc::clone(&read);
    let server = FakeServer::new(move |seen| match seen.number {
        1 => {
            let right = http("200 OK", "", &seen.body());
            Reaction::Twice(right.clone(), Arc::clone(&later), right)
        }
        _ => seen.right(),
    });
    let source = source(&[&server]);
    assert_eq!(start(fetch(&source, "order")), 1_000);
    read.wait();
    assert_eq!(server.sent(1), 1);
    assert_eq!(start(fetch(&source, "order")), 2_000);
    assert_eq!(connections(&server), [1, 2]);
}

/// Rule H23.
#[test]
fn a_late_answer_is_never_read_for_another_tag() {
    let failed = Arc::new(Barrier::new(2));
    let later = Arc::clone(&failed);
    let late = move |seen: &Seen| match seen.tag() {
        "slow" => {
            // A second response too, which would fit a reader that is one response behind.
            let other = seen.body().replace("slow", "order");
            let both = [http("200 OK", "", &seen.body()), http("200 OK", "", &other)].concat();
            Reaction::Late(Arc::clone(&later), both)
        }
        _ => seen.right(),
    };
    let server = FakeServer::new(late);
    let mut source = source(&[&server]);
    assert_eq!(start(fetch(&source, "order")), 1_000);
    source.settings.request_timeout = Duration::from_secs(3);
    let error = fetch(&source, "slow").unwrap_err();
    assert_eq!(error.code(), Code::SegmentUnavailable);
    assert!(error.message().contains("did not answer in time"), "{error}");
    failed.wait();
    assert_eq!(server.sent(2), 2);
    source.settings.request_timeout = HANG;
    source.advance(400);
    assert_eq!(start(fetch(&source, "order")), 3_000);
    assert_eq!(connections(&server), [1, 1, 2]);
    assert_eq!(server.ended(1), 1, "the connection that was late is closed");
}

#[test]
fn an_answer_that_comes_drop_by_drop_is_bounded_too() {
    // All of them take three seconds, and each far less than the two seconds of a request.
    let drops = |seen: &Seen| {
        let bytes = http("200 OK", "", &seen.body());
        let (first, last) = bytes.split_at(bytes.len() - 30);
        Reaction::Drops(first.into(), Duration::from_millis(100), last.into())
    };
    let server = FakeServer::new(drops);
    let mut source = source(&[&server]);
    source.settings.request_timeout = Duration::from_secs(2);
    let error = fetch(&source, "order").unwrap_err();
    assert_eq!(error.code(), Code::SegmentUnavailable, "{error}");
    assert!(error.message().contains("did not answer in time"), "{error}");
}

/// The server closes a kept connection while a request is sent. That is not a failure.
#[test]
fn a_connection_that_was_closed_meanwhile_is_replaced() {
    let server = FakeServer::new(|seen| match (seen.connection, seen.number) {
        (1, 2) => Reaction::Last(Vec::new()),
        _ => seen.right(),
    });
    let source = source(&[&server]);
    assert_eq!(start(fetch(&source, "order")), 1_000);
    assert_eq!(start(fetch(&source, "order")), 3_000);
    assert_eq!(connections(&server), [1, 1, 2]);
    let nonces: Vec<_> = server.seen().iter().map(|seen| seen.query["nonce"].clone()).collect();
    assert_ne!(nonces[1], nonces[2], "asked again, it is another request");
    assert_eq!(source.last_errors()[0], None);
}

#[test]
fn no_more_are_kept_than_connections_says() {
    let together = Barrier::new(4);
    let server = FakeServer::new(move |seen| {
        if seen.number <= 4 {
            together.wait();
        }
        seen.right()
    });
    let mut options = options(&[server.url()]);
    options.servers.connections = 2;
    let source = ManualPool::new(options);
    std::thread::scope(|scope| {
        for tag in ["a", "b", "c", "d"] {
            let source = &source;
            scope.spawn(move || fetch(source, tag).unwrap());
        }
    });
    assert_eq!(server.ended(2), 2);
    fetch(&source, "e").unwrap();
    assert!(server.seen()[4].connection <= 4);
}

/// No response at all: a full queue of connections that are not accepted.
#[test]
fn a_connect_that_hangs_is_bounded() {
    let (address, _full) = hanging_address();
    let begun = Instant::now();
    let source = brisk(&[format!("http://{address}")]);
    let error = fetch(&source, "order").unwrap_err();
    assert_eq!(error.code(), Code::SegmentUnavailable);
    assert!(error.message().contains("no connection within connect_timeout_ms"), "{error}");
    assert!(begun.elapsed() >= Duration::from_millis(990), "{:?}", begun.elapsed());
}

/// An address at which the kernel drops new connections, as long as the second value exists.
pub(super) fn hanging_address() -> (std::net::SocketAddr, impl Sized) {
    let (family, kind) = (rustix::net::AddressFamily::INET, rustix::net::SocketType::STREAM);
    let listener = rustix::net::socket(family, kind, None).unwrap();
    rustix::net::bind(&listener, &"127.0.0.1:0".parse::<std::net::SocketAddr>().unwrap()).unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    let address = std::net::TcpListener::from(listener);
    let at = address.local_addr().unwrap();
    let short = Duration::from_millis(500);
    let full: Vec<_> = (0..4).map_while(|_| std::net::TcpStream::connect_timeout(&at, short).ok()).collect();
    (at, (address, full))
}

#[test]
fn a_refused_connection_is_reported_at_once() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for host in ["127.0.0.1", "localhost"] {
        let source = ManualPool::new(options(&[format!("http://{host}:{port}")]));
        let error = fetch(&source, "order").unwrap_err();
        assert_eq!(error.code(), Code::SegmentUnavailable);
        assert!(error.message().contains("cannot be reached: Connection refused"), "{error}");
    }
}

#[test]
fn a_claim_is_kept_only_if_it_may_have_been_sent() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let absent = ManualPool::new(options(&[format!("http://127.0.0.1:{port}")]));
    assert_eq!(absent.claim(), LateEnd::Nothing);
    // On a new connection, and on one that was kept.
    let server = FakeServer::new(|seen| match seen.number {
        1 => Reaction::Bytes(http("200 OK", "", &seen.body())),
        _ => Reaction::Last(Vec::new()),
    });
    let closes = source(&[&server]);
    assert_eq!(start(fetch(&closes, "order")), 1_000);
    for _ in 0..2 {
        assert!(matches!(closes.claim(), LateEnd::Unanswered(_)));
    }
}

#[test]
fn a_name_is_looked_up_and_one_that_is_none_is_said() {
    let server = FakeServer::right();
    let source = ManualPool::new(options(&[format!("http://localhost:{}", server.address.port())]));
    assert_eq!(start(fetch(&source, "order")), 1_000);
    // RFC 6761: never a name.
    let source = brisk(&["http://no-such-host.invalid".into()]);
    let error = fetch(&source, "order").unwrap_err();
    assert_eq!(error.code(), Code::SegmentUnavailable, "{error}");
    assert!(error.message().contains("http://no-such-host.invalid/api"), "{error}");
}

#[test]
fn close_ends_the_requests_under_way() {
    let server = FakeServer::new(|_| Reaction::Nothing);
    let source = source(&[&server]);
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let fetching = scope.spawn(|| fetch(&source, "order"));
        while server.seen().is_empty() {
            std::thread::sleep(Duration::from_millis(5));
        }
        source.close();
        assert!(fetching.join().unwrap().is_err());
    });
    assert!(begun.elapsed() < HANG / 2, "{:?}", begun.elapsed());
    assert!(fetch(&source, "order").is_err());
    assert_eq!(server.seen().len(), 1);
}
