//! The options of segments: one setter for each.

use crate::guard::{guard, quietly};
use crate::leafid_status;
use crate::pointer::Out;
use crate::settings::Given::{Flag, Int, Text};
use crate::settings::{Options, change, flag, set};
use crate::text;
use leafid::{Error, FileTag, OptionValue, Prewarm, Result, SegmentsBuilder};
use std::ffi::c_char;

/// The options of segments. One thread may use them at a time; they may serve many openings. A setter that refuses
/// its value returns the error and changes nothing else. leafid_segments_open returns the first such error again, so
/// you need to check only its status. An option that is not set has its default.
#[derive(Default)]
pub struct leafid_segments_options {
    pub(crate) builder: SegmentsBuilder,
    // The lists, whose entries are added one by one.
    pub(crate) servers: Vec<String>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) tags: Vec<(String, FileTag)>,
    prewarm: Prewarm,
    first_error: Option<Error>,
}

impl Options for leafid_segments_options {
    fn set_value(&mut self, name: &str, value: OptionValue) -> Result<()> {
        self.builder.set_value(name, value)
    }

    fn first_error(&mut self) -> &mut Option<Error> {
        &mut self.first_error
    }
}

impl leafid_segments_options {
    /// The host's options, or the first error of a setter.
    pub(crate) fn check(&self) -> Result<SegmentsBuilder> {
        let builder = self.first_error.clone().map_or_else(|| Ok(self.builder.clone()), Err)?;
        let builder = builder.servers(&self.servers).prewarm(self.prewarm.clone());
        Ok(builder.headers(self.headers.iter().cloned()).tags(self.tags.iter().cloned()))
    }
}

/// Creates options with all defaults. Free them with leafid_segments_options_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_new(
    out: *mut *mut leafid_segments_options,
) -> leafid_status {
    guard(|| {
        // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
        let out = unsafe { Out::new(out, "out") }?;
        out.write(Box::into_raw(Box::default()));
        Ok(())
    })
}

/// Frees options; call it once. Segments opened with them stay open. NULL does nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_free(options: *mut leafid_segments_options) {
    if !options.is_null() {
        // SAFETY: made by leafid_segments_options_new and freed once, by the caller's duty.
        quietly(|| drop(unsafe { Box::from_raw(options) }));
    }
}

/// The id space: a range that a source gives twice to one of its tags is refused. Two databases or two clusters need
/// two id spaces. The same characters as for leafid_snowflake_options_set_name. Default "default".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_name(
    options: *mut leafid_segments_options,
    name: *const c_char,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "name", Text(name)) }
}

/// The directory of the marks: the end of the ranges that each tag got. Created if missing. Default as for
/// leafid_snowflake_options_set_state_dir.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_state_dir(
    options: *mut leafid_segments_options,
    state_dir: *const c_char,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "state_dir", Text(state_dir)) }
}

/// Whether to store the marks, 1 or 0. Default 1. With 0 only this process notices a source that repeats itself.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_persist(
    options: *mut leafid_segments_options,
    persist: i32,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "persist", Flag(persist)) }
}

/// Whether the state directory and file:DIR may be on a network file system, 1 or 0. Its locks must work between all
/// hosts that use it. Default 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_shared_fs(
    options: *mut leafid_segments_options,
    shared_fs: i32,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "shared_fs", Flag(shared_fs)) }
}

/// Whether the members of one group share the state directory and file:DIR, 1 or 0. Files are then created with mode
/// 0660, whatever the umask, and directories with 2770. Files with secrets stay private to their owner. Default
/// LEAFID_SHARED_GROUP, else 0: 0640 and 0750 less the umask.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_shared_group(
    options: *mut leafid_segments_options,
    shared_group: i32,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "shared_group", Flag(shared_group)) }
}

/// How many ids to ask for at a time, 1 to 1000000. Default: the source's own; 1000 for a callback. A Leaf gives one
/// id per request: then it is the number of ids in stock, 1000 by default. Refused with tinyid, whose table sets it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_step(
    options: *mut leafid_segments_options,
    step: i64,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "step", Int(step)) }
}

/// Whether the step follows the use, 1 or 0. It doubles, up to 1000000, when a segment lasted less than 15 minutes,
/// and halves when it lasted 30 or more, never below the first one. Default 1. The stock of a Leaf starts with one id
/// and grows up to the step with the use; 0 fills it at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_adaptive(
    options: *mut leafid_segments_options,
    adaptive: i32,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "adaptive", Flag(adaptive)) }
}

/// The next segment is fetched when more than this percentage of a segment is used, 0 to 100. Default 10.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_prefetch(
    options: *mut leafid_segments_options,
    percent: i64,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "prefetch", Int(percent)) }
}

/// The longest wait of a call for its next id, milliseconds, 1 to 3600000. Default 2000. A call for many ids that
/// makes progress continues.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_timeout_ms(
    options: *mut leafid_segments_options,
    ms: i64,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "timeout_ms", Int(ms)) }
}

/// Adds a tag that leafid_segments_open fetches at once, in the background; at most 1000. If you call this function
/// and _set_prewarm_last_day, the last call counts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_add_prewarm(
    options: *mut leafid_segments_options,
    tag: *const c_char,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        change(options, |options| {
            let tag = text::read(tag, "tag")?.to_owned();
            match &mut options.prewarm {
                Prewarm::Tags(tags) => tags.push(tag),
                other => *other = Prewarm::Tags(vec![tag]),
            }
            Ok(())
        })
    }
}

/// Whether leafid_segments_open fetches the tags that were fetched within the last day, according to the state
/// directory, 1 or 0: at most 1000. Default 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_prewarm_last_day(
    options: *mut leafid_segments_options,
    last_day: i32,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        change(options, |options| {
            options.prewarm =
                if flag("prewarm_last_day", last_day)? { Prewarm::LastDay } else { Prewarm::None };
            Ok(())
        })
    }
}

/// Whether a clean close stores the unused ids for the next opening on this machine, for a day at most, 1 or 0.
/// Default 0: they become a gap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_keep_unused(
    options: *mut leafid_segments_options,
    keep_unused: i32,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "keep_unused", Flag(keep_unused)) }
}

/// Whether the source gives every segment of a tag above all earlier ones, so that one below is refused, 1 or 0.
/// Default 1; 0 for tinyid, and for a Leaf, whose nodes interleave and which refuses 1. With 0 only segments that
/// overlap a remembered one are refused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_ordered_source(
    options: *mut leafid_segments_options,
    ordered: i32,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, "ordered_source", Flag(ordered)) }
}
