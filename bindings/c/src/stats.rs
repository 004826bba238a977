//! What a generator says of itself.

use crate::guard::guard;
use crate::pointer::Out;
use crate::snowflake::{host, leafid_snowflake};
use crate::text;
use crate::{leafid_layout, leafid_status};
use leafid::{Error, Stats};
use std::ffi::c_char;
use std::ptr;

/// The numbers of a generator. Fields are only ever added at the end: see leafid_snowflake_stats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct leafid_snowflake_stats_t {
    /// The worker id.
    pub worker_id: i64,
    /// The layout's epoch, Unix milliseconds.
    pub epoch_ms: i64,
    /// Unix milliseconds at which the layout ends.
    pub expires_at_ms: i64,
    /// Unix milliseconds up to which ticks are durably this generator's.
    pub reserved_until_ms: i64,
    /// How far the last id is ahead of the clock, milliseconds; 0 when it is not.
    pub lead_ms: i64,
    /// Open handles of this generator in this process.
    pub handles: u64,
    /// Spans made durable since it was opened.
    pub renewals: u64,
    /// Attempts at it that failed; leafid_snowflake_last_error has the text of the last one.
    pub renewal_failures: u64,
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
        }
    }
}

/// The size of the struct in the first version that had it: a smaller one is a mistake.
const LEAST_SIZE: usize = 64;

/// Writes the numbers of a generator. `size` is sizeof(leafid_snowflake_stats_t) as the caller was compiled: a library
/// that knows more fields leaves them out, one that knows fewer sets the rest to 0.
///
/// Errors: LEAFID_INVALID_ARGUMENT for a size below that of the first version, LEAFID_CLOSED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_stats(
    flake: *const leafid_snowflake,
    out: *mut leafid_snowflake_stats_t,
    size: usize,
) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        let (flake, out) = unsafe { (host(flake)?, Out::new(out, "out")?) };
        // A future struct of 64 KiB is not to be expected: such a size is a mistake too.
        if !(LEAST_SIZE..1 << 16).contains(&size) {
            return Err(Error::invalid("size", size, "sizeof(leafid_snowflake_stats_t)"));
        }
        let stats = leafid_snowflake_stats_t::from(&flake.stats()?);
        let known = size.min(size_of::<leafid_snowflake_stats_t>());
        let out = out.as_ptr().cast::<u8>();
        // SAFETY: `size` bytes of the caller's are writable by its duty, and at most as many as `stats` has are read;
        // the struct has no padding, so that all of them are initialised.
        unsafe {
            ptr::copy_nonoverlapping(ptr::from_ref(&stats).cast::<u8>(), out, known);
            out.add(known).write_bytes(0, size - known);
        }
        Ok(())
    })
}

/// The worker id that the generator holds.
///
/// Errors: LEAFID_CLOSED; in a forked child also those of leafid_snowflake_open.
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

/// The layout of the generator's ids, with its epoch.
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
/// Errors: LEAFID_CLOSED.
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

/// The generator's state directory; text as leafid_snowflake_name writes it.
///
/// Errors: LEAFID_CLOSED.
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

/// The last error of the generator's own work, such as a span that could not be written in the background; text as
/// leafid_snowflake_name writes it, empty when there was none. The errors of calls are in leafid_last_error.
///
/// Errors: LEAFID_CLOSED.
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
