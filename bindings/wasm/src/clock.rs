//! The filter of a clock that leaps ahead.

use crate::argument::ms;
use crate::module::{Module, call, write};
use alloc::string::ToString;
use core::time::Duration;
use leafid_core::{ClockFilter, LeapEvent};

/// Nanoseconds. An f64 holds no ns of today exactly, so whole milliseconds are converted apart.
fn ns(ms: f64) -> i64 {
    let whole = ms as i64;
    whole.saturating_mul(1_000_000).saturating_add(((ms - whole as f64) * 1e6) as i64)
}

/// The event is the first number of the answer, 1 or 0, and as output a text to log.
fn answer(module: &mut Module, event: Option<LeapEvent>) {
    module.answer(&[u8::from(event.is_some()).into()]);
    if let Some(event) = event {
        write(&[&event.to_string()]);
    }
}

/// A filter without a reading.
#[unsafe(no_mangle)]
extern "C" fn clock_new() -> i32 {
    call(|module| Ok(module.add(ClockFilter::new())))
}

/// Filters a reading, which was taken at this boot time: Unix milliseconds, and an event.
#[unsafe(no_mangle)]
extern "C" fn clock_filter(clock: i32, now_ms: f64, boot_ms: f64) -> f64 {
    call(|module| {
        let (filtered_ns, event) = module.get::<ClockFilter>(clock)?.filter(ns(now_ms), ns(boot_ms));
        answer(module, event);
        Ok(ms(Duration::from_nanos(filtered_ns.max(0) as u64)))
    })
}

/// Observes a record of another process of this start of the machine, as of `ClockFilter::observe`; an event.
/// `leap_ms` is NaN if there was no leap.
#[unsafe(no_mangle)]
extern "C" fn clock_observe(
    clock: i32,
    then_ms: f64,
    then_boot_ms: f64,
    leap_ms: f64,
    since_ms: f64,
    now_ms: f64,
    boot_ms: f64,
) -> i32 {
    call(|module| {
        let leap = (!leap_ms.is_nan()).then(|| (ns(leap_ms), ns(since_ms)));
        let (then, now) = ((ns(then_ms), ns(then_boot_ms)), (ns(now_ms), ns(boot_ms)));
        let event = module.get::<ClockFilter>(clock)?.observe(then, leap, now);
        answer(module, event);
        Ok(0)
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

/// 1, and the size of the leap that is not followed yet and the boot time of its start, in milliseconds; or 0.
#[unsafe(no_mangle)]
extern "C" fn clock_leap(clock: i32) -> i32 {
    call(|module| {
        let Some((leap_ns, since_ns)) = module.get::<ClockFilter>(clock)?.leap() else { return Ok(0) };
        module.answer(&[leap_ns / 1_000_000, since_ns / 1_000_000].map(|ms| ms as f64));
        Ok(1)
    })
}
