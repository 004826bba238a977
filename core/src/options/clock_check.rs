//! Checks whether the clock can be correct at all.

use crate::options::allowed::allowed;
use crate::{Code, Error, Layout, Result, Utc};
use alloc::format;

/// The start of the day before the one on which leafid was built, by its build script: build machines may be in other
/// time zones, or a little ahead. `day`: digits, the days since 1970.
pub const fn built_ms(day: &str) -> i64 {
    let digits = day.as_bytes();
    let (mut day, mut at) = (0, 0);
    while at < digits.len() {
        day = day * 10 + (digits[at] - b'0') as i64;
        at += 1;
    }
    (day - 1) * 86_400_000
}

/// Checks a clock that reads `now_ms` in a leafid that was built at `built_ms`.
///
/// Errors: it has not reached the epoch, or it reads less than when leafid was built.
pub fn check_clock(layout: &Layout, built_ms: i64, now_ms: i64) -> Result<()> {
    if now_ms < layout.epoch_ms() {
        let before = layout.clock_before_epoch(now_ms);
        if Layout::PRESETS.iter().any(|(_, preset)| preset.epoch_ms() == layout.epoch_ms()) {
            return Err(before);
        }
        let allowed = format!("{}, which reads {now_ms}", allowed("epoch_ms"));
        return Err(Error::invalid("epoch_ms", layout.epoch_ms(), &allowed));
    }
    check_built(built_ms, now_ms)
}

/// As [`check_clock`], without a layout. Errors: the clock reads less than when leafid was built.
pub fn check_built(built_ms: i64, now_ms: i64) -> Result<()> {
    if now_ms < built_ms {
        let message = format!(
            "the clock reads {now_ms} ms ({}), but this leafid was built after {built_ms} ms ({}): correct the clock",
            Utc(now_ms),
            Utc(built_ms)
        );
        return Err(Error::new(Code::ClockBackwards, message));
    }
    Ok(())
}
