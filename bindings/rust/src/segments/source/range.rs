//! The client of leafid's own protocol: `POST /api/segment/range/{tag}?step=1000&after=900&nonce=…`.

use super::http_sources::Dialect;
use crate::http::{HttpOptions, Method, Request, Response, ServerPool, Verdict, percent_encoded};
use crate::segments::{FetchRequest, Fetched};
use crate::storage::decimal::canonical;
use leafid_core::{Code, Error, Guard, IdOrder, Result, Segment};
use serde::Deserialize;
use std::borrow::Cow;

/// Servers that return ranges.
pub(crate) struct RangeSource {
    http: ServerPool,
    /// Whether a range below earlier ones is refused.
    ordered: bool,
}

/// The body of a response 200. More fields may come in later versions.
#[derive(Deserialize)]
struct RangeAnswer<'a> {
    #[serde(borrow)]
    tag: Cow<'a, str>,
    #[serde(borrow)]
    start: Cow<'a, str>,
    #[serde(borrow)]
    end: Cow<'a, str>,
    stride: i64,
    step: Option<i64>,
    #[serde(borrow)]
    nonce: Cow<'a, str>,
}

/// The body of a response 4xx.
#[derive(Deserialize)]
struct RangeRefusal<'a> {
    #[serde(borrow)]
    error: Cow<'a, str>,
}

impl RangeSource {
    /// Reads files and the environment. Errors: `invalid_argument`.
    pub(crate) fn new(options: HttpOptions, ordered: bool) -> Result<RangeSource> {
        Ok(RangeSource { http: ServerPool::new(options)?, ordered })
    }

    /// Fetches a range, on a thread of leafid. `nonce` is a new random number for each call.
    ///
    /// Errors: `unknown_tag`, `segment_unavailable`, `source_invalid`, `closed`; `invalid_argument` and
    /// `segment_regressed` if the server returns them.
    pub(crate) fn fetch(&self, request: &FetchRequest, nonce: u128) -> Result<Fetched> {
        let nonce = |number: u32| format!("{:032x}", nonce.wrapping_add(number.into()));
        let ask = |number| {
            let path = path(request, &nonce(number));
            Request { method: Method::POST, path, body: None, once: false }
        };
        let seed = u64::from_str_radix(&nonce(0)[16..], 16).unwrap_or_default();
        self.http.ask(&request.tag, request.urgent, seed, &ask, &|number, reply| {
            let verdict = read(reply, &request.tag, &nonce(number));
            match verdict {
                // Another server may still have what this one has lost.
                Verdict::Answer(fetched) if self.ordered => match above(fetched.segment, request.after) {
                    Ok(()) => Verdict::Answer(fetched),
                    Err(error) => Verdict::BadServer(error.context(reply.said())),
                },
                verdict => verdict,
            }
        })
    }
}

impl Dialect for RangeSource {
    fn http(&self) -> &ServerPool {
        &self.http
    }
}

pub(crate) fn path(request: &FetchRequest, nonce: &str) -> String {
    let step = if request.step == 0 { String::new() } else { format!("step={}&", request.step) };
    let (tag, after) = (percent_encoded(&request.tag), request.after);
    format!("/api/segment/range/{tag}?{step}after={after}&nonce={nonce}")
}

/// Errors: `segment_regressed`; `source_invalid` for a jump that no counter makes, also of the first segment. Such a
/// jump would become a mark, the mark would be sent to other servers, and these would continue above it.
fn above(segment: Segment, after: i64) -> Result<()> {
    Guard::resume(IdOrder::Ranges, after.max(1), Vec::new(), 1).offer(segment, after)?;
    Guard::resume(IdOrder::Ascending, after, Vec::new(), 1).offer(segment, after)
}

