//! Leaf's pages: /cache shows the tags that this server holds, /db the rows of the table. JSON if the client asks for it.

use super::answer::{self, Handled, wants_json};
use super::guard::Granted;
use crate::tags::TagStats;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::header::{CONTENT_SECURITY_POLICY, HeaderValue};
use axum::http::{HeaderMap, Response, StatusCode};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::fmt::Write;

const HTML: &str = "text/html;charset=UTF-8";
/// A page of more would be too long: the next one begins behind `?after=` its last tag.
const MOST: usize = 1_000;
/// The columns of a Leaf. The segment that ids come from is always 0, so `pos` is 0.
const CACHE: [&str; 10] =
    ["name", "init", "next", "pos", "value0", "max0", "step0", "value1", "max1", "step1"];
const DB: [&str; 5] = ["tag", "max", "step", "update", "description"];
const STYLE: &str = ":root{color-scheme:light dark;font-family:sans-serif}table{border-collapse:collapse}\
    td,th{padding:.3em .8em;text-align:left;border-bottom:1px solid #8886}td{font-variant-numeric:tabular-nums}";

pub(super) async fn cache(
    State(Granted { app, grant }): State<Granted>,
    Query(words): Query<HashMap<String, String>>,
    headers: HeaderMap,
) -> Response<Body> {
    let after = words.get("after").map_or("", String::as_str);
    let stats = app.tags.stats();
    let behind = stats.iter().filter(|tag| &*tag.name > after && grant.check_tag(&tag.name).is_ok());
    page("cache", &CACHE, behind.take(MOST).map(held).collect(), wants_json(&headers))
}

pub(super) async fn db(
    State(Granted { app, grant }): State<Granted>,
    Query(words): Query<HashMap<String, String>>,
    headers: HeaderMap,
) -> Handled {
    let mut after = words.get("after").map_or("", String::as_str).to_owned();
    let mut seen = Vec::new();
    // The rows that a token may see may stand behind many that it may not.
    loop {
        let rows = app.store.tag_rows(&after, MOST).await?;
        let last = rows.last().filter(|_| rows.len() == MOST).map(|row| row.tag.clone());
        seen.extend(rows.into_iter().filter(|row| grant.check_tag(&row.tag).is_ok()));
        match last.filter(|_| seen.len() < MOST) {
            Some(last) => after = last,
            None => break,
        }
    }
    let fields = seen.into_iter().take(MOST).map(|row| {
        vec![row.tag, row.max_id.to_string(), row.step.to_string(), row.update_time, row.description]
    });
    Ok(page("db", &DB, fields.collect(), wants_json(&headers)))
}

/// The fields of [`CACHE`].
fn held(tag: &TagStats) -> Vec<String> {
    let mut fields = vec![
        tag.name.to_string(),
        (tag.left + tag.taken > 0).to_string(),
        (tag.segments.len() > 1).to_string(),
        "0".to_owned(),
    ];
    for at in 0..2 {
        let segment = tag.segments.get(at).map(|segment| (segment.start(), segment.end(), tag.step));
        let (value, max, step) = segment.unwrap_or_default();
        fields.extend([value, max, step].map(|number| number.to_string()));
    }
    fields
}

fn page(title: &str, columns: &[&str], rows: Vec<Vec<String>>, as_json: bool) -> Response<Body> {
    if as_json {
        let object = |row: &Vec<String>| -> Value {
            let pairs =
                columns.iter().zip(row).map(|(name, text)| ((*name).to_owned(), text.as_str().into()));
            pairs.collect::<Map<_, _>>().into()
        };
        return answer::json(StatusCode::OK, &rows.iter().map(object).collect::<Vec<_>>());
    }
    let mut html = format!(
        "<!DOCTYPE html><html lang=en><meta name=viewport content='width=device-width'><title>Leaf {title}</title>\
         <style>{STYLE}</style><table><thead><tr>"
    );
    for column in columns {
        push(&mut html, "th", column);
    }
    html.push_str("</tr></thead><tbody>\n");
    for row in &rows {
        html.push_str("<tr>");
        row.iter().for_each(|field| push(&mut html, "td", field));
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody></table></html>\n");
    let mut response = answer::body(StatusCode::OK, HTML, html);
    let policy = HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'");
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    response
}

fn push(html: &mut String, element: &str, text: &str) {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    // A String takes all that is written.
    let _ = write!(html, "<{element}>{escaped}</{element}>");
}
