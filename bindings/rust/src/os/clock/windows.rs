//! The clocks of Windows.

use crate::os::windows::{file_time_ms, registry_number};
use std::time::Duration;
use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::SystemInformation::{
    GetSystemTimeAdjustment, GetSystemTimeAsFileTime, GetSystemTimePreciseAsFileTime, GetTickCount64,
};
#[cfg(feature = "cli")]
use windows_sys::Win32::System::WindowsProgramming::QueryUnbiasedInterruptTime;

/// Unix milliseconds as of the last timer interrupt.
#[inline]
pub(crate) fn coarse_ms() -> i64 {
    let mut time = FILETIME { dwLowDateTime: 0, dwHighDateTime: 0 };
    // SAFETY: it writes the time.
    unsafe { GetSystemTimeAsFileTime(&raw mut time) };
    file_time_ms(time)
}

/// The largest age of that reading: the interval of the timer, rounded up.
pub(crate) fn coarse_lag_ms() -> i64 {
    let (mut adjustment, mut interval, mut disabled) = (0, 0, 0);
    // SAFETY: it writes the three numbers.
    let done = unsafe { GetSystemTimeAdjustment(&raw mut adjustment, &raw mut interval, &raw mut disabled) };
    // Otherwise the longest interval that Windows has.
    let hundreds = if done != 0 { i64::from(interval) } else { 156_250 };
    (hundreds + 9_999) / 10_000
}

/// Unix milliseconds; negative before 1970.
#[inline]
pub(crate) fn now_ms() -> i64 {
    let mut time = FILETIME { dwLowDateTime: 0, dwHighDateTime: 0 };
    // SAFETY: it writes the time.
    unsafe { GetSystemTimePreciseAsFileTime(&raw mut time) };
    file_time_ms(time)
}

/// Identifies this start of the machine: the number of its starts, which the kernel keeps. Empty if it is unknown.
pub(crate) fn boot_id() -> String {
    let key = r"SYSTEM\CurrentControlSet\Control\Session Manager\Memory Management\PrefetchParameters";
    registry_number(key, "BootId").map(|starts| format!("start {starts}")).unwrap_or_default()
}

/// Time since the machine started, including suspended time.
pub(crate) fn boot_time() -> Duration {
    // SAFETY: has no condition.
    Duration::from_millis(unsafe { GetTickCount64() })
}

/// Time since the machine started, without suspended time.
#[cfg(feature = "cli")]
pub(crate) fn running_time() -> Duration {
    let mut hundreds = 0;
    // SAFETY: it writes the number.
    unsafe { QueryUnbiasedInterruptTime(&raw mut hundreds) };
    // The other clock is late by up to an interval of the timer.
    Duration::from_nanos(hundreds.saturating_mul(100)).saturating_sub(Duration::from_millis(16))
}
