//! The filter of a clock that leaps ahead.

use crate::argument::ms;
use crate::module::{call, write};
use alloc::string::ToString;
use core::time::Duration;
use leafid_core::ClockFilter;

/// Nanoseconds. An f64 holds no ns of today exactly, so whole milliseconds are converted apart.
fn ns(ms: f64) -> i64 {
    let whole = ms as i64;
    whole.saturating_mul(1_000_000).saturating_add(((ms - whole as f64) * 1e6) as i64)
}

/// A filter without a reading.
#[unsafe(no_mangle)]
extern "C" fn clock_new() -> i32 {
    call(|module| Ok(module.add(ClockFilter::new())))
}

/// Filters a reading, which was taken at this boot time: Unix milliseconds. The number is 1 for an event, whose text to
/// log is then the output, else 0.
#[unsafe(no_mangle)]
extern "C" fn clock_filter(clock: i32, now_ms: f64, boot_ms: f64) -> f64 {
    call(|module| {
        let (filtered_ns, event) = module.get::<ClockFilter>(clock)?.filter(ns(now_ms), ns(boot_ms));
        module.answer(&[u8::from(event.is_some()).into()]);
        if let Some(event) = event {
            write(&[&event.to_string()]);
        }
        Ok(ms(Duration::from_nanos(filtered_ns.max(0) as u64)))
    })
}

/// A generator uses the filtered time from now on.
#[unsafe(no_mangle)]
extern "C" fn clock_used(clock: i32) -> i32 {
    call(|module| {
        module.get::<ClockFilter>(clock)?.mark_used();
        Ok(0)
    })
}
