//! The clocks, and chance.

use leafid_core::{Code, Error, Result};
use std::sync::LazyLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Unix milliseconds of this machine's clock.
pub(crate) fn unix_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// A clock that only goes forward.
pub(crate) fn running() -> Duration {
    START.elapsed()
}

/// The same, in milliseconds.
pub(crate) fn running_ms() -> i64 {
    i64::try_from(running().as_millis()).unwrap_or(i64::MAX)
}

/// 128 random bits in hex. Errors: `internal`.
pub(crate) fn random_hex() -> Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        Error::new(Code::Internal, format!("the system gives no random numbers: {error}"))
    })?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}

/// A number for jitter.
pub(crate) fn seed() -> u64 {
    getrandom::u64().unwrap_or(0)
}
