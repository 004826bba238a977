//! Requests without a response: what is said of them.

use super::{Subject, World, told};
use leafid_core::http::{HttpProxy, HttpServer, HttpServers, NoResponse, TlsFault};
use std::sync::Arc;

/// What a request for a range to this server says, and what is reported to others about the server.
fn said(server: HttpServer, why: NoResponse<'_>) -> (&'static str, String, String) {
    let mut world = World::new(1);
    world.servers = Arc::new(HttpServers { servers: vec![server], ..(*world.servers).clone() });
    let mut exchange = world.exchange(Subject::Range);
    let (call, _) = world.sent(&mut exchange);
    assert_eq!(world.fail(&mut exchange, call, why, false), None);
    let result = world.over(&mut exchange);
    let (code, message) = told(&result);
    (code, message.to_owned(), world.health.error("other").message().to_owned())
}

#[test]
fn what_is_said_without_a_response() {
    let http = || HttpServer { url: "http://ids:80/x".into(), proxy: None };
    let tls = |fault| NoResponse::Tls(fault, "bad");
    for (why, code, text) in [
        (
            NoResponse::NameTimedOut,
            "segment_unavailable",
            "cannot be reached: its name was not found in connect_timeout_ms; see the name server",
        ),
        (
            NoResponse::ConnectTimedOut,
            "segment_unavailable",
            "cannot be reached: no connection within connect_timeout_ms; see whether it runs, and the firewalls",
        ),
        (
            NoResponse::TimedOut,
            "segment_unavailable",
            "did not answer in time; see whether it is overloaded or this process was stopped, or raise request_timeout_ms",
        ),
        (
            NoResponse::NoAddress,
            "segment_unavailable",
            "cannot be reached: its name has no address; see the URL",
        ),
        (
            NoResponse::Closed,
            "segment_unavailable",
            "closed the connection without an answer; see its log, and if it speaks TLS there, write https://",
        ),
        (
            NoResponse::Unconnected("refused"),
            "segment_unavailable",
            "cannot be reached: refused; see whether it runs, and the URL",
        ),
        (
            NoResponse::Io("broken"),
            "segment_unavailable",
            "cannot be reached: broken; see whether it runs, and the URL",
        ),
        (
            NoResponse::NotHttp("bad line"),
            "source_invalid",
            "sent a response that is not HTTP (bad line); if it speaks TLS there, write https://",
        ),
        (
            NoResponse::Ambiguous("two lengths"),
            "source_invalid",
            "sent a response that is framed so that another reader of HTTP may read another one (two lengths): see the \
             server, and the proxies before it",
        ),
        (
            NoResponse::LongHead("16 KiB"),
            "source_invalid",
            "answered with headers that are too long (16 KiB)",
        ),
        (
            NoResponse::Proxy("proxy server responded 403/403"),
            "segment_unavailable",
            "cannot be reached: proxy server responded 403/403 to CONNECT",
        ),
        (
            NoResponse::Fetch("Failed to fetch"),
            "segment_unavailable",
            "cannot be reached: Failed to fetch; see whether it runs, and in a browser whether it allows this origin (CORS)",
        ),
        (NoResponse::Other("bad"), "segment_unavailable", "cannot be reached: bad"),
        (
            tls(TlsFault::Authority),
            "segment_unavailable",
            "cannot be trusted: bad; set ca_file to the PEM file of the authority that signed its certificate",
        ),
        (
            tls(TlsFault::Name),
            "segment_unavailable",
            "cannot be trusted: bad; the host in `servers` must be a name of its certificate",
        ),
        (
            tls(TlsFault::Time),
            "segment_unavailable",
            "cannot be trusted: bad; renew its certificate, or see this machine's clock",
        ),
        (tls(TlsFault::Certificate), "segment_unavailable", "cannot be trusted: bad; see its certificate"),
        (
            tls(TlsFault::NotTls),
            "segment_unavailable",
            "cannot be trusted: bad; if it speaks plain HTTP there, write http://",
        ),
        (tls(TlsFault::Other), "segment_unavailable", "cannot be trusted: bad; see what TLS it speaks"),
    ] {
        let message = format!("http://ids:80/x/api/segment/range/order {text}");
        assert_eq!(said(http(), why), (code, message, format!("http://ids:80/x {text}")));
    }
    let forked = "http://ids:80/x was asked by the parent of this process";
    assert_eq!(said(http(), NoResponse::Forked), ("segment_unavailable", forked.into(), forked.into()));
}

#[test]
fn what_is_said_of_a_server_with_tls() {
    let https = || HttpServer { url: "HTTPS://ids".into(), proxy: None };
    for (why, text) in [
        (
            NoResponse::ConnectTimedOut,
            "cannot be reached: no connection within connect_timeout_ms; see whether it runs, and the firewalls; if it \
             speaks plain HTTP there, write http://",
        ),
        (
            NoResponse::Closed,
            "closed the connection without an answer; see its log, and if it speaks plain HTTP there, write http://",
        ),
        (
            NoResponse::NotHttp("x"),
            "sent a response that is not HTTP (x); if it speaks plain HTTP there, write http://",
        ),
    ] {
        assert_eq!(said(https(), why).2, format!("HTTPS://ids {text}"));
    }
}

#[test]
fn a_proxy_is_named_without_its_password() {
    let proxy = HttpProxy { url: "http://ann:s3cret@proxy:3128".into(), variable: "HTTP_PROXY" };
    let server = HttpServer { url: "http://bob:s3cret@ids".into(), proxy: Some(proxy) };
    let (_, message, of_server) = said(server, NoResponse::Io("refused"));
    let through = "through the proxy http://…@proxy:3128 (HTTP_PROXY) cannot be reached: refused; see whether it runs, and \
                   the URL; if the proxy is not meant for it, list it in NO_PROXY";
    assert_eq!(message, format!("http://…@ids/api/segment/range/order {through}"));
    assert_eq!(of_server, format!("http://…@ids {through}"));
}

/// A program that is not HTTP at all says nothing about the lease.
#[test]
fn what_is_no_http_is_no_lease_server() {
    for of in [Subject::Claim, Subject::Renewal, Subject::Release] {
        let mut world = World::new(1);
        let mut exchange = world.exchange(of);
        let (call, _) = world.sent(&mut exchange);
        world.fail(&mut exchange, call, NoResponse::NotHttp("SSH"), false);
        assert_eq!(told(&world.over(&mut exchange)).0, "worker_lost", "{of:?}");
    }
}
