//! leafid's own protocol of ranges: `POST /api/segment/range/{tag}?step=1000&after=900&nonce=…`.

use super::{Method, Request, Response, Verdict, canonical, percent_encoded};
use crate::json::{JsonResult, Object};
use crate::quoted::Quoted;
use crate::segment::guard::Guard;
use crate::{Code, Error, Fetched, IdOrder, Result, Segment};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// A request for a range of ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeRequest<'a> {
    /// The tag.
    pub tag: &'a str,
    /// The number of ids; 0 leaves it to the server.
    pub step: i64,
    /// Every id below was given before.
    pub after: i64,
    /// Whether a range below `after` is refused.
    pub ordered: bool,
}

/// The body of a response 200. More fields may come in later versions.
struct RangeAnswer {
    tag: String,
    start: String,
    end: String,
    stride: i64,
    step: Option<i64>,
    nonce: String,
}

impl RangeAnswer {
    fn read(body: &Object<'_>) -> JsonResult<RangeAnswer> {
        Ok(RangeAnswer {
            tag: body.text("tag")?,
            start: body.text("start")?,
            end: body.text("end")?,
            stride: body.integer("stride")?,
            step: body.optional("step")?.map(|step| step.integer()).transpose()?,
            nonce: body.text("nonce")?,
        })
    }
}

impl RangeRequest<'_> {
    /// The request. `nonce` is a new random number for each one.
    pub fn request(&self, nonce: u128) -> Request {
        let step = if self.step == 0 { String::new() } else { format!("step={}&", self.step) };
        let (tag, after) = (percent_encoded(self.tag), self.after);
        let path = format!("/api/segment/range/{tag}?{step}after={after}&nonce={nonce:032x}");
        Request { method: Method::Post, path, body: None, once: false }
    }

    /// The meaning of the response to the request with this nonce.
    pub fn judge(&self, reply: &Response, nonce: u128) -> Verdict<Fetched> {
        if let Some(error) = reply.failure() {
            return reply.wrongly(error);
        }
        if reply.status != 200 {
            return refused(reply, self.tag);
        }
        let fetched = fetched(reply, self.tag, &format!("{nonce:032x}")).and_then(|fetched| {
            // Another server may still have what this one has lost.
            let above = if self.ordered { above(fetched.segment, self.after) } else { Ok(()) };
            above.map(|()| fetched).map_err(|error| error.context(reply.said()))
        });
        fetched.map_or_else(Verdict::BadServer, Verdict::Answer)
    }
}

/// Errors: `segment_regressed`; `source_invalid` for a jump that no counter makes, also of the first segment. Such a
/// jump would become a mark, the mark would be sent to other servers, and these would continue above it.
fn above(segment: Segment, after: i64) -> Result<()> {
    Guard::resume(IdOrder::Ranges, after.max(1), Vec::new(), 1).offer(segment, after)?;
    Guard::resume(IdOrder::Ascending, after, Vec::new(), 1).offer(segment, after)
}

fn fetched(reply: &Response, tag: &str, nonce: &str) -> Result<Fetched> {
    let answer = reply
        .object()
        .and_then(|body| RangeAnswer::read(&body))
        .map_err(|why| reply.invalid(&format!("is not a range: {why}")))?;
    if answer.tag != tag {
        return Err(reply.invalid(&format!("is for another tag than {}", Quoted(tag))));
    }
    if answer.nonce != nonce {
        let why = format!("is to another request: its nonce is not {nonce}; a proxy may repeat answers");
        return Err(reply.invalid(&why));
    }
    let decimal = |name: &str, text: &str| {
        canonical(text).ok_or_else(|| {
            reply.invalid(&format!("has {name} {}, which is not a decimal number below 2^63", Quoted(text)))
        })
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
    let Ok(error) = reply.object().and_then(|body| body.text("error")) else {
        let why = "is neither a range nor an error of leafid: see the URL in `servers`, and `protocol`";
        return reply.wrongly(reply.invalid(why));
    };
    let known = Code::ALL.into_iter().find(|code| code.name() == error);
    let said = reply.said();
    match known {
        Some(Code::UnknownTag) => {
            let message = format!(
                "{said}: the source does not know the tag {}; make it there, or see its name",
                Quoted(tag)
            );
            Verdict::Refused(Error::new(Code::UnknownTag, message))
        }
        Some(code @ (Code::InvalidArgument | Code::SegmentRegressed)) => {
            Verdict::Refused(Error::new(code, said))
        }
        Some(Code::SegmentUnavailable) => Verdict::BadServer(Error::new(Code::SegmentUnavailable, said)),
        _ => Verdict::BadServer(reply.invalid("is not a range, but an unexpected error")),
    }
}
