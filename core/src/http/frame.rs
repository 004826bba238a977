//! The head and the frame of a response: what is wrong with them makes any body wrong. Half a body of digits is a
//! number, and so is one that continues.

use crate::wire::quoted;
use alloc::format;
use alloc::string::String;
use core::time::Duration;

/// The largest size of a body, in bytes. No correct response is longer: a host stops reading behind it.
pub const LARGEST_BODY: usize = 64 * 1024;
/// How long a host waits for the rest of a response whose head is wrong already. What has come is enough for a message.
pub const HURRY: Duration = Duration::from_millis(100);

/// The head of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseHead<'a> {
    /// The status. 0 is a redirect that a platform did not follow, of which it shows nothing.
    pub status: u16,
    /// The header Location.
    pub location: Option<&'a [u8]>,
    /// The header Age.
    pub age: Option<&'a [u8]>,
    /// Where the response says that it ends.
    pub frame: Frame<'a>,
}

/// Where a response says that it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// The host reads HTTP itself.
    Read {
        /// Whether it is HTTP/1.0.
        is_http_1_0: bool,
        /// The headers Content-Length.
        content_lengths: &'a [&'a [u8]],
        /// The headers Transfer-Encoding.
        transfer_encodings: &'a [&'a [u8]],
    },
    /// A platform's `fetch` has read it, and shows only some headers.
    Shown {
        /// Content-Length.
        content_length: Option<&'a str>,
        /// Transfer-Encoding.
        transfer_encoding: Option<&'a str>,
        /// Whether there is a Content-Encoding.
        is_encoded: bool,
    },
}

/// How reading the body ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyEnd<'a> {
    /// At the end that the frame says.
    There,
    /// Behind [`LARGEST_BODY`].
    Long,
    /// Before the end that the frame says.
    Early,
    /// More bytes came than Content-Length says.
    Continues,
    /// At a frame that HTTP does not allow, as a library of the host reported.
    Unframed(&'a str),
    /// At a frame that readers of HTTP read differently, as [`FrameCheck`](super::FrameCheck) reported.
    Ambiguous(&'a str),
}

impl BodyEnd<'_> {
    /// What is wrong with it; it completes the sentence "the answer …".
    pub fn flaw(self) -> Option<String> {
        match self {
            BodyEnd::There => None,
            BodyEnd::Long => Some(format!("is longer than {LARGEST_BODY} bytes")),
            BodyEnd::Early => Some("ends before its end".into()),
            BodyEnd::Continues => Some("continues after its end (Content-Length is too small)".into()),
            BodyEnd::Unframed(told) => Some(format!("is not framed as HTTP requires ({told})")),
            BodyEnd::Ambiguous(told) => Some(format!(
                "is framed so that another reader of HTTP may read another one ({told}): see the server, and the \
                 proxies before it"
            )),
        }
    }
}

impl ResponseHead<'_> {
    /// The status, of a hidden redirect too.
    pub(super) fn status(&self) -> u16 {
        match self.status {
            0 => 302,
            status => status,
        }
    }

    /// Whether the response is wrong, whatever its body is: the host waits only for [`HURRY`].
    pub fn is_wrong(&self) -> bool {
        self.flaw().is_some()
    }

    /// What is wrong with the head; it completes the sentence "the answer …".
    pub fn flaw(&self) -> Option<String> {
        if let Some(age) = self.age {
            return Some(format!("comes from a cache (Age: {}): keep caches from this URL", quoted(age)));
        }
        let Frame::Read { is_http_1_0, content_lengths, transfer_encodings } = self.frame else {
            return None;
        };
        match (content_lengths, transfer_encodings) {
            ([length], []) if is_plain(length) => None,
            ([], [_]) if is_http_1_0 => Some("is chunked, which HTTP/1.0 does not know".into()),
            ([], [encoding]) if encoding.eq_ignore_ascii_case(b"chunked") => None,
            // It has no body by its status. RFC 9110, section 15.3.5
            ([], []) if self.status == 204 => None,
            ([], []) => Some("does not say where it ends (no Content-Length, not chunked)".into()),
            _ => Some(
                "gives its end in two ways, or in an unknown one (Content-Length, Transfer-Encoding)".into(),
            ),
        }
    }

    /// What is wrong with the response. `length`: of its body. `is_self_evident`: its text shows whether it is whole.
    pub(super) fn flaw_with(&self, end: BodyEnd<'_>, length: usize, is_self_evident: bool) -> Option<String> {
        self.flaw().or_else(|| end.flaw()).or_else(|| self.hidden_flaw(length, is_self_evident))
    }

    /// What is wrong with a frame of which a platform shows a part. Without a known end, half a body of digits would be
    /// a number.
    fn hidden_flaw(&self, length: usize, is_self_evident: bool) -> Option<String> {
        let Frame::Shown { content_length, transfer_encoding, is_encoded } = self.frame else { return None };
        let is_chunked = || transfer_encoding.is_some_and(|name| name.eq_ignore_ascii_case("chunked"));
        match content_length {
            _ if self.status != 200 => None,
            // An encoded body has another length.
            Some(said) if !is_encoded => (said != format!("{length}")).then(|| "ends before its end".into()),
            _ if is_self_evident => None,
            _ if is_encoded => {
                Some("is compressed, so that a cut one is not noticed: keep compression from this URL".into())
            }
            _ if is_chunked() => None,
            _ => Some(
                "does not say where it ends (no Content-Length, not chunked, or hidden from this origin)"
                    .into(),
            ),
        }
    }
}

/// Whether a length is written in the one way that every reader reads alike: not as `5, 5` or `010`.
fn is_plain(length: &[u8]) -> bool {
    matches!(length, [b'0'] | [b'1'..=b'9', ..]) && length.iter().all(u8::is_ascii_digit)
}
