//! A generator of snowflake ids behind an opaque handle.

use crate::guard::{guard, quietly};
use crate::pointer::{Out, shared};
use crate::{leafid_snowflake_options, leafid_status};
use leafid::{Error, MOST_IDS, Result, Snowflake, allowed};
use std::ptr;

/// A generator of snowflake ids. All threads may use it at the same time. A forked child may continue to use it: it
/// claims its own worker id at its first call. The ids of one generator strictly increase.
pub struct leafid_snowflake(Snowflake);

/// The host's generator behind a handle.
///
/// # Safety
/// When not NULL, `flake` came from leafid_snowflake_open and was not freed.
#[inline(always)]
pub(crate) unsafe fn host<'a>(flake: *const leafid_snowflake) -> Result<&'a Snowflake> {
    // SAFETY: the caller's duty.
    unsafe { shared(flake, "flake") }.map(|flake| &flake.0)
}

/// Claims a worker id, makes its first span durable on disk, and writes the generator to `out`. Two openings with the
/// same settings in one process share one generator. `options` NULL: all defaults, with LEAFID_WORKER and
/// LEAFID_STATE_DIR from the environment.
///
/// Errors: the first one of a setter; LEAFID_INVALID_ARGUMENT; LEAFID_WORKER_IN_USE, naming pid, host and start of
/// the holder; LEAFID_WORKER_LOST and every status that a callback or a lease server returns, with its text;
/// LEAFID_CLOCK_BACKWARDS, LEAFID_BEFORE_EPOCH, LEAFID_TIME_EXHAUSTED, LEAFID_STATE_IO, LEAFID_STATE_CORRUPT,
/// LEAFID_STATE_MISMATCH.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_open(
    options: *const leafid_snowflake_options,
    out: *mut *mut leafid_snowflake,
) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        let out = unsafe { Out::new(out, "out") }?;
        let flake = if options.is_null() {
            Snowflake::builder().open()
        } else {
            // SAFETY: not NULL, valid by the caller's duty.
            unsafe { shared(options, "options") }?.check()?.open()
        };
        out.write(Box::into_raw(Box::new(leafid_snowflake(flake?))));
        Ok(())
    })
}

/// The next id. Check the status: after an error `out` keeps its old value, which may be the id before.
///
/// It takes nanoseconds, and waits at most timeout_ms for the clock or for the disk.
///
/// Errors: LEAFID_CLOSED, LEAFID_CLOCK_BACKWARDS, LEAFID_BEFORE_EPOCH, LEAFID_TIME_EXHAUSTED, LEAFID_STATE_IO,
/// LEAFID_WORKER_LOST, LEAFID_WOULD_BLOCK; in a forked child, in the first call of a lazy generator, and where a lost
/// lease cannot be claimed again, also those of leafid_snowflake_open.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_next(
    flake: *const leafid_snowflake,
    out: *mut i64,
) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        let (flake, out) = unsafe { (host(flake)?, Out::new(out, "out")?) };
        out.write(flake.next()?);
        Ok(())
    })
}

/// Writes `n` ids to `out`, all or nothing; in increasing order, not always consecutive. `n` is 0 to 16777216; for 0
/// `out` may be NULL.
///
/// Errors: as leafid_snowflake_next, and LEAFID_INVALID_ARGUMENT for `n`. After an error the values in `out` are not
/// ids.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_fill(
    flake: *const leafid_snowflake,
    out: *mut i64,
    n: usize,
) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        let (flake, ids) = unsafe { (host(flake)?, room(out, n)?) };
        flake.fill(ids)
    })
}

/// The same as leafid_snowflake_fill, into memory that leafid allocates. Free it with leafid_ids_free and the same
/// `n`. For 0 ids it is NULL.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_take(
    flake: *const leafid_snowflake,
    n: usize,
    out: *mut *mut i64,
) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        let (flake, out) = unsafe { (host(flake)?, Out::new(out, "out")?) };
        count(n)?;
        out.write(given(flake.take(n)?));
        Ok(())
    })
}

/// Frees the memory of leafid_snowflake_take and leafid_tag_take; `n` is the number requested there. NULL does
/// nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_ids_free(ids: *mut i64, n: usize) {
    if !ids.is_null() {
        // SAFETY: a boxed slice of n ids made by leafid_snowflake_take and freed once, by the caller's duty.
        quietly(|| drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(ids, n)) }));
    }
}

/// Closes a generator, from any thread and at any time. Calls of other threads, and every later call, get
/// LEAFID_CLOSED. The last handle of a generator records the exact first unused tick and releases the worker id. A
/// second close returns LEAFID_OK. You still have to free the handle.
///
/// Errors: LEAFID_STATE_IO if the record could not be written, LEAFID_WORKER_LOST if it is no longer this generator's;
/// the generator is closed anyway.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_close(flake: *const leafid_snowflake) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        unsafe { host(flake) }?.close()
    })
}

/// Closes and frees a handle; call it once, when no thread uses it any more. NULL does nothing. In a forked child
/// that never used the generator, it closes nothing of the parent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_snowflake_free(flake: *mut leafid_snowflake) {
    if !flake.is_null() {
        // SAFETY: made by leafid_snowflake_open and freed once, by the caller's duty.
        quietly(|| drop(unsafe { Box::from_raw(flake) }));
    }
}

/// The caller's memory for `n` ids. For 0 ids it may be NULL.
///
/// # Safety
/// When not NULL and aligned, `out` has room for `n` ids.
#[inline]
pub(crate) unsafe fn room<'a>(out: *mut i64, n: usize) -> Result<&'a mut [i64]> {
    count(n)?;
    if n == 0 {
        return Ok(&mut []);
    }
    // SAFETY: the caller's duty.
    let out = unsafe { Out::new(out, "out") }?;
    // SAFETY: not NULL, aligned, n elements that are the caller's by its duty; n * 8 is far below isize::MAX; the host
    // only writes to them, so that it does not matter what stood there.
    Ok(unsafe { std::slice::from_raw_parts_mut(out.as_ptr(), n) })
}

/// Ids that the caller frees; NULL for none.
pub(crate) fn given(ids: Vec<i64>) -> *mut i64 {
    match ids.is_empty() {
        true => ptr::null_mut(),
        false => Box::into_raw(ids.into_boxed_slice()).cast(),
    }
}

/// Refuses an `n` that is too large for a slice.
pub(crate) fn count(n: usize) -> Result<()> {
    if n <= MOST_IDS { Ok(()) } else { Err(Error::invalid("n", n, allowed("n"))) }
}
