//! One request to one server, and its response.

use super::deadline::{Deadlines, Exchange};
use super::request::{Body, Request, Verdict};
use super::settings::Settings;
use leafid_core::{Code, Error, ServerFailure};
use rustls::CertificateError;
use serde::Deserialize;
use std::io::{self, Read};
use std::time::Duration;
use ureq::http::{HeaderMap, HeaderValue, StatusCode, Version, header};
use ureq::{Agent, Timeout};

/// No correct response is longer.
const LARGEST_BODY: u64 = 64 * 1024;
/// The number of characters of a body that messages quote.
const QUOTED: usize = 100;
/// How long to wait for the text of a response without an end.
const HURRY: Duration = Duration::from_millis(100);

/// A response, correct or not.
pub(crate) struct Response {
    /// The requested URL without its query.
    pub(crate) url: String,
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
    location: Option<String>,
    /// An error in the head of the response.
    flaw: Option<String>,
    /// The user's option that names the server.
    option: &'static str,
}

/// A request without a response.
pub(super) struct Failed {
    pub(super) failure: ServerFailure,
    /// The connection was kept from before, and the server has closed it: the server may not have seen the request.
    pub(super) is_stale: bool,
}

impl Failed {
    pub(super) fn unanswered(error: Error, of_server: Error) -> Failed {
        let failure = ServerFailure { error, of_server, is_whole: true, is_denied: false };
        Failed { failure, is_stale: false }
    }
}

/// Sends one request. The exchange ends when it is dropped; if it is proven, its connection serves again. `server` is
/// the part of the URL that all requests to it share.
pub(super) fn ask(
    agent: &Agent,
    url: &str,
    ask: &Request,
    settings: &Settings,
    server: &str,
    bounds: Deadlines,
) -> Result<(Response, Exchange), Failed> {
    let shown = url.split('?').next().unwrap_or(url);
    let exchange = Exchange::begin(bounds);
    let mut request = ureq::http::Request::builder().method(ask.method.clone()).uri(url);
    if let Some(all) = request.headers_mut() {
        all.extend(settings.headers.iter().cloned());
        if let Some(Body { content_type, .. }) = ask.body {
            all.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
        }
    }
    // An empty body is sent with its length, which a POST needs.
    let body = ask.body.as_ref().map_or(&[][..], |body| &body.bytes);
    let answered = request.body(body).map_err(ureq::Error::Http).and_then(|request| agent.run(request));
    match answered {
        Ok(response) => {
            let (head, body) = response.into_parts();
            let location = head.headers.get(header::LOCATION);
            let mut reply = Response {
                url: shown.into(),
                status: head.status.as_u16(),
                body: Vec::new(),
                location: location.map(|to| quoted(to.as_bytes())),
                flaw: flaw(head.version, head.status, &head.headers),
                option: settings.option,
            };
            reply.read(body, &exchange).map_err(|error| {
                let unanswered = |url| unanswered(url, &error, settings.option);
                Failed::unanswered(unanswered(shown), unanswered(server))
            })?;
            if exchange.has_extra_bytes() {
                reply.wrong("goes on after its end (Content-Length is too small)".into());
            }
            Ok((reply, exchange))
        }
        Err(error) => {
            let is_stale = !exchange.is_fresh() && is_disconnected(&error);
            let unanswered = |url| unanswered(url, &error, settings.option);
            Err(Failed { is_stale, ..Failed::unanswered(unanswered(shown), unanswered(server)) })
        }
    }
}

impl Response {
    /// A response without a flaw.
    #[cfg(any(fuzzing, test))]
    pub(crate) fn of(status: u16, body: &[u8]) -> Response {
        let url = "http://127.0.0.1".into();
        Response { url, status, body: body.into(), location: None, flaw: None, option: "servers" }
    }

