//! The protocols of servers: requests, and how a response is judged.

use crate::argument::optional;
use crate::module::{Module, Result, call, utf8, write};
use crate::segment::write_segments;
use leafid_core::wire::leaf::LeafMode;
use leafid_core::wire::range::RangeRequest;
use leafid_core::wire::tinyid::TinyidRequest;
use leafid_core::wire::{Method, Request, Response, Verdict, quoted};
use leafid_core::{Error, Fetched};

/// What a response means: 0 an answer; 1 refused, as by all servers; 2 try the next server; 3 a bad server; 4 a bad
/// server until somebody changes something.
fn verdict<T>(module: &mut Module, verdict: Verdict<T>, answer: impl FnOnce(&mut Module, T)) -> i32 {
    let (number, error) = match verdict {
        Verdict::Answer(found) => {
            answer(module, found);
            return 0;
        }
        Verdict::Refused(error) => (1, error),
        Verdict::TryNext(error) => (2, error),
        Verdict::BadServer(error) => (3, error),
        Verdict::Denied(error) => (4, error),
    };
    module.answer_error(&error);
    number
}

fn fetched(module: &mut Module, fetched: Fetched) {
    write_segments([fetched.segment]);
    module.answer(&[fetched.step.map_or(f64::NAN, |step| step as f64)]);
}

/// The method (0 GET, 1 POST), whether servers do it once, and the lengths of path, Content-Type and body, which are the
/// output; without a body the last two are -1.
fn write_request(module: &mut Module, request: &Request) -> i32 {
    let body = request.body.as_ref();
    module.answer(&[
        u8::from(request.method == Method::Post).into(),
        u8::from(request.once).into(),
        request.path.len() as f64,
        body.map_or(-1.0, |body| body.content_type.len() as f64),
        body.map_or(-1.0, |body| body.text.len() as f64),
    ]);
    let (kind, text) = body.map_or(("", ""), |body| (body.content_type, &body.text));
    write(&[&request.path, kind, text]);
    0
}

fn nonce(high: i64, low: i64) -> u128 {
    u128::from(high as u64) << 64 | u128::from(low as u64)
}

/// A response. The input is the URL without its query, the header Location, a flaw of its frame, and the body. -1 as the
/// length of Location or flaw: there is none. `option` is what names the servers: 0 `servers`, 1 `worker`.
#[unsafe(no_mangle)]
extern "C" fn response_new(
    status: i32,
    option: i32,
    url_length: i32,
    location_length: i32,
    flaw_length: i32,
    body_length: i32,
) -> i32 {
    call(|module| {
        let lengths = [url_length, location_length.max(0), flaw_length.max(0), body_length];
        let [url, location, flaw, body] = module.input(lengths)?;
        let status = u16::try_from(status).map_err(|_| Error::invalid("status", status, "as of HTTP"))?;
        let option = if option == 0 { "servers" } else { "worker" };
        let mut response = Response::new(utf8(url)?, status, body, option);
        if location_length >= 0 {
            response.location = Some(quoted(location));
        }
        if flaw_length >= 0 {
            response.flaw = Some(utf8(flaw)?.into());
        }
        Ok(module.add(response))
    })
}

/// A Leaf: 0 is its snowflake, otherwise the number of ids in a response of its segments.
fn mode(block_size: f64) -> Result<LeafMode> {
    Ok(match optional("block_size", block_size)?.unwrap_or(1) {
        0 => LeafMode::Snowflake,
        block_size => LeafMode::Segment { block_size },
    })
}

/// Checks a tag for a Leaf.
#[unsafe(no_mangle)]
extern "C" fn leaf_check_tag(block_size: f64, length: i32) -> i32 {
    call(|module| {
        let [tag] = module.texts([length])?;
        mode(block_size)?.check_tag(tag)?;
        Ok(0)
    })
}

