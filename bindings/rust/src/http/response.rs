//! One request to one server, and its response.

use super::deadline::{Deadlines, Exchange};
use super::settings::{Server, Settings};
use leafid_core::http::{
    BodyEnd, Frame, HURRY, HttpCall, HttpEnd, LARGEST_BODY, NoResponse, ResponseHead, TlsFault,
};
use leafid_core::wire::{Method, Request, Response, quoted};
use leafid_core::{Code, Error, ServerFailure};
use rustls::CertificateError;
use std::io::{self, Read};
use ureq::http::{HeaderValue, Version, header, response};
use ureq::{Agent, Timeout};

/// A request without a response.
pub(super) struct Failed {
    pub(super) failure: ServerFailure,
    /// The connection was kept from before, and the server has closed it: the server may not have seen the request.
    pub(super) is_stale: bool,
}

/// The failure of a request without a response.
pub(super) fn unanswered(error: Error, of_server: Error) -> ServerFailure {
    ServerFailure { error, of_server, is_whole: true, is_denied: false }
}

/// Sends one request. The exchange ends when it is dropped; if it is proven, its connection serves again.
pub(super) fn ask(
    agent: &Agent,
    ask: &Request,
    settings: &Settings,
    server: &Server,
    bounds: Deadlines,
) -> Result<(Response, Exchange), Failed> {
    let path = ask.path.split('?').next().unwrap_or_default();
    let shown = server.url.join(path) + &server.through();
    let of_server = server.to_string();
    let exchange = Exchange::begin(bounds);
    let answered = run(agent, ask, settings, server);
    match answered {
        Ok(response) => {
            let (head, body) = response.into_parts();
            let location = head.headers.get(header::LOCATION);
            let mut reply = Response {
                url: shown.clone(),
                status: head.status.as_u16(),
                body: Vec::new(),
                location: location.map(|to| quoted(to.as_bytes())),
                flaw: flaw(&head),
                option: settings.option,
            };
            read(&mut reply, body, &exchange).map_err(|error| {
                let why = |url| why_unanswered(url, server, &error, settings.option);
                Failed { is_stale: false, failure: unanswered(why(&shown), why(&of_server)) }
            })?;
            if exchange.has_extra_bytes() {
                reply.flaw = reply.flaw.or_else(|| BodyEnd::Continues.flaw());
            }
            Ok((reply, exchange))
        }
        Err(error) => {
            let is_stale = !exchange.is_fresh() && is_disconnected(&error);
            let why = |url| why_unanswered(url, server, &error, settings.option);
            Err(Failed { is_stale, failure: unanswered(why(&shown), why(&of_server)) })
        }
    }
}

/// Sends a request on a connection, and reads the head of the response.
fn run(
    agent: &Agent,
    ask: &Request,
    settings: &Settings,
    server: &Server,
) -> Result<ureq::http::Response<ureq::Body>, ureq::Error> {
    let url = server.join(&ask.path);
    let mut request = match ask.method {
        Method::Get => ureq::http::Request::get(url),
        Method::Post => ureq::http::Request::post(url),
    };
    if let Some(all) = request.headers_mut() {
        all.extend(settings.headers.iter().cloned());
        all.extend(server.proxy_headers());
        if let Some(body) = &ask.body {
            all.insert(header::CONTENT_TYPE, HeaderValue::from_static(body.content_type));
        }
    }
    // An empty body is sent with its length, which a POST needs.
    let body = ask.body.as_ref().map_or(&[][..], |body| body.text.as_bytes());
    request.body(body).map_err(ureq::Error::Http).and_then(|request| agent.run(request))
}

