//! Ranges of a tag, straight from the store: docs/SEGMENTS.md.

use super::answer::{self, Handled};
use super::guard::Granted;
use super::leaf;
use axum::extract::{Query, State};
use axum::http::{StatusCode, Uri};
use leafid_core::{Error, LARGEST_STEP, Result, parse_id};
use serde::Serialize;
use std::collections::HashMap;

/// The longest nonce that is repeated.
const LONGEST_NONCE: usize = 128;

#[derive(Serialize)]
struct Range<'r> {
    tag: &'r str,
    start: String,
    end: String,
    stride: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nonce: Option<&'r str>,
}

struct RangeQuery<'q> {
    step: Option<i64>,
    after: i64,
    nonce: Option<&'q str>,
}

pub(super) async fn range(
    State(Granted { app, grant }): State<Granted>,
    uri: Uri,
    Query(words): Query<HashMap<String, String>>,
) -> Handled {
    let wrong =
        |_| Error::invalid("tag", "no UTF-8", "1 to 128 characters of UTF-8 without control characters");
    let tag = leaf::tag(&uri).map_err(wrong)?;
    grant.check_tag(app.dots().tag(&tag))?;
    let asked = asked(&words)?;
    let fetched = app.tags.range(app.dots().tag(&tag), asked.step, asked.after).await?;
    let (start, end) = (fetched.segment.start().to_string(), fetched.segment.end().to_string());
    let stride = fetched.segment.stride();
    let range = Range { tag: &tag, start, end, stride, step: fetched.step, nonce: asked.nonce };
    Ok(answer::json(StatusCode::OK, &range))
}

fn asked(words: &HashMap<String, String>) -> Result<RangeQuery<'_>> {
    let number = |name: &str, allowed: &str| {
        let wrong = |text: &String| Error::invalid(name, format!("{text:?}"), allowed);
        words.get(name).map(|text| parse_id(text).map_err(|_| wrong(text))).transpose()
    };
    let step = match number("step", "1 or more, in digits")? {
        Some(step) if step < 1 => return Err(Error::invalid("step", step, "1 or more")),
        // It may return fewer than were asked for.
        step => step.map(|step| step.min(LARGEST_STEP)),
    };
    let nonce = words.get("nonce").map(String::as_str);
    match nonce.filter(|nonce| nonce.len() > LONGEST_NONCE) {
        Some(long) => Err(Error::invalid("nonce", format!("{} bytes", long.len()), "at most 128 bytes")),
        None => {
            let after = number("after", "0 to 9223372036854775807, in digits")?;
            Ok(RangeQuery { step, after: after.unwrap_or(0), nonce })
        }
    }
}
