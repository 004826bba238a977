//! What servers of each dialect answer: a segment or a lease is what the body says, to the letter.
#![no_main]

use leafid::{Error, Fetched, Segment};
use leafid_core::RenewalAnswer;
use leafid_core::wire::leaf::LeafMode;
use leafid_core::wire::range::RangeRequest;
use leafid_core::wire::tinyid::TinyidRequest;
use leafid_core::wire::{Response, lease_server};
use leafid_fuzz::{Input, check};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

const STATUS: [u16; 12] = [200, 200, 200, 200, 204, 301, 400, 401, 404, 409, 500, 503];
const TAG: &str = "order-x100";
const NONCE: u128 = 0x0123_4567_89ab_cdef_0123_4567_89ab_cdef;
const RANGE: RangeRequest<'_> = RangeRequest { tag: TAG, step: 0, after: 0, ordered: false };

fuzz_target!(|data: &[u8]| {
    let mut input = Input::new(data);
    let (kind, status) = (input.byte() % 8, STATUS[input.below(STATUS.len() - 1)]);
    let body = &input.long()[..];
    let reply = Response::new("http://127.0.0.1", status, body, "servers");
    match kind {
        0 | 1 => range(&reply),
        2 => leaf(LeafMode::Segment { block_size: 1 }, &reply),
        3 => leaf(LeafMode::Segment { block_size: 100 }, &reply),
        4 => leaf(LeafMode::Snowflake, &reply),
        5 => tinyid(&reply),
        6 => claim(&reply),
        _ => renewal(&reply),
    }
});

fn nonce() -> String {
    format!("{NONCE:032x}")
}

fn segment(reply: &Response, judged: Result<Segment, Error>) -> Option<Segment> {
    let segment = judged.map_err(|error| check(&error)).ok()?;
    assert_eq!(reply.status, 200);
    let (count, stride) = (segment.len(), i128::from(segment.stride()));
    assert!(segment.start() >= 0 && stride >= 1 && count >= 1 && segment.last() < segment.end());
    assert!(i128::from(segment.last()) + stride >= i128::from(segment.end()), "{segment:?}");
    assert_eq!(segment.id(0), Some(segment.start()));
    assert_eq!((segment.id(count - 1), segment.id(count)), (Some(segment.last()), None));
    Some(segment)
}

/// A number in the one way in which it may be written.
fn canonical(text: &str) -> Option<i64> {
    text.parse::<i64>().ok().filter(|number| *number >= 0 && number.to_string() == text)
}

/// None where a field that means nothing holds what is no text: that is not looked at.
fn object(body: &[u8]) -> Option<Value> {
    let value: Option<Value> = serde_json::from_slice(body).ok();
    assert!(value.as_ref().is_none_or(Value::is_object));
    value
}

fn range(reply: &Response) {
    let judged = RANGE.judge(reply, NONCE).into_result();
    let step = judged.as_ref().ok().and_then(|fetched| fetched.step);
    let Some(segment) = segment(reply, judged.map(|fetched| fetched.segment)) else { return };
    let Some(said) = object(&reply.body) else { return };
    let number = |name: &str| said[name].as_str().and_then(canonical);
    assert_eq!((said["tag"].as_str(), said["nonce"].as_str()), (Some(TAG), Some(&nonce()[..])));
    assert_eq!((number("start"), number("end")), (Some(segment.start()), Some(segment.end())));
    assert_eq!((said["stride"].as_i64(), said["step"].as_i64()), (Some(segment.stride()), step));
    assert!(step.is_none_or(|step| step >= 1));
    let written = serde_json::json!({
        "tag": TAG, "nonce": nonce(), "stride": segment.stride(), "step": step,
        "start": segment.start().to_string(), "end": segment.end().to_string(),
    });
    let again = Response { body: written.to_string().into(), ..reply.clone() };
    assert_eq!(RANGE.judge(&again, NONCE).into_result(), Ok(Fetched { segment, step }));
}

fn leaf(mode: LeafMode, reply: &Response) {
    let Some(segment) = segment(reply, mode.judge(reply, TAG).into_result()) else { return };
    let each = mode.each();
    let number = std::str::from_utf8(&reply.body).ok().and_then(canonical).expect("bare digits");
    assert!(number > 0, "0 is no id");
    assert_eq!(Ok(segment), Segment::new(number * each, number * each + each, 1));
}

fn tinyid(reply: &Response) {
    let request = TinyidRequest { tag: TAG, token: "" };
    let Some(segment) = segment(reply, request.judge_ids(reply).into_result()) else { return };
    let text = std::str::from_utf8(&reply.body).expect("digits");
    let numbers: Vec<i128> = text.split(',').map(|n| canonical(n).expect("digits").into()).collect();
    let [current, _, most, delta, remainder] = numbers[..] else { panic!("{text}") };
    let (first, last) = (i128::from(segment.start()), i128::from(segment.last()));
    assert!(current < first && last <= most, "{text}: {segment:?}");
    assert!(first - delta <= current && most < last + delta, "{text}: one is left out of {segment:?}");
    assert_eq!((i128::from(segment.stride()), first % delta, last % delta), (delta, remainder, remainder));
}

fn token(token: Option<String>, said: &Value) {
    let token = token.expect("a token");
    assert_eq!(said["token"].as_str(), Some(&token[..]));
    assert!((1..=1_024).contains(&token.len()) && !token.contains(char::is_control));
}

fn claim(reply: &Response) {
    told(reply);
    let lease = match lease_server::judge_claim(reply, "shop", &nonce()).into_result() {
        Ok(lease) => lease,
        Err(error) => return check(&error),
    };
    assert_eq!(reply.status, 200);
    let Some(said) = object(&reply.body) else { return };
    assert_eq!(said["instance"], nonce());
    let numbers = [lease.worker_id, lease.from_ms, lease.until_ms, lease.lease_ms.expect("a time")];
    let names = ["worker_id", "from", "until", "lease_ms"];
    assert_eq!(names.map(|name| said[name].as_i64()), numbers.map(Some));
    assert!(lease.worker_id >= 0 && lease.from_ms < lease.until_ms && numbers[3] >= 1, "{lease:?}");
    let peers: Vec<Option<i64>> =
        said["peer_times"].as_array().expect("times").iter().map(Value::as_i64).collect();
    assert_eq!(peers, lease.peer_times_ms.iter().copied().map(Some).collect::<Vec<_>>());
    token(lease.token, &said);
}

fn renewal(reply: &Response) {
    told(reply);
    let renewal = match lease_server::judge_renewal(reply, &nonce()).into_result() {
        Ok(RenewalAnswer::Renewed(renewal)) => renewal,
        Ok(RenewalAnswer::Lost(error) | RenewalAnswer::Failed(error)) | Err(error) => return check(&error),
        Ok(RenewalAnswer::NotHeld) => panic!("a server says it in an error"),
    };
    assert_eq!(reply.status, 200);
    let Some(said) = object(&reply.body) else { return };
    assert_eq!(said["nonce"], nonce());
    assert_eq!(
        (said["until"].as_i64(), said["lease_ms"].as_i64()),
        (Some(renewal.until_ms), renewal.lease_ms)
    );
    assert!(renewal.lease_ms >= Some(1) && renewal.worker_id.is_none());
    token(renewal.token, &said);
}

/// What a server says of a refusal goes into a message: in one short line.
fn told(reply: &Response) {
    if let Some((code, told)) = lease_server::refusal(reply) {
        assert!(object(&reply.body).is_none_or(|said| said["error"] == code.name()));
        assert!(told.len() <= 2_048 && !told.contains(char::is_control), "{told:?}");
    }
}
