//! The statistics of segments and their tags.

use crate::guard::guard;
use crate::leafid_status;
use crate::pointer::Out;
use crate::segments::{host, leafid_segments};
use crate::sized;
use crate::tag::{self, leafid_tag};
use crate::text;
use leafid::{SegmentsStats, TagStats};
use std::ffi::c_char;

/// The numbers of a tag in this process. New fields are added only at the end: see leafid_tag_stats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct leafid_tag_stats_t {
    /// The next id of the current segment; 0 without one.
    pub current_start: i64,
    /// The end of it, exclusive; 0 without one.
    pub current_end: i64,
    /// The first id of the segment after it; 0 without one.
    pub next_start: i64,
    /// The end of that one, exclusive; 0 without one.
    pub next_end: i64,
    /// Ids in memory.
    pub left: u64,
    /// The step of the last fetch; 0 before the first fetch from a source that sets the step itself.
    pub step: i64,
    /// Whether a fetch is in progress, 1 or 0.
    pub fetching: u64,
    /// Fetches that have ended.
    pub fetches: u64,
    /// Those of them that failed; leafid_tag_last_error has the last error.
    pub failures: u64,
    /// Calls that found no id in memory.
    pub waits: u64,
    /// Calls that wait now.
    pub waiting: u64,
    /// Ids that calls have taken, with those that a thread reserved for its next calls.
    pub ids: u64,
}

impl From<&TagStats> for leafid_tag_stats_t {
    fn from(stats: &TagStats) -> leafid_tag_stats_t {
        let [current, next] = [stats.current, stats.next]
            .map(|segment| segment.map_or((0, 0), |segment| (segment.start(), segment.end())));
        leafid_tag_stats_t {
            current_start: current.0,
            current_end: current.1,
            next_start: next.0,
            next_end: next.1,
            left: stats.left,
            step: stats.step,
            fetching: stats.fetching.into(),
            fetches: stats.fetches,
            failures: stats.failures,
            waits: stats.waits,
            waiting: stats.waiting as u64,
            ids: stats.ids,
        }
    }
}

/// The size of the struct in its first version. A smaller size is a mistake.
const LEAST_SIZE: usize = 88;

/// Writes the numbers of a tag. `size` is sizeof(leafid_tag_stats_t) with which the caller was compiled: a library
/// that knows more fields omits them, one that knows fewer sets the rest to 0.
///
/// Errors: LEAFID_INVALID_ARGUMENT for a size below that of the first version, LEAFID_CLOSED; in a forked child also those
/// of leafid_segments_open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_tag_stats(
    tag: *const leafid_tag,
    out: *mut leafid_tag_stats_t,
    size: usize,
) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        let (tag, out) = unsafe { (tag::host(tag)?, Out::new(out, "out")?) };
        let stats = leafid_tag_stats_t::from(&tag.stats()?);
        // SAFETY: the caller's duty; the struct has no padding.
        unsafe { sized::write(&stats, out, size, LEAST_SIZE, "leafid_tag_stats_t") }
    })
}

/// The tag's name, also of closed segments. Text as leafid_snowflake_name writes it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_tag_name(
    tag: *const leafid_tag,
    buf: *mut c_char,
    cap: usize,
    needed: *mut usize,
) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        unsafe { text::write_sized(tag::host(tag)?.name(), buf, cap, needed) }
    })
}

/// The error of the tag's last fetch, empty after a success. Text as leafid_snowflake_name writes it. The errors of
/// calls are in leafid_last_error.
///
/// Errors: LEAFID_CLOSED; in a forked child also those of leafid_segments_open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_tag_last_error(
    tag: *const leafid_tag,
    buf: *mut c_char,
    cap: usize,
    needed: *mut usize,
) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        let stats = unsafe { tag::host(tag) }?.stats()?;
        // SAFETY: the caller's duty.
        unsafe { text::write_sized(&stats.last_error.unwrap_or_default(), buf, cap, needed) }
    })
}

/// The id space of segments. Text as leafid_snowflake_name writes it.
///
/// Errors: LEAFID_CLOSED; in a forked child also those of leafid_segments_open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_name(
    segments: *const leafid_segments,
    buf: *mut c_char,
    cap: usize,
    needed: *mut usize,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { write(segments, |stats| stats.name, buf, cap, needed) }
}

/// The kind of source, such as "callback". Text as leafid_snowflake_name writes it.
///
/// Errors: LEAFID_CLOSED; in a forked child also those of leafid_segments_open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_source(
    segments: *const leafid_segments,
    buf: *mut c_char,
    cap: usize,
    needed: *mut usize,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { write(segments, |stats| stats.source, buf, cap, needed) }
}

/// The directory of the marks, with the id space's sub-directory; empty if none are stored. Text as
/// leafid_snowflake_name writes it.
///
/// Errors: LEAFID_CLOSED; in a forked child also those of leafid_segments_open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_state_dir(
    segments: *const leafid_segments,
    buf: *mut c_char,
    cap: usize,
    needed: *mut usize,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { write(segments, |stats| stats.state_dir, buf, cap, needed) }
}

/// The names of all tags that this process has used, each followed by a newline, which no name contains: for
/// leafid_segments_tag and leafid_tag_stats. Text as leafid_snowflake_name writes it.
///
/// Errors: LEAFID_CLOSED; in a forked child also those of leafid_segments_open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_tags(
    segments: *const leafid_segments,
    buf: *mut c_char,
    cap: usize,
    needed: *mut usize,
) -> leafid_status {
    let lines = |stats: SegmentsStats| stats.tags.into_iter().map(|tag| tag.tag + "\n").collect();
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { write(segments, lines, buf, cap, needed) }
}

/// # Safety
/// The pointers are NULL or valid.
unsafe fn write(
    segments: *const leafid_segments,
    choose: impl FnOnce(SegmentsStats) -> String,
    buf: *mut c_char,
    cap: usize,
    needed: *mut usize,
) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty.
        let stats = unsafe { host(segments) }?.stats()?;
        // SAFETY: the caller's duty.
        unsafe { text::write_sized(&choose(stats), buf, cap, needed) }
    })
}
