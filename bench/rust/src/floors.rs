//! What every generator pays before it does anything.

use crate::harness::{pair, raw, read};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{SystemTime, UNIX_EPOCH};

pub fn measure() {
    let clock = |id| read(id).tv_nsec as u64;
    raw("floor", "empty loop", || 0u64);
    raw("floor", "clock_gettime(REALTIME)", || clock(libc::CLOCK_REALTIME));
    #[cfg(target_os = "linux")]
    raw("floor", "clock_gettime(REALTIME_COARSE)", || clock(libc::CLOCK_REALTIME_COARSE));
    raw("floor", "SystemTime::now as millis", || {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
    });
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86_64 has it.
    raw("floor", "rdtsc", || unsafe { core::arch::x86_64::_rdtsc() });
    let a = AtomicU64::new(0);
    raw("floor", "atomic fetch_add", || a.fetch_add(1, Relaxed));
    raw("floor", "atomic load+CAS", || {
        let v = a.load(Relaxed);
        a.compare_exchange(v, v + 1, Relaxed, Relaxed).unwrap_or(v)
    });
    let m = std::sync::Mutex::new(0u64);
    raw("floor", "std Mutex lock+unlock", || {
        let mut g = m.lock().unwrap();
        *g += 1;
        *g
    });
    pair("floor", "atomic fetch_add", || a.fetch_add(1, Relaxed));
}
