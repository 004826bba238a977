//! Requests, and the meaning of their responses.

use leafid_core::Error;
use ureq::http::Method;

/// A request, for any of the servers.
pub(crate) struct Request {
    pub(crate) method: Method,
    /// The path below the server's URL, with its query.
    pub(crate) path: String,
    pub(crate) body: Option<Body>,
    /// The servers do it only once. After one has done it, the others respond differently, even if its response was
    /// lost.
    pub(crate) once: bool,
}

/// The body of a request.
pub(crate) struct Body {
    pub(crate) content_type: &'static str,
    pub(crate) bytes: Vec<u8>,
}

/// The meaning of a response for the caller.
pub(crate) enum Verdict<T, F = Error> {
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
