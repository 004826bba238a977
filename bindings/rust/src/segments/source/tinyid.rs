//! The client of a tinyid server: `POST /tinyid/id/nextSegmentIdSimple` returns
//! `currentId,loadingId,maxId,delta,remainder`.
//!
//! These are the ids above currentId, up to maxId, that leave the remainder when they are divided by delta.

use super::callback::{Batch, FetchRequest, Fetched};
use super::http_sources::Dialect;
use crate::http::{Body, HttpOptions, Method, Request, Response, ServerPool, Verdict, percent_encoded};
use crate::storage::decimal::canonical;
use leafid_core::{Code, Error, Result, Segment};
use serde::Deserialize;
use std::borrow::Cow;
use std::cell::Cell;
use std::convert::Infallible;

/// The fields of nextSegmentId that give a reason.
#[derive(Deserialize)]
struct Why<'a> {
    code: i64,
    #[serde(borrow)]
    message: Option<Cow<'a, str>>,
}

/// The servers of one tinyid.
pub(crate) struct TinyidServers {
    http: ServerPool,
    /// Sent with each tag; tinyid compares it with its table tiny_id_token.
    token: String,
}

impl TinyidServers {
    /// Reads files and the environment. The token is tinyid's own, not a header. Errors: `invalid_argument`.
    pub(crate) fn new(mut options: HttpOptions) -> Result<TinyidServers> {
        let token = options.token.take().unwrap_or_default();
        Ok(TinyidServers { http: ServerPool::new(options)?, token })
    }

    /// Errors: `unknown_tag`, `segment_unavailable`, `source_invalid`, `closed`.
    pub(crate) fn fetch(&self, request: &FetchRequest, nonce: u128) -> Result<Batch> {
        let is_empty = Cell::new(false);
        let fetched = self.ask("nextSegmentIdSimple", request, nonce, &|reply| {
            let verdict = read(reply, &request.tag);
            is_empty.set(matches!(verdict, Verdict::TryNext(_)));
            verdict
        });
        match fetched {
            // The other call returns the reason. If it returns ids after all, they become a gap.
            Err(error) if is_empty.get() => {
                let why = |reply: &Response| why(reply, &request.tag, &error);
                self.ask::<Infallible>("nextSegmentId", request, nonce.wrapping_add(1 << 64), &why)
                    .map(|never| match never {})
            }
            fetched => fetched.map(Batch::from),
        }
    }

    fn ask<T>(
        &self,
        call: &str,
        request: &FetchRequest,
        nonce: u128,
        read: &dyn Fn(&Response) -> Verdict<T>,
    ) -> Result<T> {
        let (tag, token) = (percent_encoded(&request.tag), percent_encoded(&self.token));
        let ask = |number: u32| {
            let nonce = nonce.wrapping_add(number.into());
            let bytes = format!("bizType={tag}&token={token}").into_bytes();
            Request {
                method: Method::POST,
                path: format!("/tinyid/id/{call}?nonce={nonce:032x}"),
                body: Some(Body { content_type: "application/x-www-form-urlencoded", bytes }),
                once: false,
            }
        };
        self.http.ask(&request.tag, request.urgent, nonce as u64, &ask, &|_, reply| read(reply))
    }
}

pub(crate) fn read(reply: &Response, tag: &str) -> Verdict<Fetched> {
    if let Some(error) = reply.failure() {
        return reply.wrongly(error);
    }
    if reply.status == 200 && reply.body.is_empty() {
        // Perhaps for one tag only: the server may return ids of other tags.
        let message = format!(
            "{}: tinyid gives no ids of {tag:?}. It says so where the token may not ask for this bizType, where it has no \
             such bizType, and where its database fails: see `token`, its tables tiny_id_token and tiny_id_info, and its log",
            reply.said()
        );
        return Verdict::TryNext(Error::new(Code::SegmentUnavailable, message));
    }
    match segment(reply) {
        Ok(segment) => Verdict::Answer(segment.into()),
        Err(error) => reply.wrongly(error),
    }
}

