//! Waits for a change of a number, without a lock that a fork could copy.

use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// Waits while `word` is `seen`, at most for `most`. It may return early.
#[cfg(target_os = "linux")]
pub(crate) fn wait(word: &AtomicU32, seen: u32, most: Duration) {
    use rustix::thread::futex;
    let timeout = futex::Timespec { tv_sec: most.as_secs() as i64, tv_nsec: most.subsec_nanos().into() };
    let _ = futex::wait(word, futex::Flags::PRIVATE, seen, Some(&timeout));
}

/// Wakes at most `most` of those that wait.
#[cfg(target_os = "linux")]
pub(crate) fn wake(word: &AtomicU32, most: u32) {
    let _ = rustix::thread::futex::wake(word, rustix::thread::futex::Flags::PRIVATE, most);
}

/// Waits while `word` is `seen`, at most for `most`. It may return early.
#[cfg(windows)]
pub(crate) fn wait(word: &AtomicU32, seen: u32, most: Duration) {
    use windows_sys::Win32::System::Threading::WaitOnAddress;
    // Rounded up, so that a wait of less than a millisecond is one.
    let most_ms = u32::try_from(most.as_nanos().div_ceil(1_000_000)).unwrap_or(u32::MAX - 1);
    // SAFETY: both are four bytes that live until the call has ended.
    unsafe { WaitOnAddress(word.as_ptr().cast(), (&raw const seen).cast(), size_of::<u32>(), most_ms) };
}

/// Wakes at most `most` of those that wait.
#[cfg(windows)]
pub(crate) fn wake(word: &AtomicU32, most: u32) {
    use windows_sys::Win32::System::Threading::{WakeByAddressAll, WakeByAddressSingle};
    let word = word.as_ptr().cast_const().cast();
    // SAFETY: the address is not read.
    unsafe { if most == 1 { WakeByAddressSingle(word) } else { WakeByAddressAll(word) } };
}

/// macOS has such a call since version 14.4 only: this looks again and again.
#[cfg(target_os = "macos")]
pub(crate) fn wait(word: &AtomicU32, seen: u32, most: Duration) {
    const LOOK: Duration = Duration::from_micros(500);
    let until = std::time::Instant::now() + most;
    while word.load(std::sync::atomic::Ordering::SeqCst) == seen {
        let left = until.saturating_duration_since(std::time::Instant::now());
        if left.is_zero() {
            return;
        }
        std::thread::sleep(left.min(LOOK));
    }
}

/// Those that wait see it themselves.
#[cfg(target_os = "macos")]
pub(crate) fn wake(_word: &AtomicU32, _most: u32) {}
