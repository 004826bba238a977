//! Tags made and changed: `POST /api/tag`.

use super::answer::{self, Handled};
use super::guard::Granted;
use crate::access::Denied;
use crate::store::TagChange;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use leafid_core::options::check_row_tag;
use leafid_core::{Error, Result};
use serde::{Deserialize, Serialize};

/// The longest description, in characters: Leaf's column.
const LONGEST: usize = 256;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TagBody {
    tag: String,
    step: Option<i64>,
    /// The first id, in digits or as a number.
    first: Option<i64>,
    description: Option<String>,
}

#[derive(Serialize)]
struct Changed {
    tag: String,
    max_id: String,
    step: i64,
    description: String,
    created: bool,
}

pub(super) async fn set_tag(State(Granted { app, grant }): State<Granted>, body: Bytes) -> Handled {
    if app.options.admin_listen.is_none() && !grant.has_token() {
        let message = "the admin API is off: it needs a token with the scope admin, or --admin-listen";
        return Err(Denied::Forbidden(message.to_owned()).into());
    }
    let TagBody { tag, step, first, description } = parse(&body)?;
    grant.check_tag(&tag)?;
    app.dots().check_new(&app.store, &tag, first.unwrap_or(1)).await?;
    let (row, created) = app.store.change_tag(&tag, TagChange { step, first, description }).await?;
    log::info!("the tag {tag:?} was {}: step {}", if created { "made" } else { "changed" }, row.step);
    let max_id = row.max_id.to_string();
    let changed = Changed { tag: row.tag, max_id, step: row.step, description: row.description, created };
    Ok(answer::json(if created { StatusCode::CREATED } else { StatusCode::OK }, &changed))
}

fn parse(body: &[u8]) -> Result<TagBody> {
    let body: TagBody = serde_json::from_slice(body).map_err(|error| {
        Error::invalid(
            "the body",
            format!("not valid: {error}"),
            "a JSON object of tag, step, first and description",
        )
    })?;
    check_row_tag(&body.tag)?;
    let most = i64::from(i32::MAX);
    if let Some(step) = body.step.filter(|step| !(1..=most).contains(step)) {
        return Err(Error::invalid("step", step, &format!("1 to {most}")));
    }
    if let Some(first) = body.first.filter(|first| *first < 0) {
        return Err(Error::invalid("first", first, "0 or more"));
    }
    let is_wrong = |text: &String| text.chars().count() > LONGEST || text.chars().any(char::is_control);
    if body.description.as_ref().is_some_and(is_wrong) {
        let allowed = format!("up to {LONGEST} characters, none of them a control character");
        return Err(Error::invalid("description", "too long or not printable", &allowed));
    }
    Ok(body)
}
