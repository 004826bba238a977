//! A request without a response: what was wrong, and what to do.

use super::frame::BodyEnd;
use super::http_servers::HttpServer;
use crate::spelling::name::{CA_FILE, CONNECT_TIMEOUT_MS, REQUEST_TIMEOUT_MS};
use crate::{Code, Error};
use alloc::format;
use alloc::string::String;

/// Why no response came. A text says what the system, or a library of the host, reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoResponse<'a> {
    /// The name of the server was not found in time.
    NameTimedOut,
    /// The connection, with its TLS, was not made in time.
    ConnectTimedOut,
    /// The response did not end in time.
    TimedOut,
    /// The name of the server has no address.
    NoAddress,
    /// The connection was closed, or reset, before a response.
    Closed,
    /// TLS failed.
    Tls(TlsFault, &'a str),
    /// No connection was made, as where it is refused or the network is not there.
    Unconnected(&'a str),
    /// Reading or writing failed.
    Io(&'a str),
    /// What came is not HTTP.
    NotHttp(&'a str),
    /// Readers of HTTP read the head of the response differently, as [`FrameCheck`](super::FrameCheck) reported.
    Ambiguous(&'a str),
    /// The head of the response is too long.
    LongHead(&'a str),
    /// The proxy made no connection, as "proxy server responded 403/403".
    Proxy(&'a str),
    /// The platform's `fetch` failed, which does not say more.
    Fetch(&'a str),
    /// The call belongs to the parent of this process.
    Forked,
    /// Anything else.
    Other(&'a str),
}

/// Why TLS failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsFault {
    /// No trusted authority has signed the certificate, or another one of the same name has.
    Authority,
    /// The certificate is of another name.
    Name,
    /// The certificate is too old or too new.
    Time,
    /// Anything else is wrong with the certificate.
    Certificate,
    /// What came is not TLS.
    NotTls,
    /// Anything else.
    Other,
}

impl NoResponse<'_> {
    /// Whether the server may have got the request.
    pub(super) fn may_be_sent(self) -> bool {
        use TlsFault::{Authority, Certificate, Name, Time};
        !matches!(
            self,
            NoResponse::NameTimedOut
                | NoResponse::ConnectTimedOut
                | NoResponse::NoAddress
                | NoResponse::Unconnected(_)
                | NoResponse::Proxy(_)
                | NoResponse::Tls(Authority | Name | Time | Certificate, _)
                | NoResponse::Forked
        )
    }

    /// The error. `url` is shown for the server; `option` names the servers.
    pub(super) fn error(self, url: &str, server: &HttpServer, option: &str) -> Error {
        let proxied = match server.proxy {
            None => "",
            Some(_) => "; if the proxy is not meant for it, list it in NO_PROXY",
        };
        let unavailable = |what: &str| Error::new(Code::SegmentUnavailable, format!("{url} {what}{proxied}"));
        let invalid = |what: &str| Error::new(Code::SourceInvalid, format!("{url} {what}"));
        let other_scheme = match server.is_tls() {
            true => "if it speaks plain HTTP there, write http://",
            false => "if it speaks TLS there, write https://",
        };
        match self {
            NoResponse::NameTimedOut => unavailable(&format!(
                "cannot be reached: its name was not found in {CONNECT_TIMEOUT_MS}; see the name server"
            )),
            NoResponse::ConnectTimedOut => {
                let also = if server.is_tls() { format!("; {other_scheme}") } else { String::new() };
                unavailable(&format!(
                    "cannot be reached: no connection within {CONNECT_TIMEOUT_MS}; see whether it runs, and the \
                     firewalls{also}"
                ))
            }
            NoResponse::TimedOut => unavailable(&format!(
                "did not answer in time; see whether it is overloaded or this process was stopped, or raise \
                 {REQUEST_TIMEOUT_MS}"
            )),
            NoResponse::NoAddress => unavailable("cannot be reached: its name has no address; see the URL"),
            NoResponse::Closed => unavailable(&format!(
                "closed the connection without an answer; see its log, and {other_scheme}"
            )),
            NoResponse::Tls(fault, told) => {
                unavailable(&format!("cannot be trusted: {told}; {}", fault.advice(option)))
            }
            NoResponse::Unconnected(told) | NoResponse::Io(told) => {
                unavailable(&format!("cannot be reached: {told}; see whether it runs, and the URL"))
            }
            NoResponse::NotHttp(told) => {
                invalid(&format!("sent a response that is not HTTP ({told}); {other_scheme}"))
            }
            NoResponse::Ambiguous(told) => {
                let flaw = BodyEnd::Ambiguous(told).flaw().unwrap_or_default();
                invalid(&format!("sent a response that {flaw}"))
            }
            NoResponse::LongHead(told) => {
                invalid(&format!("answered with headers that are too long ({told})"))
            }
            NoResponse::Proxy(told) => unavailable(&format!("cannot be reached: {told} to CONNECT")),
            NoResponse::Fetch(told) => unavailable(&format!(
                "cannot be reached: {told}; see whether it runs, and in a browser whether it allows this origin (CORS)"
            )),
            NoResponse::Forked => Error::new(
                Code::SegmentUnavailable,
                format!("{} was asked by the parent of this process", server.shown("")),
            ),
            NoResponse::Other(told) => unavailable(&format!("cannot be reached: {told}")),
        }
    }
}

impl TlsFault {
    fn advice(self, option: &str) -> String {
        match self {
            TlsFault::Authority => {
                format!("set {CA_FILE} to the PEM file of the authority that signed its certificate")
            }
            TlsFault::Name => format!("the host in `{option}` must be a name of its certificate"),
            TlsFault::Time => "renew its certificate, or see this machine's clock".into(),
            TlsFault::Certificate => "see its certificate".into(),
            TlsFault::NotTls => "if it speaks plain HTTP there, write http://".into(),
            TlsFault::Other => "see what TLS it speaks".into(),
        }
    }
}