/// Sends the request of a call, reads its response, and ends the call. If the response is correct, its connection serves
/// again.
pub(super) fn send(
    agent: &Agent,
    call: HttpCall,
    request: &Request,
    settings: &Settings,
    bounds: Deadlines,
) -> HttpEnd {
    let server = &settings.servers[call.server];
    let exchange = Exchange::begin(bounds);
    let response = match run(agent, request, settings, server) {
        Ok(response) => response,
        Err(error) => {
            let is_stale = !exchange.is_fresh() && is_disconnected(&error);
            return no_response(call, &error, is_stale);
        }
    };
    let (head, body) = response.into_parts();
    let header = |name| head.headers.get(name).map(HeaderValue::as_bytes);
    let all = |name| head.headers.get_all(name).iter().map(HeaderValue::as_bytes).collect::<Vec<_>>();
    let known = ResponseHead {
        status: head.status.as_u16(),
        location: header(header::LOCATION),
        age: header(header::AGE),
        frame: Frame::Read {
            is_http_1_0: head.version != Version::HTTP_11,
            content_lengths: &all(header::CONTENT_LENGTH),
            transfer_encodings: &all(header::TRANSFER_ENCODING),
        },
    };
    let is_wrong = known.is_wrong();
    if is_wrong || exchange.ambiguity().is_some() {
        exchange.shorten(HURRY);
    }
    let mut bytes = Vec::new();
    let ended = body.into_reader().take(LARGEST_BODY as u64 + 1).read_to_end(&mut bytes);
    let told;
    let end = match (exchange.ambiguity(), ended.map_err(ureq::Error::from)) {
        // The bytes that came are enough for the error message.
        (None, Err(_)) if is_wrong => BodyEnd::Early,
        (_, Err(error @ ureq::Error::Protocol(_))) => {
            told = error.to_string();
            BodyEnd::Unframed(&told)
        }
        (Some(what), _) => BodyEnd::Ambiguous(what),
        (None, _) if bytes.len() > LARGEST_BODY => BodyEnd::Long,
        (None, Ok(_)) if exchange.has_extra_bytes() => BodyEnd::Continues,
        (None, Ok(_)) => BodyEnd::There,
        (None, Err(ureq::Error::BodyStalled)) => BodyEnd::Early,
        (None, Err(ureq::Error::Io(error))) if error.kind() == io::ErrorKind::UnexpectedEof => BodyEnd::Early,
        (None, Err(error)) => return no_response(call, &error, false),
    };
    let response = call.response(&known, bytes, end);
    let (end, keeps) = call.end(&response);
    if keeps {
        exchange.prove();
    }
    end
}

/// Ends a call whose response did not come.
fn no_response(call: HttpCall, error: &ureq::Error, is_stale: bool) -> HttpEnd {
    let tls = match error {
        ureq::Error::Io(inner) => tls_error(inner),
        ureq::Error::Rustls(tls) => Some(tls),
        _ => None,
    };
    let told = match (error, tls) {
        (_, Some(tls)) => tls.to_string(),
        (ureq::Error::Protocol(inner), _) => inner.to_string(),
        (ureq::Error::Io(inner), _) => inner.to_string(),
        (ureq::Error::ConnectProxyFailed(what), _) => what.clone(),
        (ureq::Error::Other(what), _) => what.to_string(),
        (error, _) => error.to_string(),
    };
    let why = match (error, tls) {
        (_, Some(tls)) => NoResponse::Tls(tls_fault(tls), &told),
        (ureq::Error::Timeout(Timeout::Resolve), _) => NoResponse::NameTimedOut,
        (ureq::Error::Timeout(Timeout::Connect), _) => NoResponse::ConnectTimedOut,
        (ureq::Error::Timeout(_), _) => NoResponse::TimedOut,
        (ureq::Error::Protocol(_), _) => NoResponse::NotHttp(&told),
        // Of the head, by `CheckedFrame`.
        (ureq::Error::Other(_), _) => NoResponse::Ambiguous(&told),
        (ureq::Error::LargeResponseHeader(..), _) => NoResponse::LongHead(&told),
        (ureq::Error::Io(_), _) if is_disconnected(error) => NoResponse::Closed,
        (ureq::Error::Io(_), _) => NoResponse::Io(&told),
        (ureq::Error::HostNotFound, _) => NoResponse::NoAddress,
        (ureq::Error::ConnectProxyFailed(_), _) => NoResponse::Proxy(&told),
        _ => NoResponse::Other(&told),
    };
    call.failed(why, is_stale)
}

