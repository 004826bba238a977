//! Numbers that a host passes on from its user, and times.

use crate::module::Result;
#[cfg(feature = "wire")]
use alloc::vec::Vec;
use core::fmt::Display;
#[cfg(feature = "wire")]
use core::time::Duration;
use leafid_core::Error;

/// The largest whole number that an f64 holds exactly, with all below it.
const LARGEST: f64 = 9_007_199_254_740_992.0;

const NOT_WHOLE: &str = "not a whole number, or beyond 2^53";

fn exact(number: f64) -> Option<i64> {
    let whole = number as i64;
    (whole as f64 == number && (-LARGEST..=LARGEST).contains(&number)).then_some(whole)
}

/// A whole number of the user's. Errors: `invalid_argument` for a fraction, NaN, and more than 2^53.
#[cfg(feature = "snowflake")]
#[inline(never)]
pub(crate) fn whole(name: &str, number: f64) -> Result<i64> {
    let wrong = || Error::invalid(name, NOT_WHOLE, leafid_core::options::allowed(name)).into();
    exact(number).ok_or_else(wrong)
}

/// As [`whole`]; NaN stands for none.
#[cfg(feature = "snowflake")]
pub(crate) fn optional(name: &str, number: f64) -> Result<Option<i64>> {
    if number.is_nan() { Ok(None) } else { whole(name, number).map(Some) }
}

/// A number of the user's up to `most`. Errors: `invalid_argument`.
pub(crate) fn within<N: Copy + Ord + Display + TryFrom<i64>>(name: &str, number: f64, most: N) -> Result<N> {
    let found = exact(number).ok_or_else(|| Error::out_of_range(name, NOT_WHOLE, most))?;
    let in_range = N::try_from(found).ok().filter(|found| *found <= most);
    in_range.ok_or_else(|| Error::out_of_range(name, found, most).into())
}

/// Milliseconds since the machine's start.
#[cfg(feature = "wire")]
pub(crate) fn duration(ms: f64) -> Duration {
    // A conversion to an integer ends at its bounds, and NaN is 0.
    Duration::from_millis(ms as u64)
}

/// As a number of milliseconds.
#[cfg(feature = "wire")]
pub(crate) fn ms(duration: Duration) -> f64 {
    duration.as_millis() as u64 as f64
}

/// The value of a variable of the environment, of which the host has written those that are set.
#[cfg(feature = "wire")]
pub(crate) fn variable(set: &[u8], name: &str) -> Option<Vec<u8>> {
    let mut set = set.split(|byte| *byte == 0);
    set.find_map(|line| line.strip_prefix(name.as_bytes())?.strip_prefix(b"=")).map(Vec::from)
}
