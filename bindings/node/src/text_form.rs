//! Ids as text in one of several forms, and back.

use crate::error::thrown;
use crate::id::given_id;
use leafid::TextForm;
use napi::bindgen_prelude::{BigInt, Either, Env};
use napi_derive::napi;

/// The text of an id, a BigInt or decimal text.
#[napi(catch_unwind)]
pub fn format_id(env: &Env, id: Either<BigInt, String>, form: String) -> napi::Result<String> {
    let text = TextForm::parse(&form).and_then(|form| form.format_id(given_id(id)?));
    text.map_err(|error| thrown(env, &error))
}

/// The id of a text.
#[napi(catch_unwind)]
pub fn parse_id(env: &Env, text: String, form: String) -> napi::Result<u64> {
    let id = TextForm::parse(&form).and_then(|form| form.parse_id(&text));
    // It is never negative, so it keeps its value.
    id.map(|id| id as u64).map_err(|error| thrown(env, &error))
}
