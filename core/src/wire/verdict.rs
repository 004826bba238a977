//! Requests, responses, and the meaning of a response: what all protocols share.

use crate::json::Object;
use crate::quoted::Quoted;
use crate::server::health::ServerFailure;
use crate::{Code, Error};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The number of characters of a body that messages quote.
const QUOTED: usize = 100;

/// A request, for any of the servers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// The path below the server's URL, with its query.
    pub path: String,
    /// The body, if there is one.
    pub body: Option<Body>,
    /// The servers do it only once. After one has done it, the others respond differently, even if its response was
    /// lost.
    pub once: bool,
}

/// The method of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// GET
    Get,
    /// POST, also without a body.
    Post,
}

/// The body of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Body {
    /// The header Content-Type.
    pub content_type: &'static str,
    /// The content.
    pub text: String,
}

/// A response, correct or not.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Response {
    /// The requested URL without its query.
    pub url: String,
    /// The status.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
    /// The header Location, as [`quoted`].
    pub location: Option<String>,
    /// An error of its head or of its frame; it completes the sentence "the answer …".
    pub flaw: Option<String>,
    /// The user's option that names the server.
    pub option: &'static str,
}

/// The meaning of a response for the caller.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Verdict<T, F = Error> {
    /// A correct response.
    Answer(T),
    /// An error that the other servers would return too.
    Refused(Error),
    /// An error that says nothing about the server: the next one is tried, and this one does not back off.
    TryNext(Error),
    /// A wrong response: the next server is tried, and this one backs off.
    BadServer(F),
    /// As `BadServer`, and the response will be the same until somebody changes the server or the options.
    Denied(F),
}

impl<T, F> Verdict<T, F> {
    /// The same verdict with another answer.
    pub fn map<U>(self, answer: impl FnOnce(T) -> U) -> Verdict<U, F> {
        match self {
            Verdict::Answer(was) => Verdict::Answer(answer(was)),
            Verdict::Refused(error) => Verdict::Refused(error),
            Verdict::TryNext(error) => Verdict::TryNext(error),
            Verdict::BadServer(error) => Verdict::BadServer(error),
            Verdict::Denied(error) => Verdict::Denied(error),
        }
    }
}

impl<T> Verdict<T> {
    /// The answer, or the error.
    pub fn into_result(self) -> Result<T, Error> {
        match self {
            Verdict::Answer(answer) => Ok(answer),
            Verdict::Refused(error)
            | Verdict::TryNext(error)
            | Verdict::BadServer(error)
            | Verdict::Denied(error) => Err(error),
        }
    }
}

impl Response {
    /// A response without a flaw. `option` names the servers.
    pub fn new(url: &str, status: u16, body: &[u8], option: &'static str) -> Response {
        Response { url: url.to_owned(), status, body: body.to_owned(), location: None, flaw: None, option }
    }

    /// The URL, the status and the first characters of the body.
    pub fn said(&self) -> String {
        match self.body.is_empty() {
            true => format!("{} answered {} without a body", self.url, self.status),
            false => format!("{} answered {} {}", self.url, self.status, quoted(&self.body)),
        }
    }

    /// The error of a failed response, whatever was requested; `None` if the body has to be checked.
    pub fn failure(&self) -> Option<Error> {
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
            // No later request of these options is answered otherwise.
            401 | 403 => {
                let message = format!("{}; see `token` and `headers`", self.said());
                Some(Error::new(Code::SourceInvalid, message))
            }
            408 | 429 | 500.. => unavailable("it is asked again later; see the server's log"),
            _ => self.flawed(),
        }
    }

    /// The failure for the server's health. `server` is its URL, `error` the error of this request.
    pub fn server_failure(&self, server: &str, error: Error, is_denied: bool) -> ServerFailure {
        let advice = match self.status {
            401 | 403 => "see `token` and `headers`",
            407 => "see the user and the password of the proxy",
            300..=399 | 404 | 405 => "see its URL, and `protocol`",
            200..=299 => "check which program answers there",
            _ => "it is asked again later; see its log",
        };
        let of_server = format!("{server} answered {} to other requests; {advice}", self.status);
        ServerFailure {
            of_server: Error::new(error.code(), of_server),
            // Independent of the request: the server, or a proxy in front of it, is busy or broken.
            is_whole: matches!(self.status, 408 | 429 | 500..),
            is_denied,
            error,
        }
    }

    /// The verdict on a wrong response with this error.
    pub fn wrongly<T>(&self, error: Error) -> Verdict<T> {
        match self.is_denial() {
            true => Verdict::Denied(error),
            false => Verdict::BadServer(error),
        }
    }

    /// Whether its status says that the server does not want the request, now or later.
    pub(crate) fn is_denial(&self) -> bool {
        let is_busy = matches!(self.status, 408 | 409 | 425 | 429);
        matches!(self.status, 300..=499) && !is_busy && self.flaw.is_none()
    }

    /// Parses the body as a JSON object.
    pub(crate) fn object(&self) -> Result<Object<'_>, String> {
        match self.has_object_start() {
            true => Object::parse(&self.body),
            false => Err("it is not a JSON object".into()),
        }
    }

    /// Whether the body begins as a JSON object does.
    pub(crate) fn has_object_start(&self) -> bool {
        self.body.trim_ascii_start().first() == Some(&b'{')
    }

    /// `source_invalid` for a response with a flaw, whatever its status.
    pub fn flawed(&self) -> Option<Error> {
        self.flaw.as_ref().map(|flaw| self.invalid(flaw))
    }

    /// `source_invalid`; `why` completes the sentence "the answer …".
    pub fn invalid(&self, why: &str) -> Error {
        let message = format!("{}: the answer {why}; no id of it is used", self.said());
        Error::new(Code::SourceInvalid, message)
    }
}

/// The first characters, with invalid bytes escaped.
pub fn quoted(bytes: &[u8]) -> String {
    // No character has more than four bytes.
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * QUOTED)]);
    let first: String = text.chars().take(QUOTED).collect();
    let more = if bytes.len() > first.len() { "…" } else { "" };
    format!("{}{more}", Quoted(&first))
}

/// Encodes a part of a path or of a query: all but letters, digits and `-._~` as `%XX`. RFC 3986, section 2.3
pub fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'-' | b'.' | b'_' | b'~' => encoded.push(byte.into()),
            byte if byte.is_ascii_alphanumeric() => encoded.push(byte.into()),
            byte => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}
