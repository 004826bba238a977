//! Segments behind an opaque handle.

use crate::guard::{guard, quietly};
use crate::pointer::{Out, shared};
use crate::tag::leafid_tag;
use crate::text;
use crate::{leafid_segments_options, leafid_status};
use leafid::{Result, Segments};
use std::ffi::c_char;

/// Ids from segments: ranges of counters, one counter for each tag, leased from a source. Each tag has two segments
/// in memory, so that calls do not wait while the source is slow, or down for a while. All threads may use it at the
/// same time. A forked child may continue to use it: it issues none of its parent's ids, and fetches its own
/// segments.
pub struct leafid_segments(Segments);

/// The host's segments behind a handle.
///
/// # Safety
/// When not NULL, `segments` came from leafid_segments_open and was not freed.
pub(crate) unsafe fn host<'a>(segments: *const leafid_segments) -> Result<&'a Segments> {
    // SAFETY: the caller's duty.
    unsafe { shared(segments, "segments") }.map(|segments| &segments.0)
}

/// Opens segments. No source is asked yet, except for prewarmed tags. Each opening has its own segments.
///
/// Errors: the first one of a setter; LEAFID_INVALID_ARGUMENT, also if neither servers nor a callback are set;
/// LEAFID_STATE_IO; for a file:DIR source LEAFID_UNKNOWN_TAG for a directory without its marker,
/// LEAFID_STATE_CORRUPT.
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

/// The ids of the tag of this name: 1 to 128 bytes of UTF-8 without control characters. Nothing is fetched yet. Free
/// it with leafid_tag_free. Several handles of one name are one tag.
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

/// Closes segments, from any thread and at any time. Calls that wait for an id of any of their tags, and every later
/// call, get LEAFID_CLOSED. Unused ids become a gap, or with keep_unused are stored for the next opening. A second
/// close returns LEAFID_OK. You still have to free the handle. It does not wait for a callback that runs or hangs.
///
/// Errors: LEAFID_STATE_IO if the unused ids could not be stored; the segments are closed anyway.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_close(segments: *const leafid_segments) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        unsafe { host(segments) }?.close()
    })
}

/// Frees a handle; call it once, when no thread uses it any more. It closes the segments, unless some of their tags
/// are not freed yet: then the last of them closes the segments. NULL does nothing. In a forked child it closes
/// nothing of the parent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_free(segments: *mut leafid_segments) {
    if !segments.is_null() {
        // SAFETY: made by leafid_segments_open and freed once, by the caller's duty.
        quietly(|| drop(unsafe { Box::from_raw(segments) }));
    }
}
