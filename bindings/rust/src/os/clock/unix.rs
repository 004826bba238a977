//! The clocks of Linux and macOS.

use std::mem::MaybeUninit;
use std::time::Duration;

/// Unix milliseconds as of the last timer interrupt.
#[cfg(target_os = "linux")]
#[inline]
pub(crate) fn coarse_ms() -> i64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
    time.tv_sec * 1_000 + time.tv_nsec / 1_000_000
}

/// The largest age of that reading: the interval of the timer, rounded up.
#[cfg(target_os = "linux")]
pub(crate) fn coarse_lag_ms() -> i64 {
    let step = rustix::time::clock_getres(rustix::time::ClockId::RealtimeCoarse);
    step.tv_sec * 1_000 + (step.tv_nsec + 999_999) / 1_000_000
}

/// macOS has no such clock, and its usual one is read without a system call.
#[cfg(target_os = "macos")]
#[inline]
pub(crate) fn coarse_ms() -> i64 {
    now_ms()
}

/// The largest age of that reading.
#[cfg(target_os = "macos")]
pub(crate) fn coarse_lag_ms() -> i64 {
    0
}

/// Identifies this start of the machine; empty if the kernel does not tell. proc_sys_kernel(5)
#[cfg(target_os = "linux")]
pub(crate) fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id")
        .map(|id| id.trim().to_owned())
        .unwrap_or_default()
}

/// Identifies this start of the machine; empty if the kernel does not tell.
#[cfg(target_os = "macos")]
pub(crate) fn boot_id() -> String {
    let mut id = [0_u8; 64];
    let mut size = id.len();
    // SAFETY: the name ends with a zero, and at most `size` bytes are written.
    let done = unsafe {
        libc::sysctlbyname(
            c"kern.bootsessionuuid".as_ptr(),
            id.as_mut_ptr().cast(),
            &raw mut size,
            std::ptr::null_mut(),
            0,
        )
    };
    let id = id.split(|&byte| byte == 0).next().filter(|_| done == 0).unwrap_or_default();
    String::from_utf8_lossy(id).into_owned()
}

/// Unix milliseconds; negative before 1970. `SystemTime` is not used: its difference costs a fifth of the time of an
/// id.
#[inline]
pub(crate) fn now_ms() -> i64 {
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: the pointer is to memory of a timespec. Not rustix: its call through a pointer costs more.
    match unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, time.as_mut_ptr()) } {
        0 => {
            // SAFETY: the call succeeded, so it was written.
            let time = unsafe { time.assume_init() };
            // The seconds of any real clock times 1000 fit. The nanoseconds are never negative.
            time.tv_sec * 1_000 + i64::from(time.tv_nsec as u32 / 1_000_000)
        }
        // Every system has this clock.
        _ => super::now_ns().div_euclid(1_000_000),
    }
}

/// Time since the machine started, including suspended time.
pub(crate) fn boot_time() -> Duration {
    #[cfg(target_os = "linux")]
    const CLOCK: libc::clockid_t = libc::CLOCK_BOOTTIME;
    // mach_continuous_time
    #[cfg(target_os = "macos")]
    const CLOCK: libc::clockid_t = libc::CLOCK_MONOTONIC_RAW;
    since_start(CLOCK)
}

/// Time since the machine started, without suspended time.
#[cfg(feature = "cli")]
pub(crate) fn running_time() -> Duration {
    #[cfg(target_os = "linux")]
    const CLOCK: libc::clockid_t = libc::CLOCK_MONOTONIC;
    #[cfg(target_os = "macos")]
    const CLOCK: libc::clockid_t = libc::CLOCK_UPTIME_RAW;
    since_start(CLOCK)
}

fn since_start(clock: libc::clockid_t) -> Duration {
    let mut time = MaybeUninit::<libc::timespec>::zeroed();
    // SAFETY: it writes the time, or leaves the zeros, which are one too.
    let time = unsafe {
        libc::clock_gettime(clock, time.as_mut_ptr());
        time.assume_init()
    };
    // Never negative, because it counts from the machine's start.
    Duration::new(time.tv_sec.max(0) as u64, time.tv_nsec as u32)
}
