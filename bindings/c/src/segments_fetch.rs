//! Segments from a function of the user's.

use crate::callback::{UserData, call, leafid_free_fn, missing};
use crate::leafid_status;
use crate::segments_options::{leafid_segments_options, set};
use crate::text;
use leafid::{Answer, Code, Fetched, Segment, SegmentSource};
use std::ffi::{c_char, c_int, c_void};

/// A range of ids. Fields are only ever added at the end.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct leafid_segment {
    /// sizeof(leafid_segment) as the library knows it: what lies beyond is not there, and must not be written.
    pub size: usize,
    /// The first id; not negative.
    pub start: i64,
    /// Above the last id: an id itself only of the next segment.
    pub end: i64,
    /// From one id to the next; 0 is 1.
    pub stride: i64,
    /// Told, not asked: every id below was given before. A counter that says less has lost something.
    pub after: i64,
}

/// Writes to `out` a range of ids of `tag` that was never given before, nor will be again: it is taken from its counter
/// in one transaction, which has ended before this returns. About `step` ids are wished for; more or less may be given.
/// In `out` all is 0 but size, after, and start, which is -1.
///
/// Answers LEAFID_OK; LEAFID_UNKNOWN_TAG for a tag that there is not, which who waits is told at once; or another
/// leafid_status, or -1 for anything else, with a text in `error`. It is called again then, later each time, and what
/// is none of these statuses is LEAFID_SEGMENT_UNAVAILABLE to who has waited timeout_ms, as is no answer. A range that
/// is none is LEAFID_SOURCE_INVALID, one that was given before LEAFID_SEGMENT_REGRESSED; no id of either is used.
///
/// For one tag of one leafid_segments no two calls are made at once, not even beside one that hangs; for several tags
/// there may be four, and more beside those that have not answered for a second. An id of the same tag cannot be had
/// within it. What else holds for every callback, on what thread it runs and what it must not do, is said at the top of
/// this header.
pub type leafid_fetch_fn = Option<
    unsafe extern "C" fn(
        user_data: *mut c_void,
        tag: *const c_char,
        step: i64,
        out: *mut leafid_segment,
        error: *mut c_char,
        error_cap: usize,
    ) -> c_int,
>;

/// Segments from a callback, on your own database for example, instead of servers. `free_user_data` may be NULL.
///
/// Errors: LEAFID_INVALID_ARGUMENT for a `fetch` that is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_fetch(
    options: *mut leafid_segments_options,
    fetch: leafid_fetch_fn,
    user_data: *mut c_void,
    free_user_data: leafid_free_fn,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header.
    let user_data = unsafe { UserData::new(user_data, free_user_data) };
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        set(options, |wanted| {
            let fetch = fetch.ok_or_else(|| missing("fetch"))?;
            let source = SegmentSource::callback(move |request| {
                let tag = text::write_c(&request.tag)?;
                let mut segment = leafid_segment::empty(request.after);
                let answer = call(|error, cap| {
                    // SAFETY: the header's contract of callbacks: what is passed lives until it returns.
                    fetch(user_data.pointer(), tag.as_ptr(), request.step, &mut segment, error, cap)
                });
                match answer {
                    Ok(()) => segment.read(),
                    Err(said) if said.is_bare(Code::UnknownTag) => Ok(None),
                    Err(said) => Err(said.into_error("the fetch of a segment")),
                }
            });
            wanted.change(|builder| builder.source(source))
        })
    }
}

impl leafid_segment {
    /// What a callback fills in: with a start that is none, so that one left out is refused.
    fn empty(after: i64) -> leafid_segment {
        leafid_segment { size: size_of::<leafid_segment>(), start: -1, end: 0, stride: 0, after }
    }

    fn read(&self) -> Answer<Option<Fetched>> {
        let stride = if self.stride == 0 { 1 } else { self.stride };
        Ok(Some(Segment::new(self.start, self.end, stride)?.into()))
    }
}
