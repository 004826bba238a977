//! tinyid's API: a bizType is a tag of `leaf_alloc`, so that a name has one counter whatever clients speak.
//!
//! As with tinyid, all is 200: the calls named Simple answer nothing where they refuse, the others say why.

use super::answer::{self, TEXT};
use super::app::App;
use super::rate_limits::{Client, TooMany};
use super::words::Words;
use crate::access::Grant;
use crate::ids::Ids;
use crate::scope::Scope;
use crate::tags::Patience;
use axum::body::Body;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, Request};
use axum::http::{Response, StatusCode};
use leafid_core::{Code, Error, Result};
use serde::Serialize;
use std::collections::HashMap;
use std::sync::Arc;

/// The largest `batchSize`, as a tinyid has it. Above it that many are given.
const MOST_BATCH: u32 = 100_000;
/// Clients fetch the next segment when this percentage of one is used: tinyid's.
const LOADING_PERCENT: i64 = 20;

#[derive(Serialize)]
struct Answer<T> {
    data: Option<T>,
    code: u16,
    message: String,
}

/// The ids above `current_id`, up to `max_id`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SegmentId {
    max_id: i64,
    loading_id: i64,
    current_id: i64,
    delta: i64,
    remainder: i64,
}

/// Why there are no ids.
enum TinyidRefusal {
    Token,
    TooMany(TooMany),
    Error(Error),
}

impl From<Error> for TinyidRefusal {
    fn from(error: Error) -> TinyidRefusal {
        TinyidRefusal::Error(error)
    }
}

/// A request.
pub(super) struct Asked {
    app: Arc<App>,
    /// That of the connection, if there is a limit.
    address: Option<Client>,
    words: HashMap<String, String>,
}

pub(super) async fn next_id(asked: Asked) -> Response<Body> {
    full(asked.ids().await)
}

pub(super) async fn next_id_simple(asked: Asked) -> Response<Body> {
    simple(asked.ids().await)
}

pub(super) async fn next_segment_id(asked: Asked) -> Response<Body> {
    full(asked.segment().await)
}

pub(super) async fn next_segment_id_simple(asked: Asked) -> Response<Body> {
    simple(asked.segment().await.map(|SegmentId { current_id, loading_id, max_id, delta, remainder }| {
        [current_id, loading_id, max_id, delta, remainder].into_iter().collect()
    }))
}

impl FromRequest<Arc<App>> for Asked {
    type Rejection = BytesRejection;

    async fn from_request(request: Request, app: &Arc<App>) -> std::result::Result<Asked, BytesRejection> {
        let address = request.extensions().get::<Client>().copied();
        let Words(words) = Words::from_request(request, app).await?;
        Ok(Asked { app: app.clone(), address, words })
    }
}

impl Asked {
    async fn ids(&self) -> std::result::Result<Ids, TinyidRefusal> {
        let tag = self.tag(Scope::Ids).await?;
        let (n, limit) = (self.count()?, self.app.options.timeout());
        if n == 0 {
            // It is asked for all the same.
            self.app.tags.warm(tag).await?;
            return Ok(Ids::default());
        }
        let patience = Patience { first: limit, later: limit, issues_zero: false };
        Ok(self.app.tags.take(tag, n, patience).await?)
    }

    async fn segment(&self) -> std::result::Result<SegmentId, TinyidRefusal> {
        let tag = self.tag(Scope::Ranges).await?;
        let segment = self.app.tags.range(tag, None, 0).await?.segment;
        let (end, delta) = (segment.end(), segment.stride());
        // Its ids are positive.
        let first = if segment.start() == 0 { delta } else { segment.start() };
        let loading_id =
            first - 1 + (end - first) / 100 * LOADING_PERCENT + (end - first) % 100 * LOADING_PERCENT / 100;
        Ok(SegmentId { max_id: end - 1, loading_id, current_id: first - 1, delta, remainder: first % delta })
    }

    /// The bizType, if the token may have it.
    async fn tag(&self, scope: Scope) -> std::result::Result<&str, TinyidRefusal> {
        let word = |name: &str| self.words.get(name).map(String::as_str).filter(|word| !word.is_empty());
        let (Some(name), Some(token)) = (word("bizType"), word("token")) else {
            return Err(TinyidRefusal::Token);
        };
        let tag = self.app.dots().tag(name);
        let grant = self.app.access.grant(Some(token)).ok().filter(Grant::has_token);
        if let (Some(limits), Some(address)) = (&self.app.rate_limits, self.address) {
            limits.take(grant.as_ref(), address).map_err(TinyidRefusal::TooMany)?;
        }
        let is_ours =
            grant.is_some_and(|grant| grant.check_scope(scope).is_ok() && grant.check_tag(tag).is_ok());
        let is_allowed = is_ours || self.is_in_table(name, token).await?;
        if is_allowed { Ok(tag) } else { Err(TinyidRefusal::Token) }
    }

    /// Whether tinyid's own table has the token.
    async fn is_in_table(&self, tag: &str, token: &str) -> Result<bool> {
        let read = || {
            let store = self.app.store.clone();
            async move { store.tinyid_tokens().await }
        };
        self.app.tinyid_tokens.allow(tag, token, read).await
    }

    /// None of 0 and below, as tinyid's loop gives them.
    fn count(&self) -> Result<usize> {
        let most = i64::from(self.app.options.max_batch.unwrap_or(MOST_BATCH));
        let asked = match self.words.get("batchSize").map(String::as_str) {
            None | Some("") => 1,
            Some(text) => {
                let wrong = |_| Error::invalid("batchSize", format!("{text:?}"), "a number");
                text.parse::<i64>().map_err(wrong)?
            }
        };
        Ok(usize::try_from(asked.min(most)).unwrap_or(0))
    }
}

fn full<T: Serialize>(result: std::result::Result<T, TinyidRefusal>) -> Response<Body> {
    let (data, code, message) = match &result {
        Ok(data) => (Some(data), 200, String::new()),
        Err(TinyidRefusal::Token) => (None, 5, "token is error".to_owned()),
        Err(TinyidRefusal::TooMany(too_many)) => (None, 6, too_many.message().to_owned()),
        // Clients know it by these words.
        Err(TinyidRefusal::Error(error)) if error.code() == Code::UnknownTag => {
            (None, 6, format!("can not find biztype: {}", error.message()))
        }
        Err(TinyidRefusal::Error(error)) => (None, 6, error.message().to_owned()),
    };
    marked(answer::json(StatusCode::OK, &Answer { data, code, message }), result.as_ref().err())
}

fn simple(result: std::result::Result<Ids, TinyidRefusal>) -> Response<Body> {
    if let Err(TinyidRefusal::Error(error)) = &result {
        log::debug!("tinyid: {error}");
    }
    let text = result.as_ref().map(|ids| ids.text(["", ",", ""])).unwrap_or_default();
    marked(answer::body(StatusCode::OK, TEXT, text), result.as_ref().err())
}

/// A tinyid has no limit of requests, so it has no words for it. Its clients ask another server.
fn marked(response: Response<Body>, refusal: Option<&TinyidRefusal>) -> Response<Body> {
    match refusal {
        Some(TinyidRefusal::TooMany(too_many)) => too_many.marked(response),
        _ => response,
    }
}
