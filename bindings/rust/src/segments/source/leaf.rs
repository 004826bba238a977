//! The client of an unmodified Leaf server: `GET /api/segment/get/{tag}` returns the next id as bare digits.
//!
//! Leaf returns one id per request, and several nodes behind one URL return theirs in turns. A node whose mode is
//! switched off always returns `0`. So 0 is not accepted as an id.

use super::callback::SegmentSource;
use super::http_sources::Dialect;
use super::single_ids::Singles;
use crate::http::{HttpOptions, Method, Request, Response, ServerPool, Verdict, percent_encoded};
use crate::os::env::Env;
use crate::storage::decimal::canonical;
use leafid_core::{Code, Error, LARGEST_STEP, Result, Segment};
use serde::Deserialize;
use std::sync::Arc;

/// The mode of Leaf that the requests use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// One id of a segment. With `block_size` N it is the number of a block of N ids.
    Segment {
        block_size: i64,
    },
    Snowflake,
}

/// The servers of one Leaf.
pub(crate) struct LeafServers {
    http: ServerPool,
    mode: Mode,
    env: Arc<Env>,
}

/// The body of a response 500 of Spring.
#[derive(Deserialize)]
struct LeafFailure {
    message: String,
}

impl LeafServers {
    /// Reads files and the environment. Errors: `invalid_argument`.
    pub(crate) fn new(options: HttpOptions, mode: Mode, env: Arc<Env>) -> Result<LeafServers> {
        Ok(LeafServers { http: ServerPool::new(options)?, mode, env })
    }

    /// The source for these servers: single ids, fetched over this number of connections.
    pub(crate) fn source(self: &Arc<Self>, connections: usize) -> SegmentSource {
        let servers = Arc::clone(self);
        let each = self.mode.each() as u64;
        SegmentSource::later(Singles::new(each, connections, move |tag| servers.get(tag)))
    }

    /// Sends one request. Errors: `unknown_tag`, `segment_unavailable`, `source_invalid`, `closed`.
    pub(crate) fn get(&self, tag: &str) -> Result<Segment> {
        let nonce = self.env.number()?;
        let path = |number: u32| {
            let nonce = nonce.wrapping_add(number.into());
            format!("/api/{}/get/{}?nonce={nonce:032x}", self.mode.name(), percent_encoded(tag))
        };
        let ask = |number| Request { method: Method::GET, path: path(number), body: None, once: false };
        // A caller may start to wait during the request.
        self.http.ask(tag, true, nonce as u64, &ask, &|_, reply| self.mode.read(reply, tag))
    }
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Mode::Segment { .. } => "segment",
            Mode::Snowflake => "snowflake",
        }
    }

    /// The number of ids in one response.
    fn each(self) -> i64 {
        match self {
            Mode::Segment { block_size } => block_size,
            Mode::Snowflake => 1,
        }
    }

    pub(crate) fn read(self, reply: &Response, tag: &str) -> Verdict<Segment> {
        if let Some(error) = reply.flawed() {
            return Verdict::BadServer(error);
        }
        if reply.status == 500
            && let Some((id, message)) = failure(&reply.body)
        {
            return Verdict::TryNext(self.failed(reply, tag, id, &message));
        }
        if let Some(error) = reply.failure() {
            return reply.wrongly(error);
        }
        match self.segment(reply) {
            Ok(segment) => Verdict::Answer(segment),
            Err(error) if is_off(reply) => Verdict::Denied(error),
            Err(error) => reply.wrongly(error),
        }
    }

    fn segment(self, reply: &Response) -> Result<Segment> {
        let id = std::str::from_utf8(&reply.body).ok().filter(|_| reply.status == 200).and_then(canonical);
        let id = id.ok_or_else(|| {
            reply.invalid(
                "is no id in decimal digits, as Leaf gives it: see the URL in `servers`, and `protocol`",
            )
        })?;
        if is_off(reply) {
            let name = self.name();
            let why = format!(
                "is 0, which a Leaf gives to everybody while its {name} mode is switched off: set \
                 leaf.{name}.enable=true there"
            );
            return Err(reply.invalid(&why));
        }
        let each = self.each();
        let bounds = id.checked_mul(each).and_then(|start| Some((start, start.checked_add(each)?)));
        let (start, end) = bounds.ok_or_else(|| reply.invalid("is above what ids of 63 bits hold"))?;
        Segment::new(start, end, 1).map_err(|error| error.context(reply.said()))
    }

    /// The error for Leaf's `Result{id=-2, status=EXCEPTION}`.
    fn failed(self, reply: &Response, tag: &str, id: i64, message: &str) -> Error {
        let url = &reply.url;
        let said = format!("{url} answered 500 {message:?}");
        match (self, id) {
            (Mode::Segment { .. }, -2) => {
                let advice =
                    "make it in the table leaf_alloc, which its nodes read once a minute, or see its name";
                Error::new(Code::UnknownTag, format!("{said}: Leaf does not know the tag {tag:?}; {advice}"))
            }
            (Mode::Segment { .. }, -1) => {
                unavailable(said, "it has not read its table yet; it is asked again")
            }
            (Mode::Segment { .. }, -3) => unavailable(
                said,
                "both of its segments are used up, and its database did not give another in time; it is asked again",
            ),
            (Mode::Snowflake, -1) => unavailable(said, "its clock went back; see that machine"),
            _ => unavailable(said, "see its log"),
        }
    }
}