    fn read(&mut self, body: ureq::Body, exchange: &Exchange) -> Result<(), ureq::Error> {
        if self.flaw.is_some() {
            exchange.shorten(HURRY);
        }
        let mut reader = body.into_reader().take(LARGEST_BODY + 1);
        let ended = reader.read_to_end(&mut self.body);
        if self.body.len() as u64 > LARGEST_BODY {
            self.wrong(format!("is longer than {LARGEST_BODY} bytes"));
        }
        match ended {
            Ok(_) => Ok(()),
            // The bytes that came are enough for the error message.
            Err(_) if self.flaw.is_some() => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                self.wrong("ends before its end".into());
                Ok(())
            }
            Err(error) => match ureq::Error::from(error) {
                ureq::Error::BodyStalled => {
                    self.wrong("ends before its end".into());
                    Ok(())
                }
                error @ ureq::Error::Protocol(_) => {
                    self.wrong(format!("is not framed as HTTP says ({error})"));
                    Ok(())
                }
                error => Err(error),
            },
        }
    }

    fn wrong(&mut self, flaw: String) {
        self.flaw.get_or_insert(flaw);
    }

    /// The URL, the status and the first characters of the body.
    pub(crate) fn said(&self) -> String {
        match self.body.is_empty() {
            true => format!("{} answered {} without a body", self.url, self.status),
            false => format!("{} answered {} {}", self.url, self.status, quoted(&self.body)),
        }
    }

    /// The error of a failed response, whatever was requested; `None` if the body has to be checked.
    pub(crate) fn failure(&self) -> Option<Error> {
        let unavailable =
            |advice: &str| Some(Error::new(Code::SegmentUnavailable, format!("{}; {advice}", self.said())));
        match self.status {
            300..=399 => {
                let to = self.location.as_deref().unwrap_or("nowhere");
                Some(self.invalid(&format!(
                    "redirects to {to}, which is not followed: put that into `{}`",
                    self.option
                )))
            }
            401 | 403 => unavailable("see `token` and `headers`"),
            408 | 429 | 500.. => unavailable("it is asked again later; see the server's log"),
            _ => self.flaw.as_ref().map(|flaw| self.invalid(flaw)),
        }
    }

    /// Whether the failure is independent of the request: the server, or a proxy in front of it, is busy or broken.
    pub(super) fn is_of_server(&self) -> bool {
        matches!(self.status, 408 | 429 | 500..)
    }

    /// The error for callers that requested something else from this server.
    pub(super) fn of_server(&self, server: &str, code: Code) -> Error {
        let advice = match self.status {
            401 | 403 => "see `token` and `headers`",
            300..=399 | 404 | 405 => "see its URL, and `protocol`",
            200..=299 => "see what answers there",
            _ => "it is asked again later; see its log",
        };
        Error::new(code, format!("{server} answered {} to other requests; {advice}", self.status))
    }

    /// The verdict on a wrong response with this error: `Denied` if its status says that the server does not want the
    /// request.
    pub(crate) fn wrongly<T>(&self, error: Error) -> Verdict<T> {
        match self.status {
            408 | 409 | 425 | 429 => Verdict::BadServer(error),
            300..=499 if self.flaw.is_none() => Verdict::Denied(error),
            _ => Verdict::BadServer(error),
        }
    }

    /// Parses the body as a JSON object. An array that lists the values would also be accepted by serde.
    pub(crate) fn object<'a, T: Deserialize<'a>>(&'a self) -> std::result::Result<T, String> {
        if self.body.trim_ascii_start().first() != Some(&b'{') {
            return Err("it is no JSON object".into());
        }
        // The error may contain a value of the response, which may be long.
        serde_json::from_slice(&self.body).map_err(|error| error.to_string().chars().take(QUOTED).collect())
    }

    /// `source_invalid` for a response with a flaw, whatever its status.
    pub(crate) fn flawed(&self) -> Option<Error> {
        self.flaw.as_ref().map(|flaw| self.invalid(flaw))
    }

    /// `source_invalid`; `why` completes the sentence "the answer …".
    pub(crate) fn invalid(&self, why: &str) -> Error {
        let message = format!("{}: the answer {why}; no id of it is used", self.said());
        Error::new(Code::SourceInvalid, message)
    }
}

fn flaw(version: Version, status: StatusCode, headers: &HeaderMap) -> Option<String> {
    let count = |name| headers.get_all(name).iter().count();
    let (lengths, encodings) = (count(header::CONTENT_LENGTH), count(header::TRANSFER_ENCODING));
    if let Some(age) = headers.get(header::AGE) {
        let age = quoted(age.as_bytes());
        return Some(format!("comes from a cache (Age: {age}): keep caches from this URL"));
    }
    match (lengths, encodings) {
        (1, 0) => None,
        (0, 1) if version != Version::HTTP_11 => Some("is chunked, which HTTP/1.0 does not know".into()),
        (0, 1) if headers[header::TRANSFER_ENCODING].as_bytes().eq_ignore_ascii_case(b"chunked") => None,
        // It has no body by its status. RFC 9110, section 15.3.5
        (0, 0) if status == StatusCode::NO_CONTENT => None,
        (0, 0) => Some("does not say where it ends (no Content-Length, not chunked)".into()),
        _ => Some(
            "says in two ways, or an unknown one, where it ends (Content-Length, Transfer-Encoding)".into(),
        ),
    }
}

