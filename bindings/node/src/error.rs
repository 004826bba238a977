//! The host's errors as JavaScript exceptions.

use leafid::{Code, Error};
use napi::bindgen_prelude::Env;
use napi_derive::napi;

/// Throws `error` and returns the marker that tells this to Node-API.
#[cold]
pub(crate) fn thrown(env: &Env, error: &Error) -> napi::Error {
    match throw(env, error) {
        Ok(()) => napi::Error::new(napi::Status::PendingException, error.to_string()),
        Err(failure) => failure,
    }
}

fn throw(env: &Env, error: &Error) -> napi::Result<()> {
    let mut object = env.create_error(napi::Error::from_reason(error.message()))?;
    object.set("code", error.code().name())?;
    env.throw(object)
}

/// The code with this name.
pub(crate) fn code(name: &str) -> Option<Code> {
    Code::ALL.into_iter().find(|code| code.name() == name)
}

/// A row of the table of errors.
#[napi(object, object_from_js = false)]
pub struct CodeRow {
    /// The permanent number.
    pub number: i32,
    /// The name in snake case.
    pub name: String,
    /// Whether the same call can succeed later without a change by hand.
    pub retry: bool,
}

/// Every code, by number.
#[napi(catch_unwind)]
pub fn codes() -> Vec<CodeRow> {
    let row =
        |code: Code| CodeRow { number: code.number(), name: code.name().into(), retry: code.can_retry() };
    Code::ALL.into_iter().map(row).collect()
}

/// Throws `invalid_argument` for a value that Rust does not have. `allowed` defaults to the host's text.
#[napi(catch_unwind)]
pub fn refuse(env: &Env, name: String, value: String, allowed: Option<String>) -> napi::Result<()> {
    Err(thrown(env, &leafid::refused(&name, &value, allowed.as_deref())))
}

/// Throws `invalid_argument` for an option that is none of those known, separated by commas, as messages name them.
#[napi(catch_unwind)]
pub fn refuse_unknown(env: &Env, name: String, known: String) -> napi::Result<()> {
    Err(thrown(env, &leafid::unknown_option(&name, &known)))
}

/// A text for messages, without the password of a URL.
#[napi(catch_unwind)]
pub fn shown_url(text: String) -> String {
    leafid::shown_url(&text)
}
