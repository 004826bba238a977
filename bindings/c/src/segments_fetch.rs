//! Segments from a user callback.

use crate::callback::{UserData, call, leafid_free_fn, missing};
use crate::leafid_status;
use crate::segments_options::leafid_segments_options;
use crate::settings::change;
use crate::text;
use leafid::{Answer, Code, Fetched, Segment, SegmentSource};
use std::ffi::{c_char, c_int, c_void};

/// A range of ids. New fields are added only at the end.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct leafid_segment {
    /// sizeof(leafid_segment) as the library knows it. Do not read or write beyond it.
    pub size: usize,
    /// The first id; not negative.
    pub start: i64,
    /// The end, exclusive: above the last id.
    pub end: i64,
    /// The distance between ids; 0 means 1.
    pub stride: i64,
    /// Input: every id below it was given before. A counter that is lower has lost something.
    pub after: i64,
}

/// Writes to `out` a range of ids of `tag` that was never given before and will never be given again: take it from
/// its counter in one transaction, and return after the commit. `step` is the requested number of ids; you may give
/// more or less. Before the call all fields of `out` are 0, except size, after, and start, which is -1.
///
/// Returns LEAFID_OK; LEAFID_UNKNOWN_TAG for an unknown tag, which callers get at once; or another leafid_status, or
/// -1 for anything else, with a text in `error`. After an error leafid calls again, with longer and longer pauses. A
/// caller that has waited timeout_ms gets that status, or LEAFID_SEGMENT_UNAVAILABLE for a number that is not a
/// status, and if the callback has not returned. An invalid range is LEAFID_SOURCE_INVALID, one that was given before
/// LEAFID_SEGMENT_REGRESSED; leafid uses no id of either.
///
/// For one tag of one leafid_segments there is one call at a time, even if it hangs. For several tags there may be
/// four at once, and more if some have not returned for 100 ms. The callback cannot take an id of the same tag. The
/// top of this header has the other rules of all callbacks: on what thread they run and what they must not do.
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

/// Gets segments from a callback, for example from your own database, instead of servers. `free_user_data` may be
/// NULL.
///
/// Errors: LEAFID_INVALID_ARGUMENT if `fetch` is NULL.
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
        change(options, |options| {
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
                    Err(error) if error.is_bare(Code::UnknownTag) => Ok(None),
                    Err(error) => Err(error.into_error("the fetch of a segment")),
                }
            });
            options.builder = options.builder.clone().source(source);
            Ok(())
        })
    }
}

impl leafid_segment {
    /// The struct for a callback to fill in. Its start is invalid, so that a missing one is refused.
    fn empty(after: i64) -> leafid_segment {
        leafid_segment { size: size_of::<leafid_segment>(), start: -1, end: 0, stride: 0, after }
    }

    fn read(&self) -> Answer<Option<Fetched>> {
        let stride = if self.stride == 0 { 1 } else { self.stride };
        Ok(Some(Segment::new(self.start, self.end, stride)?.into()))
    }
}
