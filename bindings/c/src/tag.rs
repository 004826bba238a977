//! The ids of a tag behind an opaque handle.

use crate::guard::{guard, quietly};
use crate::leafid_status;
use crate::pointer::{Out, shared};
use crate::snowflake::{count, given, room};
use leafid::{Code, Error, Result, Tag};

/// The ids of one tag. All threads may use it at the same time. Ids come once each, in the order in which the source
/// gave them.
pub struct leafid_tag(pub(crate) Tag);

/// The host's tag behind a handle.
///
/// # Safety
/// When not NULL, `tag` came from leafid_segments_tag and was not freed.
#[inline(always)]
pub(crate) unsafe fn host<'a>(tag: *const leafid_tag) -> Result<&'a Tag> {
    // SAFETY: the caller's duty.
    unsafe { shared(tag, "tag") }.map(|tag| &tag.0)
}

/// The next id. Check the status: after an error `out` keeps its old value, which may be the id before.
///
/// It takes nanoseconds, and waits at most timeout_ms when both segments are used up.
///
/// Errors: LEAFID_UNKNOWN_TAG and LEAFID_CLOSED, at once; after timeout_ms the one of the last fetch:
/// LEAFID_SEGMENT_UNAVAILABLE, LEAFID_SEGMENT_REGRESSED, LEAFID_SOURCE_INVALID, LEAFID_STATE_IO, LEAFID_STATE_CORRUPT,
/// LEAFID_STATE_MISMATCH, LEAFID_INVALID_ARGUMENT.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_tag_next(tag: *const leafid_tag, out: *mut i64) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        let (tag, out) = unsafe { (host(tag)?, Out::new(out, "out")?) };
        out.write(tag.next()?);
        Ok(())
    })
}

/// The same as leafid_tag_next, with its own timeout_ms, 1 to 3600000.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_tag_next_within(
    tag: *const leafid_tag,
    timeout_ms: i64,
    out: *mut i64,
) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        let (tag, out) = unsafe { (host(tag)?, Out::new(out, "out")?) };
        out.write(tag.next_within(timeout_ms)?);
        Ok(())
    })
}

/// The next id if one is in memory. If not, it returns LEAFID_WOULD_BLOCK, and the fetch of the next segment has
/// started. It never waits.
///
/// Errors: LEAFID_WOULD_BLOCK, LEAFID_UNKNOWN_TAG, LEAFID_CLOSED; in a forked child also those of leafid_segments_open.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_tag_try_next(tag: *const leafid_tag, out: *mut i64) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        let (tag, out) = unsafe { (host(tag)?, Out::new(out, "out")?) };
        out.write(tag.try_next()?.ok_or_else(|| none_in_memory(tag))?);
        Ok(())
    })
}

/// Writes `n` ids to `out`, all or nothing; in order, from as many segments as needed. `n` is 0 to 16777216; for 0
/// `out` may be NULL, and no source is asked. The source is asked for that many at once, if it can give them. It
/// waits at most timeout_ms for each segment.
///
/// Errors: as leafid_tag_next, and LEAFID_INVALID_ARGUMENT for `n`. After an error the values in `out` are not ids;
/// the ids that the call had are put back and issued later.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_tag_fill(tag: *const leafid_tag, out: *mut i64, n: usize) -> leafid_status {
    // SAFETY: the caller's duty, said in the header.
    unsafe { fill(tag, None, out, n) }
}

/// The same as leafid_tag_fill, with its own timeout_ms, 1 to 3600000.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_tag_fill_within(
    tag: *const leafid_tag,
    timeout_ms: i64,
    out: *mut i64,
    n: usize,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header.
    unsafe { fill(tag, Some(timeout_ms), out, n) }
}

/// # Safety
/// Pointers are NULL or valid; `out` has room for `n` ids.
#[inline]
unsafe fn fill(tag: *const leafid_tag, timeout_ms: Option<i64>, out: *mut i64, n: usize) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty.
        let (tag, ids) = unsafe { (host(tag)?, room(out, n)?) };
        tag.fill_unless(ids, timeout_ms, &mut || false)
    })
}

/// The same as leafid_tag_fill, into memory that leafid allocates. Free it with leafid_ids_free and the same `n`. For
/// 0 ids it is NULL.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_tag_take(
    tag: *const leafid_tag,
    n: usize,
    out: *mut *mut i64,
) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        let (tag, out) = unsafe { (host(tag)?, Out::new(out, "out")?) };
        count(n)?;
        out.write(given(tag.take(n)?));
        Ok(())
    })
}

/// Frees a handle; call it once, when no thread uses it any more. NULL does nothing. The last one closes its segments
/// if their handle was freed before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_tag_free(tag: *mut leafid_tag) {
    if !tag.is_null() {
        // SAFETY: made by leafid_segments_tag and freed once, by the caller's duty.
        quietly(|| drop(unsafe { Box::from_raw(tag) }));
    }
}

#[cold]
fn none_in_memory(tag: &Tag) -> Error {
    let name = tag.name();
    let message = format!(
        "no id of the tag {name:?} is at hand, and its fetch is running: call again, or wait for next"
    );
    Error::new(Code::WouldBlock, message)
}