/// The first characters, with invalid bytes escaped.
fn quoted(bytes: &[u8]) -> String {
    // No character has more than four bytes.
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * QUOTED)]);
    let first: String = text.chars().take(QUOTED).collect();
    let more = if bytes.len() > first.len() { "…" } else { "" };
    format!("{first:?}{more}")
}

fn is_disconnected(error: &ureq::Error) -> bool {
    let closed = [
        io::ErrorKind::BrokenPipe,
        io::ErrorKind::ConnectionAborted,
        io::ErrorKind::ConnectionReset,
        io::ErrorKind::UnexpectedEof,
    ];
    matches!(error, ureq::Error::Io(error) if closed.contains(&error.kind()))
}

/// The error of a request without a response, and what to do.
fn unanswered(url: &str, error: &ureq::Error, option: &str) -> Error {
    let is_tls = url.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://"));
    let unavailable = |what: String| Error::new(Code::SegmentUnavailable, format!("{url} {what}"));
    let other_scheme = match is_tls {
        true => "if it speaks plain HTTP there, write http://",
        false => "if it speaks TLS there, write https://",
    };
    match error {
        ureq::Error::Timeout(Timeout::Resolve) => unavailable(
            "cannot be reached: its name was not found in connect_timeout_ms; see the name server".into(),
        ),
        ureq::Error::Timeout(Timeout::Connect) => {
            let also = if is_tls { format!("; {other_scheme}") } else { String::new() };
            unavailable(format!(
                "cannot be reached: no connection within connect_timeout_ms; see whether it runs, and the firewalls{also}"
            ))
        }
        ureq::Error::Timeout(_) => unavailable(
            "did not answer in time; see whether it is overloaded, or raise request_timeout_ms".into(),
        ),
        ureq::Error::Protocol(error) => Error::new(
            Code::SourceInvalid,
            format!("{url} answered what is no HTTP ({error}); {other_scheme}"),
        ),
        ureq::Error::LargeResponseHeader(..) => Error::new(
            Code::SourceInvalid,
            format!("{url} answered with headers that are too long ({error})"),
        ),
        ureq::Error::Io(inner) => match tls_error(inner) {
            Some(tls) => unavailable(format!("cannot be trusted: {tls}; {}", tls_advice(tls, option))),
            None if is_disconnected(error) => unavailable(format!(
                "closed the connection without an answer; see its log, and {other_scheme}"
            )),
            None => unavailable(format!("cannot be reached: {inner}; see whether it runs, and the URL")),
        },
        ureq::Error::Rustls(tls) => {
            unavailable(format!("cannot be trusted: {tls}; {}", tls_advice(tls, option)))
        }
        ureq::Error::HostNotFound => {
            unavailable("cannot be reached: its name has no address; see the URL".into())
        }
        error => unavailable(format!("cannot be reached: {error}")),
    }
}

fn tls_error(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref()?.downcast_ref()
}

fn tls_advice(error: &rustls::Error, option: &str) -> String {
    let advice = match error {
        rustls::Error::InvalidCertificate(wrong) => match wrong {
            // A bad signature is that of another authority of the same name.
            CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                "set ca_file to the PEM file of the authority that signed its certificate"
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                return format!("the host in `{option}` must be a name of its certificate");
            }
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. } => {
                "renew its certificate, or see this machine's clock"
            }
            _ => "see its certificate",
        },
        rustls::Error::InvalidMessage(_) => "if it speaks plain HTTP there, write http://",
        _ => "see what TLS it speaks",
    };
    advice.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quoted_is_short_and_has_no_control_characters() {
        assert_eq!(quoted(b"<html>\r\n\x1b[2J\"\xff"), "\"<html>\\r\\n\\u{1b}[2J\\\"\u{fffd}\"");
        assert_eq!(quoted("é".repeat(100).as_bytes()), format!("\"{}\"", "é".repeat(100)));
        assert_eq!(quoted("é".repeat(101).as_bytes()), format!("\"{}\"…", "é".repeat(100)));
    }
}
