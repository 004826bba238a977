//! The statistics of a generator.

use crate::guard::guard;
use crate::pointer::Out;
use crate::sized;
use crate::snowflake::{host, leafid_snowflake};
use crate::text;
use crate::{leafid_layout, leafid_status};
use leafid::Stats;
use std::ffi::c_char;

/// The numbers of a generator. New fields are added only at the end: see leafid_snowflake_stats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct leafid_snowflake_stats_t {
    /// The worker id held.
    pub worker_id: i64,
    /// The layout's epoch, Unix milliseconds.
    pub epoch_ms: i64,
    /// When the layout's timestamp bits end, Unix milliseconds.
    pub expires_at_ms: i64,
    /// Ids are durable up to this time, exclusive, Unix milliseconds.
    pub reserved_until_ms: i64,
    /// How far the logical clock is ahead of the clock, milliseconds; 0 when it is not.
    pub lead_ms: i64,
    /// Handles of this process that share the generator.
    pub handles: u64,
    /// Spans made durable since the generator was opened, the first one not counted.
    pub renewals: u64,
    /// Renewals of spans and leases that failed; leafid_snowflake_last_error has the last error.
    pub renewal_failures: u64,
    /// How late the clock of clock_source may be, milliseconds; 0 for the system's clock.
    pub clock_lag_ms: i64,
    /// The end of the worker id's lease, Unix milliseconds; 0 without one.
    pub lease_until_ms: i64,
    /// How often a worker id was claimed: more than once when leases were lost.
    pub claims: u64,
    /// Ids issued since the claim of this worker id, with those that a thread reserved for its next calls.
    pub ids: u64,
}

impl From<&Stats> for leafid_snowflake_stats_t {
    fn from(stats: &Stats) -> leafid_snowflake_stats_t {
        leafid_snowflake_stats_t {
            worker_id: stats.worker_id.into(),
            epoch_ms: stats.epoch_ms,
            expires_at_ms: stats.expires_at_ms,
            reserved_until_ms: stats.reserved_until_ms,
            lead_ms: stats.lead_ms,
            handles: stats.handles as u64,
            renewals: stats.renewals,
            renewal_failures: stats.renewal_failures,
            clock_lag_ms: stats.clock_lag_ms,
            lease_until_ms: stats.lease_until_ms.unwrap_or(0),
            claims: stats.claims,
            ids: stats.ids,
        }
    }
}

/// The size of the struct in its first version. A smaller size is a mistake.
const LEAST_SIZE: usize = 64;

/// Writes the numbers of a generator. `size` is sizeof(leafid_snowflake_stats_t) with which the caller was compiled:
/// a library that knows more fields omits them, one that knows fewer sets the rest to 0.
///
/// In a forked child, and for a lazy generator that holds no worker id yet, this function, leafid_snowflake_worker_id and
/// those that write a text claim one first, and may wait for it.
///
/// Errors: LEAFID_INVALID_ARGUMENT for a size below that of the first version, LEAFID_CLOSED; if it claims, also those of
/// leafid_snowflake_open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_stats(
    flake: *const leafid_snowflake,
    out: *mut leafid_snowflake_stats_t,
    size: usize,
) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        let (flake, out) = unsafe { (host(flake)?, Out::new(out, "out")?) };
        let stats = leafid_snowflake_stats_t::from(&flake.stats()?);
        // SAFETY: the caller's duty; the struct has no padding.
        unsafe { sized::write(&stats, out, size, LEAST_SIZE, "leafid_snowflake_stats_t") }
    })
}

/// The worker id that the generator holds.
///
/// Errors: LEAFID_CLOSED; if it claims, as leafid_snowflake_stats says, also those of leafid_snowflake_open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_worker_id(
    flake: *const leafid_snowflake,
    out: *mut u32,
) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        let (flake, out) = unsafe { (host(flake)?, Out::new(out, "out")?) };
        out.write(flake.worker_id()?);
        Ok(())
    })
}

/// The layout of the generator's ids, with its epoch, also of a closed generator.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_layout(
    flake: *const leafid_snowflake,
    out: *mut leafid_layout,
) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        let (flake, out) = unsafe { (host(flake)?, Out::new(out, "out")?) };
        out.write(flake.layout().into());
        Ok(())
    })
}

/// The generator's id space, as text: at most `cap` - 1 bytes and a NUL go to `buf`, the length of the whole text
/// without the NUL to `needed`, which may be NULL. `buf` may be NULL when `cap` is 0.
///
/// Errors: as leafid_snowflake_worker_id.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_name(
    flake: *const leafid_snowflake,
    buf: *mut c_char,
    cap: usize,
    needed: *mut usize,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { write(flake, |stats| stats.name, buf, cap, needed) }
}

/// The directory of the records, with the id space's sub-directory; empty if none are stored. Text as
/// leafid_snowflake_name writes it.
///
/// Errors: as leafid_snowflake_worker_id.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_state_dir(
    flake: *const leafid_snowflake,
    buf: *mut c_char,
    cap: usize,
    needed: *mut usize,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { write(flake, |stats| stats.state_dir, buf, cap, needed) }
}

/// The last error of a renewal of a span or a lease, empty after a success. Text as leafid_snowflake_name writes it.
/// The errors of calls are in leafid_last_error.
///
/// Errors: as leafid_snowflake_worker_id.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_last_error(
    flake: *const leafid_snowflake,
    buf: *mut c_char,
    cap: usize,
    needed: *mut usize,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { write(flake, |stats| stats.last_error.unwrap_or_default(), buf, cap, needed) }
}

/// # Safety
/// The pointers are NULL or valid.
unsafe fn write(
    flake: *const leafid_snowflake,
    choose: impl FnOnce(Stats) -> String,
    buf: *mut c_char,
    cap: usize,
    needed: *mut usize,
) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty.
        let flake = unsafe { host(flake) }?;
        // SAFETY: the caller's duty.
        unsafe { text::write_sized(&choose(flake.stats()?), buf, cap, needed) }
    })
}
