//! Checks that the options of snowflakes and of segments share.

use crate::config::allowed::allowed;
use leafid_core::{Error, Result};
use std::time::Duration;

/// The largest number of ids of one call.
pub const MOST_IDS: usize = 1 << 24;

/// The name of the id space. Errors: `invalid_argument`.
pub(crate) fn id_space(name: Option<&str>) -> Result<String> {
    let name = name.unwrap_or("default");
    let word = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
    if !(1..=64).contains(&name.len()) || !name.bytes().all(word) || name.starts_with('.') {
        return Err(Error::invalid("name", format!("{name:?}"), allowed("name")));
    }
    Ok(name.into())
}

/// The duration of an option, at least `least` milliseconds. Errors: `invalid_argument`.
pub(crate) fn milliseconds(name: &str, ms: i64, least: i64) -> Result<Duration> {
    match ms {
        1..=3_600_000 => Ok(Duration::from_millis(ms as u64)),
        0 if least == 0 => Ok(Duration::ZERO),
        _ => Err(Error::invalid(name, ms, allowed("timeout_ms"))),
    }
}
