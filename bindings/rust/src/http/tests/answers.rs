//! Tests of the requests, and of the responses that are accepted.

use super::super::HttpOptions;
use super::fake_server::{FakeServer, ManualPool, Reaction, Seen, fetch, http, options, source, start};
use super::tls::Authority;
use crate::hang::HANG;
use leafid_core::{Code, Fetched, Segment};
use std::time::{Duration, Instant};

#[test]
fn a_request_and_its_answer() {
    let server = FakeServer::right();
    let mut options = options(&[server.url() + "/ids/"]);
    options.servers.token = Some("secret".into());
    options.servers.headers = vec![("X-Team".into(), "orders".into())];
    let source = ManualPool::new(options);
    // The fake server repeats the tag as it is in the path.
    assert_eq!(source.range(true, ("a/b é.", 0, 7), 1).unwrap_err().code(), Code::SourceInvalid);
    let nonce = u128::MAX;
    source.advance(400);
    let fetched = source.range(true, ("order", 500, 900), nonce).unwrap();
    let segment = Segment::new(2_000, 3_000, 1).unwrap();
    assert_eq!(fetched, Fetched { segment, step: Some(1_000) });
    let seen = server.seen();
    assert_eq!(seen[0].path, "/ids/api/segment/range/a%2Fb%20%C3%A9.");
    assert!(!seen[0].query.contains_key("step"));
    let Seen { method, path, query, headers, .. } = &seen[1];
    assert_eq!((method.as_str(), path.as_str()), ("POST", "/ids/api/segment/range/order"));
    let asked = ["step", "after", "nonce"].map(|name| query[name].as_str());
    assert_eq!(asked, ["500", "900", "ffffffffffffffffffffffffffffffff"]);
    let sent = ["authorization", "x-team", "content-length", "host"].map(|name| headers[name].as_str());
    assert_eq!(sent, ["Bearer secret", "orders", "0", &server.address.to_string()]);
    assert!(!headers.contains_key("accept-encoding"), "{headers:?}");
    let (version, host) = (env!("CARGO_PKG_VERSION"), crate::os::hostname::hostname());
    let asks = format!("leafid/{version} (host {host}; pid {})", std::process::id());
    assert_eq!(headers["user-agent"], asks, "a server shows who holds a worker id");
}

#[test]
fn right_answers_of_other_shapes() {
    let chunked = |seen: &Seen| {
        let body = seen.body();
        let (first, second) = body.split_at(7);
        let body = format!("7\r\n{first}\r\n{:x}\r\n{second}\r\n0\r\n\r\n", second.len());
        Reaction::Bytes(format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}").into())
    };
    let server = FakeServer::new(chunked);
    let source_of_chunks = source(&[&server]);
    assert_eq!(start(fetch(&source_of_chunks, "order")), 1_000);
    assert_eq!(start(fetch(&source_of_chunks, "order")), 2_000);
    assert_eq!(server.seen()[1].connection, 1, "the connection is kept");
}

/// The code and the message of a failed fetch. The message always contains the URL.
fn refused(react: impl Fn(&Seen) -> Reaction + Send + Sync + 'static) -> (Code, String) {
    let server = FakeServer::new(react);
    let error = fetch(&source(&[&server]), "order").unwrap_err();
    let url = server.url() + "/api/segment/range/order ";
    assert!(error.message().starts_with(&url), "{error}");
    (error.code(), error.message().strip_prefix(&url).unwrap().to_owned())
}

/// The correct response with more bytes behind it. With bare digits, the end of the number would be missing.
fn longer(seen: &Seen) -> Reaction {
    let mut bytes = http("200 OK", "", &seen.body());
    bytes.extend(b"0");
    Reaction::Bytes(bytes)
}

#[test]
fn an_answer_that_goes_on_after_its_end() {
    let (code, message) = refused(longer);
    assert_eq!(code, Code::SourceInvalid);
    assert!(message.contains("continues after its end"), "{message}");
    let authority = Authority::new();
    let server = authority.server(&["localhost"], |_| {}, longer);
    let url = format!("https://localhost:{}", server.address.port());
    let options = HttpOptions { ca_file: Some(authority.file()), ..options(&[url]) };
    let error = fetch(&ManualPool::new(options), "order").unwrap_err();
    assert!(error.message().contains("continues after its end"), "{error}");
}

