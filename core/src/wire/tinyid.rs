//! A tinyid server: `POST /tinyid/id/nextSegmentIdSimple` returns `currentId,loadingId,maxId,delta,remainder`.
//!
//! These are the ids above currentId, up to maxId, that leave the remainder when they are divided by delta.

use super::{Body, Method, Request, Response, Verdict, canonical, percent_encoded};
use crate::json::{JsonResult, Object};
use crate::quoted::Quoted;
use crate::{Code, Error, Result, Segment};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// A request for ids of a tag, which tinyid calls a bizType.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TinyidRequest<'a> {
    /// The tag.
    pub tag: &'a str,
    /// Sent with each tag; tinyid compares it with its table tiny_id_token.
    pub token: &'a str,
}

/// The fields of nextSegmentId that give a reason.
struct Why {
    code: i64,
    message: Option<String>,
}

impl Why {
    fn read(body: &Object<'_>) -> JsonResult<Why> {
        let message = body.optional("message")?.map(|message| message.text()).transpose()?;
        Ok(Why { code: body.integer("code")?, message })
    }
}

impl TinyidRequest<'_> {
    /// The request for ids. `nonce` is a new number for each request.
    pub fn ids(&self, nonce: u128) -> Request {
        self.request("nextSegmentIdSimple", nonce)
    }

    /// The request for the reason why there are no ids. If it returns ids after all, they become a gap.
    pub fn reason(&self, nonce: u128) -> Request {
        self.request("nextSegmentId", nonce)
    }

    fn request(&self, call: &str, nonce: u128) -> Request {
        // The token is in the form, because proxies and logs would keep a query.
        let text = format!("bizType={}&token={}", percent_encoded(self.tag), percent_encoded(self.token));
        Request {
            method: Method::Post,
            path: format!("/tinyid/id/{call}?nonce={nonce:032x}"),
            body: Some(Body { content_type: "application/x-www-form-urlencoded", text }),
            once: false,
        }
    }

    /// The meaning of the response to [`TinyidRequest::ids`]. `TryNext`: there are no ids, and [`TinyidRequest::reason`]
    /// asks why.
    pub fn judge_ids(&self, reply: &Response) -> Verdict<Segment> {
        if let Some(error) = reply.failure() {
            return reply.wrongly(error);
        }
        if reply.status == 200 && reply.body.is_empty() {
            // Perhaps for one tag only: the server may return ids of other tags.
            let message = format!(
                "{}: tinyid gives no ids of {}: see `token`, its tables tiny_id_token and tiny_id_info, and its log",
                reply.said(),
                Quoted(self.tag)
            );
            return Verdict::TryNext(Error::new(Code::SegmentUnavailable, message));
        }
        segment(reply).map_or_else(|error| reply.wrongly(error), Verdict::Answer)
    }

    /// The meaning of the response to [`TinyidRequest::reason`], which is never an answer: `else_error` if it contains
    /// no reason.
    pub fn judge_reason<T>(&self, reply: &Response, else_error: &Error) -> Verdict<T> {
        let has_why = reply.status == 200 && reply.flaw.is_none();
        let why = if has_why { reply.object().and_then(|body| Why::read(&body)).ok() } else { None };
        let (said, tag) = (reply.said(), self.tag);
        match why {
            Some(Why { code: 5, .. }) => {
                let advice =
                    "see `token`, and its table tiny_id_token, which names the bizTypes of each token";
                let message =
                    format!("{said}: the token may not ask tinyid for the bizType {}; {advice}", Quoted(tag));
                Verdict::Denied(Error::new(Code::SegmentUnavailable, message))
            }
            Some(Why { message: Some(message), .. }) if message.starts_with("can not find biztype") => {
                let advice = "make it in its table tiny_id_info, or correct the name";
                let message = format!("{said}: tinyid does not know the bizType {}; {advice}", Quoted(tag));
                Verdict::TryNext(Error::new(Code::UnknownTag, message))
            }
            Some(Why { code: 6, .. }) => {
                let message = format!("{said}: tinyid's database fails; see its log");
                Verdict::TryNext(Error::new(Code::SegmentUnavailable, message))
            }
            _ => Verdict::TryNext(else_error.clone()),
        }
    }
}

fn segment(reply: &Response) -> Result<Segment> {
    let numbers = numbers(&reply.body).filter(|_| reply.status == 200).ok_or_else(|| {
        reply.invalid(
            "is not a tinyid segment, currentId,loadingId,maxId,delta,remainder in digits below 2^63: see the URL in \
             `servers`, and `protocol`",
        )
    })?;
    between(numbers).ok_or_else(|| {
        reply.invalid(
            "holds no id: maxId is not above currentId, or no number between them leaves the remainder",
        )
    })
}

fn numbers(body: &[u8]) -> Option<[i64; 5]> {
    let numbers: Option<Vec<i64>> = core::str::from_utf8(body).ok()?.split(',').map(canonical).collect();
    numbers?.try_into().ok()
}

/// The ids above `current`, up to `most`, that leave `remainder` when they are divided by `delta`; `None` if there are
/// none.
fn between([current, _, most, delta, remainder]: [i64; 5]) -> Option<Segment> {
    if delta < 1 || remainder >= delta {
        return None;
    }
    let above = current.checked_add(1)?;
    // None of the numbers is negative.
    let first = above.checked_add((remainder - above).rem_euclid(delta))?;
    Segment::new(first, most.checked_add(1)?, delta).ok()
}
