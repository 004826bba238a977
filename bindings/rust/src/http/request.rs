//! A request, and what its response means.

use leafid_core::Error;
use ureq::http::Method;

/// A request, for whichever server is chosen.
pub(crate) struct Request {
    pub(crate) method: Method,
    /// Below the server's URL, with its query.
    pub(crate) path: String,
    pub(crate) body: Option<Body>,
    /// The servers do it only once: after one has, the others answer differently, even if its response was lost.
    pub(crate) once: bool,
}

/// The body of a request.
pub(crate) struct Body {
    pub(crate) content_type: &'static str,
    pub(crate) bytes: Vec<u8>,
}

/// What a response means for the caller.
pub(crate) enum Verdict<T, F = Error> {
    Answer(T),
    /// An error that the other servers would return, too.
    Refused(Error),
    /// An error that says nothing of the server: the next one is asked, and this one does not rest.
    TryNext(Error),
    /// A wrong answer: the next server is asked, and this one rests.
    BadServer(F),
    /// As a wrong one; and it will be the same until somebody changes the server or the options.
    Denied(F),
}
