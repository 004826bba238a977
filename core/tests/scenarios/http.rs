//! Requests and responses of servers, as scenarios write them.

use super::words::{Words, moved};
use leafid_core::http::{BodyEnd, Frame, HttpCall, HttpEnd, NoResponse, ResponseHead};
use leafid_core::wire::Method;
use serde_json::{Map, Value};

/// The fields of a query or of a form. What is a number is one.
fn fields(text: &str) -> impl Iterator<Item = (String, Value)> {
    text.split('&').filter_map(|pair| pair.split_once('=')).map(|(name, value)| {
        let number = value.parse::<i64>().ok().filter(|number| number.to_string() == value);
        (name.into(), number.map_or_else(|| value.into(), Into::into))
    })
}

/// The request as "METHOD URL", and the fields of its query and its body. Times count from `start_ms`.
pub(super) fn sent(call: &mut HttpCall, urls: &[String], random: u128, start_ms: i64) -> (String, Value) {
    let request = call.request(random);
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let mut sent: Map<String, Value> = fields(query).collect();
    if let Some(body) = &request.body {
        match serde_json::from_str(&body.text) {
            Ok(Value::Object(fields)) => sent.extend(fields),
            _ => sent.extend(fields(&body.text)),
        }
    }
    let method = if request.method == Method::Get { "GET" } else { "POST" };
    (format!("{method} {}{path}", urls[call.server]), moved("", &Value::Object(sent), -start_ms))
}

/// The end as a step says: "$nonce" in a body is what the request sent under this name.
pub(super) fn end(call: HttpCall, words: &Words<'_>, sent: &Value, start_ms: i64) -> HttpEnd {
    if let Some(how) = words.text("fails") {
        let why = match how {
            "no connection" => NoResponse::ConnectTimedOut,
            "no answer" => NoResponse::TimedOut,
            "closed" => NoResponse::Closed,
            _ => panic!("no request fails so: {how}"),
        };
        return call.failed(why, false);
    }
    let mut body = match words.get("gives") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) => String::new(),
        Some(value) => moved("", value, start_ms).to_string(),
        None => panic!("it says neither what it gives nor how it fails"),
    };
    for (name, value) in sent.as_object().into_iter().flatten() {
        body = body.replace(&format!("${name}"), value.as_str().unwrap_or_default());
    }
    let length = body.len().to_string();
    let age = words.text("age").map(str::as_bytes);
    let frame = Frame::Shown { content_length: Some(&length), transfer_encoding: None, is_encoded: false };
    let status = words.int("status").unwrap_or(200) as u16;
    let head = ResponseHead { status, location: None, age, frame };
    let ends = if words.is_set("ends_early") { BodyEnd::Early } else { BodyEnd::There };
    let response = call.response(&head, body.into_bytes(), ends);
    call.end(&response).0
}