/// The request to a Leaf.
#[unsafe(no_mangle)]
extern "C" fn leaf_request(block_size: f64, tag_length: i32, nonce_high: i64, nonce_low: i64) -> i32 {
    call(|module| {
        let [tag] = module.texts([tag_length])?;
        let request = mode(block_size)?.request(tag, nonce(nonce_high, nonce_low));
        Ok(write_request(module, &request))
    })
}

/// The meaning of a Leaf's response; an answer is a segment.
#[unsafe(no_mangle)]
extern "C" fn leaf_judge(response: i32, block_size: f64, tag_length: i32) -> i32 {
    call(|module| {
        let [tag] = module.texts([tag_length])?;
        let judged = mode(block_size)?.judge(module.get::<Response>(response)?, tag);
        Ok(verdict(module, judged, |module, segment| fetched(module, segment.into())))
    })
}

/// The request to a server of ranges.
#[unsafe(no_mangle)]
extern "C" fn range_request(
    tag_length: i32,
    step: f64,
    after: i64,
    ordered: i32,
    nonce_high: i64,
    nonce_low: i64,
) -> i32 {
    call(|module| {
        let [tag] = module.texts([tag_length])?;
        let request = RangeRequest { tag, step: step as i64, after, ordered: ordered != 0 };
        let request = request.request(nonce(nonce_high, nonce_low));
        Ok(write_request(module, &request))
    })
}

/// The meaning of its response to the request with the same arguments; an answer is a segment, and the source's own
/// step or NaN.
#[unsafe(no_mangle)]
extern "C" fn range_judge(
    response: i32,
    tag_length: i32,
    step: f64,
    after: i64,
    ordered: i32,
    nonce_high: i64,
    nonce_low: i64,
) -> i32 {
    call(|module| {
        let [tag] = module.texts([tag_length])?;
        let request = RangeRequest { tag, step: step as i64, after, ordered: ordered != 0 };
        let judged = request.judge(module.get::<Response>(response)?, nonce(nonce_high, nonce_low));
        Ok(verdict(module, judged, fetched))
    })
}

/// The request to a tinyid for ids, or, with `reason`, for the reason why there are none.
#[unsafe(no_mangle)]
extern "C" fn tinyid_request(
    tag_length: i32,
    token_length: i32,
    reason: i32,
    nonce_high: i64,
    nonce_low: i64,
) -> i32 {
    call(|module| {
        let [tag, token] = module.texts([tag_length, token_length])?;
        let (tinyid, nonce) = (TinyidRequest { tag, token }, nonce(nonce_high, nonce_low));
        let request = if reason == 0 { tinyid.ids(nonce) } else { tinyid.reason(nonce) };
        Ok(write_request(module, &request))
    })
}

/// The meaning of a tinyid's response to a request for ids; an answer is a segment. 2: ask it for the reason.
#[unsafe(no_mangle)]
extern "C" fn tinyid_judge(response: i32, tag_length: i32) -> i32 {
    call(|module| {
        let [tag] = module.texts([tag_length])?;
        let judged = TinyidRequest { tag, token: "" }.judge_ids(module.get::<Response>(response)?);
        Ok(verdict(module, judged, |module, segment| fetched(module, segment.into())))
    })
}

/// The meaning of a tinyid's response to a request for the reason, which is never an answer. The input is the tag, and
/// the message of the error before, whose number is `number`.
#[unsafe(no_mangle)]
extern "C" fn tinyid_judge_reason(response: i32, tag_length: i32, number: i32, message_length: i32) -> i32 {
    call(|module| {
        let [tag, message] = module.texts([tag_length, message_length])?;
        let code = leafid_core::Code::from_number(number).unwrap_or(leafid_core::Code::SegmentUnavailable);
        let before = Error::new(code, message);
        let tinyid = TinyidRequest { tag, token: "" };
        let judged: Verdict<()> = tinyid.judge_reason(module.get::<Response>(response)?, &before);
        Ok(verdict(module, judged, |_, ()| ()))
    })
}
