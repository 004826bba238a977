//! Conversion of ids to parts and back.

use crate::error::thrown;
use crate::layout::{LayoutArgument, layout};
use leafid::{Error, Result, allowed, parse_id};
use napi::bindgen_prelude::{BigInt, Either, Env};
use napi_derive::napi;

/// The parts of an id.
#[napi(object, object_from_js = false)]
pub struct Parts {
    /// Unix milliseconds, rounded down to the layout's tick.
    pub timestamp_ms: i64,
    /// The worker id.
    pub worker_id: u32,
    /// The sequence number within the tick.
    pub sequence: u32,
}

/// Splits an id, a BigInt or decimal text, into its parts.
#[napi(catch_unwind)]
pub fn decode(
    env: &Env,
    id: Either<BigInt, String>,
    layout_argument: Option<LayoutArgument>,
) -> napi::Result<Parts> {
    let parts = || {
        let layout = layout(layout_argument)?;
        layout.decode(given_id(id)?)
    };
    let leafid::Parts { timestamp_ms, worker_id, sequence } = parts().map_err(|error| thrown(env, &error))?;
    Ok(Parts { timestamp_ms, worker_id, sequence })
}

/// An id that is a BigInt, or decimal text.
pub(crate) fn given_id(id: Either<BigInt, String>) -> Result<i64> {
    match id {
        Either::A(id) => whole(&id),
        Either::B(text) => parse_id(&text),
    }
}

/// The id of the option `name`.
pub(crate) fn existing(name: &str, id: Either<BigInt, String>) -> Result<i64> {
    let bad = |shown: String| Error::invalid(name, shown, allowed(name));
    match id {
        Either::A(id) => whole(&id).map_err(|_| bad("outside 64 bits".into())),
        Either::B(text) => parse_id(&text).map_err(|_| bad(format!("{text:?}"))),
    }
}

fn whole(id: &BigInt) -> Result<i64> {
    match id.get_i64() {
        (value, true) => Ok(value),
        _ => Err(Error::invalid("id", "outside 64 bits", allowed("id"))),
    }
}

/// Composes the id of these parts.
#[napi(catch_unwind)]
pub fn compose(
    env: &Env,
    timestamp_ms: i64,
    worker_id: i64,
    sequence: i64,
    layout_argument: Option<LayoutArgument>,
) -> napi::Result<u64> {
    let id = || {
        let layout = layout(layout_argument)?;
        layout.compose(timestamp_ms, small("worker_id", worker_id)?, small("sequence", sequence)?)
    };
    match id() {
        // It is never negative, so it keeps its value.
        Ok(id) => Ok(id as u64),
        Err(error) => Err(thrown(env, &error)),
    }
}

/// The smallest id of the tick that contains this time.
#[napi(catch_unwind)]
pub fn first_id_at(
    env: &Env,
    timestamp_ms: i64,
    layout_argument: Option<LayoutArgument>,
) -> napi::Result<u64> {
    let id = layout(layout_argument).and_then(|layout| layout.first_id_at(timestamp_ms));
    id.map(|id| id as u64).map_err(|error| thrown(env, &error))
}

/// The largest id of the tick that contains this time.
#[napi(catch_unwind)]
pub fn last_id_at(
    env: &Env,
    timestamp_ms: i64,
    layout_argument: Option<LayoutArgument>,
) -> napi::Result<u64> {
    let id = layout(layout_argument).and_then(|layout| layout.last_id_at(timestamp_ms));
    id.map(|id| id as u64).map_err(|error| thrown(env, &error))
}

fn small(name: &str, value: i64) -> Result<u32> {
    u32::try_from(value).map_err(|_| Error::invalid(name, value, allowed(name)))
}