#[test]
fn wrong_frames() {
    type Make = fn(&Seen) -> Vec<u8>;
    let bytes: [(Make, Code, &str); 16] = [
        (|seen| http("200 OK", "Age: 0\r\n", &seen.body()), Code::SourceInvalid, "cache (Age: \"0\")"),
        (|seen| plain("", &seen.body()), Code::SourceInvalid, "does not say where it ends"),
        (|_| plain("", "7"), Code::SourceInvalid, "does not say where it ends"),
        (|seen| plain("Content-Length: 500\r\n", &seen.body()), Code::SourceInvalid, "ends before its end"),
        (|seen| plain("Content-Length: 9\r\n", &seen.body()), Code::SourceInvalid, "continues after its end"),
        (|seen| plain("Content-Length: x\r\n", &seen.body()), Code::SourceInvalid, "is not HTTP"),
        (|seen| http("200 OK", "Content-Length: 3\r\n", &seen.body()), Code::SourceInvalid, "is not HTTP"),
        (
            |seen| http("200 OK", "Transfer-Encoding: chunked\r\n", &seen.body()),
            Code::SourceInvalid,
            "gives its end in two ways",
        ),
        (
            |seen| plain("Transfer-Encoding: gzip, chunked\r\n", &seen.body()),
            Code::SourceInvalid,
            "an unknown one",
        ),
        (
            |_| plain("Transfer-Encoding: chunked\r\n", "5\r\n{\"tag\r\n"),
            Code::SourceInvalid,
            "ends before its end",
        ),
        (
            |_| plain("Transfer-Encoding: chunked\r\n", "zz\r\nab\r\n0\r\n\r\n"),
            Code::SourceInvalid,
            "is not framed as HTTP requires",
        ),
        (
            |seen| http("200 OK", "", &(seen.body() + &" ".repeat(10_000_000))),
            Code::SourceInvalid,
            "longer than 65536",
        ),
        (
            |_| b"HTTP/1.1 200 OK\nContent-Length: 4\r\n\r\n1000".to_vec(),
            Code::SourceInvalid,
            "a line ends with LF alone",
        ),
        // It has no chunks: such a response would end with the connection. RFC 9112, section 6.1
        (
            |seen| {
                let head = "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
                (head.to_owned() + &seen.body()).into_bytes()
            },
            Code::SourceInvalid,
            "HTTP/1.0 does not know",
        ),
        (|_| b"SSH-2.0-OpenSSH\r\n\r\n".to_vec(), Code::SourceInvalid, "a response that is not HTTP"),
        (|_| Vec::new(), Code::SegmentUnavailable, "closed the connection without an answer"),
    ];
    for (make, code, said) in bytes {
        let begun = Instant::now();
        let (got, message) = refused(move |seen| Reaction::Last(make(seen)));
        assert_eq!(got, code, "{message}");
        assert!(message.contains(said), "{said}: {message}");
        assert!(message.len() < 500, "{message}");
        assert!(begun.elapsed() < HANG / 2, "{message}");
    }
    // If no end is in sight, it waits only a moment for more.
    let begun = Instant::now();
    let (code, _) = refused(|seen| Reaction::Bytes(plain("", &seen.body())));
    assert_eq!(code, Code::SourceInvalid);
    assert!(begun.elapsed() < HANG / 2, "{:?}", begun.elapsed());
    let (_, message) = refused(|_| Reaction::Last(plain(&format!("X: {}\r\n", "a".repeat(40_000)), "")));
    assert!(message.contains("headers that are too long"), "{message}");
}

/// A proxy that reads these otherwise would pass on another id.
#[test]
fn chunks_that_readers_read_differently() {
    for (chunks, said) in [
        ("4;x=y\r\n1000\r\n0\r\n\r\n", "the size of a chunk is not 1 to 8 hexadecimal digits"),
        ("4\r\n1000\r\n0\r\nAge: 1\r\n\r\n", "a trailer follows its last chunk"),
    ] {
        for is_whole in [true, false] {
            let head = |chunks| plain("Transfer-Encoding: chunked\r\n", chunks);
            let (code, message) = refused(move |_| match is_whole {
                true => Reaction::Last(head(chunks)),
                false => Reaction::Drops(head(""), Duration::from_millis(1), chunks.into()),
            });
            assert_eq!(code, Code::SourceInvalid, "{message}");
            assert!(message.contains(said), "{said}: {message}");
        }
    }
}

/// A response whose headers may or may not say where it ends.
fn plain(headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\n{headers}\r\n{body}").into_bytes()
}
