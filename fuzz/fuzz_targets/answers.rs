//! What servers of each dialect answer: a segment or a lease is what the body says, to the letter.
#![no_main]

use leafid::fuzzing::{Dialect, answer, claimed, refusal, renewed};
use leafid::{Fetched, Segment};
use leafid_fuzz::{Input, check};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

const STATUS: [u16; 12] = [200, 200, 200, 200, 204, 301, 400, 401, 404, 409, 500, 503];
const TAG: &str = "order-x100";
const NONCE: &str = "0123456789abcdef0123456789abcdef";

fuzz_target!(|data: &[u8]| {
    let mut input = Input::new(data);
    let (kind, status) = (input.byte() % 8, STATUS[input.below(STATUS.len() - 1)]);
    let body = &input.long()[..];
    match kind {
        0 | 1 => range(status, body),
        2 => leaf(Dialect::Leaf { block_size: 1 }, status, body, 1),
        3 => leaf(Dialect::Leaf { block_size: 100 }, status, body, 100),
        4 => leaf(Dialect::LeafSnowflake, status, body, 1),
        5 => tinyid(status, body),
        6 => claim(status, body),
        _ => renewal(status, body),
    }
});

fn segment(dialect: Dialect, status: u16, body: &[u8]) -> Option<Fetched> {
    let fetched = answer(dialect, status, body, TAG, NONCE).map_err(|error| check(&error)).ok()?;
    assert_eq!(status, 200);
    let segment = fetched.segment;
    let (count, stride) = (segment.len(), i128::from(segment.stride()));
    assert!(segment.start() >= 0 && stride >= 1 && count >= 1 && segment.last() < segment.end());
    assert!(i128::from(segment.last()) + stride >= i128::from(segment.end()), "{segment:?}");
    assert_eq!(segment.id(0), Some(segment.start()));
    assert_eq!((segment.id(count - 1), segment.id(count)), (Some(segment.last()), None));
    Some(fetched)
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

fn range(status: u16, body: &[u8]) {
    let Some(Fetched { segment, step }) = self::segment(Dialect::Range { ordered: true }, status, body)
    else {
        return;
    };
    let Some(said) = object(body) else { return };
    let number = |name: &str| said[name].as_str().and_then(canonical);
    assert_eq!((said["tag"].as_str(), said["nonce"].as_str()), (Some(TAG), Some(NONCE)));
    assert_eq!((number("start"), number("end")), (Some(segment.start()), Some(segment.end())));
    assert_eq!((said["stride"].as_i64(), said["step"].as_i64()), (Some(segment.stride()), step));
    assert!(step.is_none_or(|step| step >= 1));
    let written = serde_json::json!({
        "tag": TAG, "nonce": NONCE, "stride": segment.stride(), "step": step,
        "start": segment.start().to_string(), "end": segment.end().to_string(),
    });
    let again = answer(Dialect::Range { ordered: true }, 200, written.to_string().as_bytes(), TAG, NONCE);
    assert_eq!(again, Ok(Fetched { segment, step }));
}

fn leaf(dialect: Dialect, status: u16, body: &[u8], each: i64) {
    let Some(Fetched { segment, .. }) = self::segment(dialect, status, body) else { return };
    let number = std::str::from_utf8(body).ok().and_then(canonical).expect("bare digits");
    assert!(number > 0, "0 is no id");
    assert_eq!(Ok(segment), Segment::new(number * each, number * each + each, 1));
}

fn tinyid(status: u16, body: &[u8]) {
    let Some(Fetched { segment, .. }) = self::segment(Dialect::Tinyid, status, body) else { return };
    let text = std::str::from_utf8(body).expect("digits");
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

fn claim(status: u16, body: &[u8]) {
    told(status, body);
    let lease = match claimed(status, body, NONCE) {
        Ok(lease) => lease,
        Err(error) => return check(&error),
    };
    let Some(said) = object(body) else { return };
    assert_eq!(said["instance"], NONCE);
    let numbers = [lease.worker_id, lease.from_ms, lease.until_ms, lease.lease_ms.expect("a time")];
    let names = ["worker_id", "from", "until", "lease_ms"];
    assert_eq!(names.map(|name| said[name].as_i64()), numbers.map(Some));
    assert!(lease.worker_id >= 0 && lease.from_ms < lease.until_ms && numbers[3] >= 1, "{lease:?}");
    let peers: Vec<Option<i64>> =
        said["peer_times"].as_array().expect("times").iter().map(Value::as_i64).collect();
    assert_eq!(peers, lease.peer_times_ms.iter().copied().map(Some).collect::<Vec<_>>());
    token(lease.token, &said);
}

fn renewal(status: u16, body: &[u8]) {
    told(status, body);
    let renewal = match renewed(status, body, NONCE) {
        Ok(renewal) => renewal,
        Err(error) => return check(&error),
    };
    let Some(said) = object(body) else { return };
    assert_eq!(said["nonce"], NONCE);
    assert_eq!(
        (said["until"].as_i64(), said["lease_ms"].as_i64()),
        (Some(renewal.until_ms), renewal.lease_ms)
    );
    assert!(renewal.lease_ms >= Some(1) && renewal.worker_id.is_none());
    token(renewal.token, &said);
}

/// What a server says of a refusal goes into a message: in one short line.
fn told(status: u16, body: &[u8]) {
    if let Some((code, told)) = refusal(status, body) {
        assert!(object(body).is_none_or(|said| said["error"] == code.name()));
        assert!(told.len() <= 2_048 && !told.contains(char::is_control), "{told:?}");
    }
}