/// The reason why a tag has no ids, from the JSON of nextSegmentId; `else_error` if it contains none.
fn why<T>(reply: &Response, tag: &str, else_error: &Error) -> Verdict<T> {
    let why = if reply.status == 200 && reply.flawed().is_none() { reply.object().ok() } else { None };
    match why {
        Some(Why { code: 5, .. }) => {
            let advice = "see `token`, and its table tiny_id_token, which names the bizTypes of each token";
            let message =
                format!("{}: the token may not ask tinyid for the bizType {tag:?}; {advice}", reply.said());
            Verdict::Denied(Error::new(Code::SegmentUnavailable, message))
        }
        Some(Why { message: Some(message), .. }) if message.starts_with("can not find biztype") => {
            let advice = "make it in its table tiny_id_info, or correct the name";
            let message = format!("{}: tinyid does not know the bizType {tag:?}; {advice}", reply.said());
            Verdict::TryNext(Error::new(Code::UnknownTag, message))
        }
        Some(Why { code: 6, .. }) => {
            let message = format!("{}: tinyid's database fails; see its log", reply.said());
            Verdict::TryNext(Error::new(Code::SegmentUnavailable, message))
        }
        _ => Verdict::TryNext(else_error.clone()),
    }
}

fn segment(reply: &Response) -> Result<Segment> {
    let numbers = numbers(&reply.body).filter(|_| reply.status == 200).ok_or_else(|| {
        reply.invalid(
            "is no tinyid segment, currentId,loadingId,maxId,delta,remainder in digits below 2^63: see the URL in \
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
    let numbers: Option<Vec<i64>> = std::str::from_utf8(body).ok()?.split(',').map(canonical).collect();
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

impl Dialect for TinyidServers {
    fn http(&self) -> &ServerPool {
        &self.http
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_vectors() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/tinyid.json");
        let vectors: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let read = |body: &str| numbers(body.as_bytes()).and_then(between);
        for case in vectors["cases"].as_array().unwrap() {
            let segment = read(case["body"].as_str().unwrap()).unwrap();
            let ids: Vec<String> = (0..segment.len()).map(|n| segment.id(n).unwrap().to_string()).collect();
            assert_eq!(serde_json::json!(ids), case["ids"], "{case}");
        }
        for body in vectors["refused"].as_array().unwrap() {
            assert_eq!(read(body.as_str().unwrap()), None, "{body}");
        }
        for body in [
            "0,0,9223372036854775807,1,0",
            "0,0,1,5,3",
            "9223372036854775807,0,9223372036854775807,1,0",
            "1,3,11,1,-0",
            "01,3,11,1,0",
            "1,3,11,1,0\n",
        ] {
            assert_eq!(read(body), None, "{body}");
        }
    }

    #[test]
    fn why_there_are_no_ids() {
        let else_error = Error::new(Code::SegmentUnavailable, "as it said before");
        let told = |status, body: &str| match why::<()>(
            &Response::of(status, body.as_bytes()),
            "order",
            &else_error,
        ) {
            Verdict::Denied(error) => (true, error),
            Verdict::TryNext(error) => (false, error),
            _ => unreachable!("it is no answer"),
        };
        for (status, body, denied, code, says) in [
            (200, r#"{"code":5}"#, true, Code::SegmentUnavailable, "may not ask"),
            (200, r#"{"code":6,"message":"x"}"#, false, Code::SegmentUnavailable, "database fails"),
            (200, r#"{"code":6,"message":"can not find biztype"}"#, false, Code::UnknownTag, "tiny_id_info"),
            (200, r#"{"code":7}"#, false, Code::SegmentUnavailable, "as it said before"),
            (200, "5", false, Code::SegmentUnavailable, "as it said before"),
            (404, r#"{"code":5}"#, false, Code::SegmentUnavailable, "as it said before"),
        ] {
            let (is_denied, error) = told(status, body);
            assert_eq!((is_denied, error.code()), (denied, code), "{status} {body}: {error}");
            assert!(error.message().contains(says), "{status} {body}: {error}");
        }
    }
}
