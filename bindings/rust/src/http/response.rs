//! One request to one server, and its response.

use super::deadline::{Deadlines, Exchange};
use super::settings::{Server, Settings};
use crate::os::hostname::hostname;
use leafid_core::http::{
    BodyEnd, Frame, HURRY, HttpCall, HttpEnd, LARGEST_BODY, NoResponse, ResponseHead, TlsFault,
};
use leafid_core::wire::{Method, Request};
use rustls::CertificateError;
use std::io::{self, Read};
use ureq::http::{HeaderValue, Version, header};
use ureq::{Agent, Timeout};

/// Who asks, for those who look after a server: it shows who holds a worker id. A forked child is another process.
fn user_agent() -> Option<HeaderValue> {
    let (version, host) = (env!("CARGO_PKG_VERSION"), hostname());
    HeaderValue::from_str(&format!("leafid/{version} (host {host}; pid {})", std::process::id())).ok()
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
        all.extend(user_agent().map(|value| (header::USER_AGENT, value)));
        // A header of the user takes the place of ours.
        for (name, value) in &settings.headers {
            all.insert(name, value.clone());
        }
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
            return no_response(call, &error, is_stale, exchange.has_begun());
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
        (None, Err(error)) => return no_response(call, &error, false, true),
    };
    let response = call.response(&known, bytes, end);
    let (end, keeps) = call.end(&response);
    if keeps {
        exchange.prove();
    }
    end
}

/// Ends a call whose response did not come. `has_begun`: whether the request, or its first part, was sent.
fn no_response(call: HttpCall, error: &ureq::Error, is_stale: bool, has_begun: bool) -> HttpEnd {
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
        (ureq::Error::Io(_), _) if !has_begun => NoResponse::Unconnected(&told),
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

fn is_disconnected(error: &ureq::Error) -> bool {
    let closed = [
        io::ErrorKind::BrokenPipe,
        io::ErrorKind::ConnectionAborted,
        io::ErrorKind::ConnectionReset,
        io::ErrorKind::UnexpectedEof,
    ];
    matches!(error, ureq::Error::Io(error) if closed.contains(&error.kind()))
}

fn tls_error(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref()?.downcast_ref()
}