/// Whether the server's mode is switched off.
fn is_off(reply: &Response) -> bool {
    reply.status == 200 && reply.body == b"0"
}

fn unavailable(said: String, why: &str) -> Error {
    Error::new(Code::SegmentUnavailable, format!("{said}: {why}"))
}

/// Leaf's own code of a failure, and its message.
fn failure(body: &[u8]) -> Option<(i64, String)> {
    let LeafFailure { message } = serde_json::from_slice(body).ok()?;
    let (_, id) = message.split_once("Result{id=")?;
    let id = id.split_once(',')?.0.parse().ok()?;
    Some((id, message.chars().take(200).collect()))
}

impl Dialect for LeafServers {
    fn http(&self) -> &ServerPool {
        &self.http
    }

    /// Leaf cuts a tag at its first dot, so two tags would become one. It knows no tag with a slash.
    fn check_tag(&self, tag: &str) -> Result<()> {
        let wrong = |allowed: &str| Err(Error::invalid("tag", format!("{tag:?}"), allowed));
        if tag.contains('.') {
            return wrong("without a dot with a Leaf, which cuts a tag there: two of them would be one");
        }
        if tag.contains('/') {
            return wrong("without a slash with a Leaf, which takes it for a part of the path");
        }
        match (self.mode, blocks_of(tag)) {
            (Mode::Segment { block_size }, blocks) if block_size > 1 && blocks != Some(block_size) => {
                let allowed = format!(
                    "called …-x{block_size} with block_size {block_size}, here and in Leaf's table, so that nobody takes \
                     its numbers for ids"
                );
                wrong(&allowed)
            }
            (Mode::Segment { block_size: 1 }, Some(blocks)) if (2..=LARGEST_STEP).contains(&blocks) => {
                let allowed = format!(
                    "of another name without block_size: the numbers of this tag stand for {blocks} ids each; set \
                     block_size to {blocks}"
                );
                wrong(&allowed)
            }
            (Mode::Segment { block_size: 1 }, Some(_)) => wrong(
                "of another name: one that ends in -x and digits is of blocks of ids, 2 to 1000000 each",
            ),
            _ => Ok(()),
        }
    }
}

/// N of a tag called `…-xN`; 0 if the digits are not a valid number.
fn blocks_of(tag: &str) -> Option<i64> {
    let (name, digits) = tag.rsplit_once("-x")?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| canonical(digits).filter(|_| !name.is_empty()).unwrap_or(0))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;
    use crate::SegmentsBuilder;

    #[test]
    fn only_a_mode_that_is_switched_off_is_so_until_somebody_changes_it() {
        let verdict = |body: &str| Mode::Snowflake.read(&Response::of(200, body.as_bytes()), "order");
        assert!(matches!(verdict("0"), Verdict::Denied(_)));
        assert!(matches!(verdict("nonsense"), Verdict::BadServer(_)));
        assert!(matches!(verdict("7"), Verdict::Answer(_)));
        let failed = Response::of(500, br#"{"message":"Result{id=-1, status=EXCEPTION}"}"#);
        let Verdict::TryNext(error) = Mode::Snowflake.read(&failed, "order") else { unreachable!() };
        assert!(error.message().contains("its clock went back"), "{error}");
    }

    #[test]
    fn names_of_tags_of_blocks() {
        let ids = SegmentsBuilder::default().persist(false).servers(["http://127.0.0.1:9"]).open().unwrap();
        for (tag, says) in [
            ("order-x2", Some("set block_size to 2")),
            ("order-x1000000", Some("set block_size to 1000000")),
            ("order-x1", Some("of another name: one that ends")),
            ("order-x1000001", Some("of another name: one that ends")),
            ("order-x01", Some("of another name: one that ends")),
            ("order-x", None),
            ("order-xy", None),
            ("order-x1y", None),
            ("order", None),
        ] {
            match (ids.tag(tag), says) {
                (Ok(_), None) => {}
                (Err(error), Some(says)) => assert!(error.message().contains(says), "{error}"),
                (answer, _) => panic!("{tag}: {answer:?}"),
            }
        }
    }
}
