//! An unmodified Leaf server: `GET /api/segment/get/{tag}` returns the next id as bare digits.
//!
//! Leaf returns one id per request, and several nodes behind one URL return theirs in turns. A node whose mode is
//! switched off always returns `0`. So 0 is not accepted as an id.

use super::{Method, Request, Response, Verdict, canonical, percent_encoded};
use crate::block_tags::{blocks_of, is_block};
use crate::json::Object;
use crate::quoted::Quoted;
use crate::spelling::name::BLOCK_SIZE;
use crate::{Code, Error, Result, Segment};
use alloc::format;
use alloc::string::String;

/// The mode of Leaf that the requests use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LeafMode {
    /// One id of a segment. With `block_size` N it is the number of a block of N ids.
    Segment {
        /// The number of ids in one response, 1 or more.
        block_size: i64,
    },
    /// An id of Leaf's own snowflake.
    Snowflake,
}

impl LeafMode {
    /// The request for the next id of a tag. `nonce` is a new number for each request, so that no cache answers it.
    pub fn request(self, tag: &str, nonce: u128) -> Request {
        let path = format!("/api/{}/get/{}?nonce={nonce:032x}", self.name(), percent_encoded(tag));
        Request { method: Method::Get, path, body: None, once: false }
    }

    /// The meaning of a response.
    pub fn judge(self, reply: &Response, tag: &str) -> Verdict<Segment> {
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

    /// Checks a tag: Leaf cuts it at its first dot, so two tags would become one, and knows no tag with a slash. The
    /// name of a tag of blocks says their size. Errors: `invalid_argument`.
    pub fn check_tag(self, tag: &str) -> Result<()> {
        let wrong = |allowed: &str| Err(Error::invalid("tag", Quoted(tag), allowed));
        if tag.contains('.') {
            return wrong("without a dot with a Leaf, which cuts a tag there: two of them would be one");
        }
        if tag.contains('/') {
            return wrong("without a slash with a Leaf, which takes it for a part of the path");
        }
        match (self, blocks_of(tag)) {
            (LeafMode::Segment { block_size }, blocks) if block_size > 1 && blocks != Some(block_size) => {
                let allowed = format!(
                    "called …-x{block_size} with {BLOCK_SIZE} {block_size}, here and in Leaf's table, so that nobody takes \
                     its numbers for ids"
                );
                wrong(&allowed)
            }
            (LeafMode::Segment { block_size: 1 }, Some(blocks)) if is_block(blocks) => {
                let allowed = format!(
                    "of another name without {BLOCK_SIZE}: the numbers of this tag stand for {blocks} ids each; set \
                     {BLOCK_SIZE} to {blocks}"
                );
                wrong(&allowed)
            }
            (LeafMode::Segment { block_size: 1 }, Some(_)) => wrong(
                "of another name: one that ends in -x and digits is of blocks of ids, 2 to 1000000 each",
            ),
            _ => Ok(()),
        }
    }

    /// The number of ids in one response.
    pub fn each(self) -> i64 {
        match self {
            LeafMode::Segment { block_size } => block_size,
            LeafMode::Snowflake => 1,
        }
    }

    fn name(self) -> &'static str {
        match self {
            LeafMode::Segment { .. } => "segment",
            LeafMode::Snowflake => "snowflake",
        }
    }

    fn segment(self, reply: &Response) -> Result<Segment> {
        let id = core::str::from_utf8(&reply.body).ok().filter(|_| reply.status == 200).and_then(canonical);
        let id = id.ok_or_else(|| {
            reply.invalid(
                "is not an id in decimal digits, as Leaf returns it: see the URL in `servers`, and `protocol`",
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
        let said = format!("{} answered 500 {}", reply.url, Quoted(message));
        match (self, id) {
            (LeafMode::Segment { .. }, -2) => {
                let advice =
                    "make it in the table leaf_alloc, which its nodes read once a minute, or see its name";
                Error::new(
                    Code::UnknownTag,
                    format!("{said}: Leaf does not know the tag {}; {advice}", Quoted(tag)),
                )
            }
            (LeafMode::Segment { .. }, -1) => {
                unavailable(said, "it has not read its table yet; it is asked again")
            }
            (LeafMode::Segment { .. }, -3) => unavailable(
                said,
                "both of its segments are used up, and its database did not give another in time; it is asked again",
            ),
            (LeafMode::Snowflake, -1) => unavailable(said, "its clock went back; see that machine"),
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

/// Leaf's own code of a failure, and its message, from the body of Spring's response 500.
fn failure(body: &[u8]) -> Option<(i64, String)> {
    let message = Object::parse(body).ok()?.text("message").ok()?;
    // A few bytes at a time: the search of str is as large as all of this file.
    const BEFORE: &[u8] = b"Result{id=";
    let at = message.as_bytes().windows(BEFORE.len()).position(|part| part == BEFORE)?;
    let id = message.get(at + BEFORE.len()..)?.split_once(',')?.0.parse().ok()?;
    Some((id, message.chars().take(200).collect()))
}