fn tls_fault(error: &rustls::Error) -> TlsFault {
    match error {
        rustls::Error::InvalidCertificate(wrong) => match wrong {
            // A bad signature is that of another authority of the same name.
            CertificateError::UnknownIssuer | CertificateError::BadSignature => TlsFault::Authority,
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                TlsFault::Name
            }
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. } => TlsFault::Time,
            _ => TlsFault::Certificate,
        },
        rustls::Error::InvalidMessage(_) => TlsFault::NotTls,
        _ => TlsFault::Other,
    }
}

/// Reads the body. Records what is wrong with its frame as the response's flaw.
fn read(reply: &mut Response, body: ureq::Body, exchange: &Exchange) -> Result<(), ureq::Error> {
    if reply.flaw.is_some() || exchange.ambiguity().is_some() {
        exchange.shorten(HURRY);
    }
    let mut reader = body.into_reader().take(LARGEST_BODY as u64 + 1);
    let ended = reader.read_to_end(&mut reply.body);
    let told;
    let end = match (exchange.ambiguity(), ended.map_err(ureq::Error::from)) {
        // The bytes that came are enough for the error message.
        (None, Err(_)) if reply.flaw.is_some() => BodyEnd::Early,
        (_, Err(error @ ureq::Error::Protocol(_))) => {
            told = error.to_string();
            BodyEnd::Unframed(&told)
        }
        (Some(what), _) => BodyEnd::Ambiguous(what),
        (None, _) if reply.body.len() > LARGEST_BODY => BodyEnd::Long,
        (None, Ok(_)) => BodyEnd::There,
        (None, Err(ureq::Error::BodyStalled)) => BodyEnd::Early,
        (None, Err(ureq::Error::Io(error))) if error.kind() == io::ErrorKind::UnexpectedEof => BodyEnd::Early,
        (None, Err(error)) => return Err(error),
    };
    reply.flaw = reply.flaw.take().or_else(|| end.flaw());
    Ok(())
}

/// What is wrong with the head, whatever the body is.
fn flaw(head: &response::Parts) -> Option<String> {
    let all = |name| head.headers.get_all(name).iter().map(HeaderValue::as_bytes).collect::<Vec<_>>();
    let frame = Frame::Read {
        is_http_1_0: head.version != Version::HTTP_11,
        content_lengths: &all(header::CONTENT_LENGTH),
        transfer_encodings: &all(header::TRANSFER_ENCODING),
    };
    let age = head.headers.get(header::AGE).map(HeaderValue::as_bytes);
    ResponseHead { status: head.status.as_u16(), location: None, age, frame }.flaw()
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

/// The error of a request without a response, and what to do. `url` names the proxy, too.
fn why_unanswered(url: &str, server: &Server, error: &ureq::Error, option: &str) -> Error {
    let is_tls = server.url.is_tls();
    let proxied = match server.through().is_empty() {
        true => "",
        false => "; if the proxy is not meant for it, list it in NO_PROXY",
    };
    let unavailable = |what: String| Error::new(Code::SegmentUnavailable, format!("{url} {what}{proxied}"));
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
            "did not answer in time; see whether it is overloaded or this process was stopped, or raise \
             request_timeout_ms"
                .into(),
        ),
        ureq::Error::Protocol(error) => Error::new(
            Code::SourceInvalid,
            format!("{url} sent a response that is not HTTP ({error}); {other_scheme}"),
        ),
        // Of the head, by `CheckedFrame`.
        ureq::Error::Other(what) => {
            let flaw = BodyEnd::Ambiguous(&what.to_string()).flaw().unwrap_or_default();
            Error::new(Code::SourceInvalid, format!("{url} sent a response that {flaw}"))
        }
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
        // As "proxy server responded 403/403".
        ureq::Error::ConnectProxyFailed(what) => unavailable(format!("cannot be reached: {what} to CONNECT")),
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
