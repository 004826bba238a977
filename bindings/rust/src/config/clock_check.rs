//! Checks whether the clock can be correct at all.

use leafid_core::{Code, Error, Layout, Result, Utc};

/// Errors: the clock has not reached the epoch, or it reads less than when leafid was built.
pub(crate) fn check_clock(layout: &Layout, built_ms: i64, now_ms: i64) -> Result<()> {
    if now_ms < layout.epoch_ms() {
        let before = layout.before_epoch(now_ms);
        if Layout::PRESETS.iter().any(|(_, preset)| preset.epoch_ms() == layout.epoch_ms()) {
            return Err(before);
        }
        let allowed = format!("{}, which reads {now_ms}", crate::config::allowed::allowed("epoch_ms"));
        return Err(Error::invalid("epoch_ms", layout.epoch_ms(), &allowed));
    }
    check_built(built_ms, now_ms)
}

/// Errors: the clock reads less than when leafid was built.
pub(crate) fn check_built(built_ms: i64, now_ms: i64) -> Result<()> {
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
