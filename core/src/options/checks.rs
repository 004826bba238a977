//! Checks that the options of snowflakes and of segments share.

use crate::options::allowed::allowed;
use crate::quoted::Quoted;
use crate::{Code, Error, Result};
use alloc::format;
use alloc::string::String;
use core::fmt::Debug;
use core::time::Duration;

/// The largest number of ids of one call.
pub const MOST_IDS: usize = 1 << 24;

/// The longest wait of a call if the user sets none.
pub const DEFAULT_TIMEOUT_MS: i64 = 2_000;

/// The largest value of the options that are durations.
pub const MOST_MS: i64 = 3_600_000;

/// Whether one call may have this number of ids. Errors: `invalid_argument`.
pub fn check_n(n: usize) -> Result<()> {
    match n {
        ..=MOST_IDS => Ok(()),
        _ => Err(Error::invalid("n", n, allowed("n"))),
    }
}

/// The error of a call for whose ids there is no memory.
pub fn no_memory(n: usize) -> Error {
    Error::new(Code::Internal, format!("no memory for {n} ids; take fewer"))
}

/// The name of the id space. Errors: `invalid_argument`.
pub fn id_space(name: Option<&str>) -> Result<String> {
    let name = name.unwrap_or("default");
    let word = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
    if !(1..=64).contains(&name.len()) || !name.bytes().all(word) || name.starts_with('.') {
        return Err(Error::invalid("name", Quoted(name), allowed("name")));
    }
    Ok(name.into())
}

/// The duration of an option, at least `least` milliseconds. Errors: `invalid_argument`.
pub fn milliseconds(name: &str, ms: i64, least: i64) -> Result<Duration> {
    match ms {
        1..=MOST_MS => Ok(Duration::from_millis(ms as u64)),
        0 if least == 0 => Ok(Duration::ZERO),
        _ => Err(Error::invalid(name, ms, allowed("timeout_ms"))),
    }
}

/// Errors: `invalid_argument` for an option that would have no meaning.
pub fn refuse_options_of(what: &str, set: &[(&str, bool)]) -> Result<()> {
    match set.iter().find(|(_, set)| *set) {
        Some((name, _)) => Err(Error::invalid(name, "set", &format!("only with {what}"))),
        None => Ok(()),
    }
}

/// The value of an environment variable.
#[derive(Clone, Copy)]
pub struct Variable<'v> {
    /// The name of the variable.
    pub name: &'static str,
    /// The value, if it is text.
    pub text: Option<&'v str>,
    /// The value, for messages.
    pub shown: &'v dyn Debug,
}

/// A number of the environment, or of a worker id: digits alone.
pub(crate) fn digits(text: &str) -> Option<i64> {
    let digits_only = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if digits_only { text.parse().ok() } else { None }
}

/// The option, or else the variable. Errors: `invalid_argument` for another value of the variable.
pub fn flag(option: Option<bool>, variable: Option<Variable<'_>>) -> Result<bool> {
    match (option, variable) {
        (Some(said), _) => Ok(said),
        (None, None) => Ok(false),
        (None, Some(variable)) => match variable.text {
            Some("1" | "true") => Ok(true),
            Some("" | "0" | "false") => Ok(false),
            _ => Err(Error::invalid(variable.name, format!("{:?}", variable.shown), "1 or 0")),
        },
    }
}