pub(crate) fn read(reply: &Response, tag: &str, nonce: &str) -> Verdict<Fetched> {
    if let Some(error) = reply.failure() {
        return reply.wrongly(error);
    }
    if reply.status != 200 {
        return refused(reply, tag);
    }
    match fetched(reply, tag, nonce) {
        Ok(fetched) => Verdict::Answer(fetched),
        Err(error) => Verdict::BadServer(error),
    }
}

fn fetched(reply: &Response, tag: &str, nonce: &str) -> Result<Fetched> {
    let answer: RangeAnswer<'_> =
        reply.object().map_err(|why| reply.invalid(&format!("is no range: {why}")))?;
    if answer.tag != tag {
        return Err(reply.invalid(&format!("is for another tag than {tag:?}")));
    }
    if answer.nonce != nonce {
        let why = format!("is to another request: its nonce is not {nonce}; a proxy may repeat answers");
        return Err(reply.invalid(&why));
    }
    let decimal = |name: &str, text: &str| {
        canonical(text)
            .ok_or_else(|| reply.invalid(&format!("has {name} {text:?}, which is no decimal below 2^63")))
    };
    let (start, end) = (decimal("start", &answer.start)?, decimal("end", &answer.end)?);
    if let Some(step) = answer.step.filter(|&step| step < 1) {
        return Err(reply.invalid(&format!("has the step {step}, which is below 1")));
    }
    let segment = Segment::new(start, end, answer.stride).map_err(|error| error.context(reply.said()))?;
    Ok(Fetched { segment, step: answer.step })
}

/// The error that the server names.
fn refused(reply: &Response, tag: &str) -> Verdict<Fetched> {
    let Ok(RangeRefusal { error }) = reply.object() else {
        let why = "is no range, and no error of leafid's: see the URL in `servers`, and `protocol`";
        return reply.wrongly(reply.invalid(why));
    };
    let known = Code::ALL.into_iter().find(|code| code.name() == error);
    let said = reply.said();
    match known {
        Some(Code::UnknownTag) => {
            let message =
                format!("{said}: the source does not know the tag {tag:?}; make it there, or see its name");
            Verdict::Refused(Error::new(Code::UnknownTag, message))
        }
        Some(code @ (Code::InvalidArgument | Code::SegmentRegressed)) => {
            Verdict::Refused(Error::new(code, said))
        }
        Some(Code::SegmentUnavailable) => Verdict::BadServer(Error::new(Code::SegmentUnavailable, said)),
        _ => Verdict::BadServer(reply.invalid("is no range, and an error that means nothing here")),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_first_range_at_the_end_of_all_ids_is_another_server_s_chance() {
        let high = Segment::new(i64::MAX - 1_001, i64::MAX - 1, 1).unwrap();
        for after in [0, 1_001] {
            assert_eq!(above(high, after).unwrap_err().code(), Code::SourceInvalid, "after {after}");
        }
        above(high, i64::MAX - 1_001).unwrap();
        // A counter may start anywhere else.
        above(Segment::new(1 << 60, (1 << 60) + 5, 1).unwrap(), 0).unwrap();
        let below = above(Segment::new(5, 9, 1).unwrap(), 6).unwrap_err();
        assert_eq!(below.code(), Code::SegmentRegressed);
    }

    #[test]
    fn a_step_is_1_at_least() {
        for (step, taken) in [(-1, false), (0, false), (1, true), (1_000, true)] {
            let body = format!(r#"{{"tag":"t","start":"1","end":"9","stride":1,"step":{step},"nonce":"n"}}"#);
            let verdict = read(&Response::of(200, body.as_bytes()), "t", "n");
            assert_eq!(matches!(verdict, Verdict::Answer(_)), taken, "{step}");
        }
    }

    #[test]
    fn a_server_may_say_that_it_has_none_now() {
        let body = br#"{"error":"segment_unavailable"}"#;
        let Verdict::BadServer(error) = read(&Response::of(400, body), "t", "n") else { unreachable!() };
        assert_eq!(error.code(), Code::SegmentUnavailable);
    }
}
