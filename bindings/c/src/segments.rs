//! Segments behind an opaque handle.

use crate::guard::{guard, quietly};
use crate::pointer::{Out, shared};
use crate::tag::leafid_tag;
use crate::text;
use crate::{leafid_segments_options, leafid_status};
use leafid::{Result, Segments};
use std::ffi::c_char;

/// Ids from segments: ranges of counters, one counter a tag, leased from a source. Each tag has two segments at hand,
/// so that a source may be slow, or gone for a while, without a call that waits. All threads may use it at the same
/// time. A process forked from this one may go on using it: nothing of what its parent had at hand is issued there, it
/// fetches segments of its own.
pub struct leafid_segments(Segments);

/// The host's segments behind a handle.
///
/// # Safety
/// When not NULL, `segments` came from leafid_segments_open and was not freed.
pub(crate) unsafe fn host<'a>(segments: *const leafid_segments) -> Result<&'a Segments> {
    // SAFETY: the caller's duty.
    unsafe { shared(segments, "segments") }.map(|segments| &segments.0)
}

/// Opens segments. No source is asked yet, but for the tags that are prewarmed. Two openings are two: each has segments
/// of its own.
///
/// Errors: the first one of a setter; LEAFID_INVALID_ARGUMENT, also where neither servers nor a callback are set;
/// LEAFID_STATE_IO; of a file:DIR source LEAFID_UNKNOWN_TAG for a directory that is none, LEAFID_STATE_CORRUPT.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_open(
    options: *const leafid_segments_options,
    out: *mut *mut leafid_segments,
) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        let (options, out) = unsafe { (shared(options, "options")?, Out::new(out, "out")?) };
        let segments = options.check()?.open()?;
        out.write(Box::into_raw(Box::new(leafid_segments(segments))));
        Ok(())
    })
}

/// The ids of the tag of this name: 1 to 128 bytes of UTF-8 without control characters. Nothing is fetched yet. Give it
/// back with leafid_tag_free; several handles of one name are one tag.
///
/// Errors: LEAFID_INVALID_ARGUMENT, LEAFID_CLOSED.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_tag(
    segments: *const leafid_segments,
    tag: *const c_char,
    out: *mut *mut leafid_tag,
) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        let (segments, tag, out) =
            unsafe { (host(segments)?, text::read(tag, "tag")?, Out::new(out, "out")?) };
        out.write(Box::into_raw(Box::new(leafid_tag(segments.tag(tag)?))));
        Ok(())
    })
}

/// Closes segments, from any thread and at any time; calls that wait for an id of any tag of theirs, and every later
/// call, get LEAFID_CLOSED. Ids at hand are given up, or with keep_unused kept for the next opening. Closing twice is
/// LEAFID_OK. The handle still has to be freed. A callback that is inside, or hangs, is not waited for.
///
/// Errors: LEAFID_STATE_IO when what was left could not be kept; the segments are closed all the same.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_close(segments: *const leafid_segments) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        unsafe { host(segments) }?.close()
    })
}

/// Gives back a handle, once, when nobody uses it any more; closes the segments unless tags of theirs are there, the
/// last of which does it then. NULL does nothing. In a forked child nothing of the parent's is closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_free(segments: *mut leafid_segments) {
    if !segments.is_null() {
        // SAFETY: made by leafid_segments_open and freed once, by the caller's duty.
        quietly(|| drop(unsafe { Box::from_raw(segments) }));
    }
}
