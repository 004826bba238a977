//! The words of a request: those of its query, and of its form. The query's go before the form's, as in a servlet.

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, Request};
use axum::http::header::CONTENT_TYPE;
use std::collections::HashMap;

const FORM: &str = "application/x-www-form-urlencoded";

pub(super) struct Words(pub(super) HashMap<String, String>);

impl<S: Send + Sync> FromRequest<S> for Words {
    type Rejection = BytesRejection;

    async fn from_request(request: Request, state: &S) -> Result<Words, BytesRejection> {
        let (uri, headers) = (request.uri().clone(), request.headers().clone());
        let body = Bytes::from_request(request, state).await?;
        let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let form = if kind.starts_with(FORM) { &body[..] } else { &[] };
        let parts = [form, uri.query().unwrap_or_default().as_bytes()];
        let words = parts.into_iter().flat_map(form_urlencoded::parse);
        Ok(Words(words.map(|(name, word)| (name.into_owned(), word.into_owned())).collect()))
    }
}
