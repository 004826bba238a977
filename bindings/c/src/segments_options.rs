//! The options of segments, set one by one.

use crate::guard::{guard, quietly};
use crate::leafid_status;
use crate::pointer::Out;
use crate::settings::{self, Settings, flag};
use crate::text;
use leafid::{FileTag, Prewarm, Result, SegmentsBuilder};
use std::ffi::c_char;
use std::mem;

/// The options of segments. For one thread at a time; may be used for many openings. A setter that refuses its value
/// returns the error, changes nothing else, and leafid_segments_open returns the first such error again, so that only
/// its status need be looked at. What is not said to be set to NULL is left alone for its default.
#[derive(Default)]
pub struct leafid_segments_options(Settings<Wanted>);

/// The host's options; what is added one by one is gathered first.
#[derive(Default)]
pub(crate) struct Wanted {
    builder: SegmentsBuilder,
    pub(crate) servers: Vec<String>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) tags: Vec<(String, FileTag)>,
    prewarm: Prewarm,
}

impl Wanted {
    /// Cannot fail: a value is read before.
    pub(crate) fn change(&mut self, change: impl FnOnce(SegmentsBuilder) -> SegmentsBuilder) -> Result<()> {
        self.builder = change(mem::take(&mut self.builder));
        Ok(())
    }
}

impl leafid_segments_options {
    /// The host's options, or the first error a setter met.
    pub(crate) fn check(&self) -> Result<SegmentsBuilder> {
        let Wanted { builder, servers, headers, tags, prewarm } = self.0.check()?;
        let builder = builder.clone().servers(servers).prewarm(prewarm.clone());
        Ok(builder.headers(headers.iter().cloned()).tags(tags.iter().cloned()))
    }
}

/// What all setters do. `change` fails before it changes anything.
///
/// # Safety
/// When not NULL, `options` is live and used by nobody else.
pub(crate) unsafe fn set(
    options: *mut leafid_segments_options,
    change: impl FnOnce(&mut Wanted) -> Result<()>,
) -> leafid_status {
    // SAFETY: the caller's duty.
    unsafe { settings::set(options, |options| &mut options.0, change) }
}

/// Makes options with every default. Give them back with leafid_segments_options_free.
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

/// Gives options back, once; segments opened with them live on. NULL does nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_free(options: *mut leafid_segments_options) {
    if !options.is_null() {
        // SAFETY: made by leafid_segments_options_new and freed once, by the caller's duty.
        quietly(|| drop(unsafe { Box::from_raw(options) }));
    }
}

/// The id space: what a source gives a tag of it twice is refused. Segments of two databases, or two clusters, are two
/// id spaces. As of leafid_snowflake_options_set_name. Default "default".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_name(
    options: *mut leafid_segments_options,
    name: *const c_char,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        set(options, |wanted| {
            let name = text::read(name, "name")?;
            wanted.change(|builder| builder.name(name))
        })
    }
}

/// The directory in which it is kept how far each tag was given; made if missing. Default as of
/// leafid_snowflake_options_set_state_dir.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_state_dir(
    options: *mut leafid_segments_options,
    state_dir: *const c_char,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        set(options, |wanted| {
            let state_dir = text::read(state_dir, "state_dir")?;
            wanted.change(|builder| builder.state_dir(state_dir))
        })
    }
}

/// Whether it is kept how far each tag was given, 1 or 0. Default 1. With 0 a source that repeats itself is noticed by
/// this process alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_persist(
    options: *mut leafid_segments_options,
    persist: i32,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        set(options, |wanted| {
            let persist = flag("persist", persist)?;
            wanted.change(|builder| builder.persist(persist))
        })
    }
}

/// Whether the state directory, and file:DIR, may lie on a network file system, 1 or 0: its locks must work between all
/// hosts that use it. Default 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_shared_fs(
    options: *mut leafid_segments_options,
    shared_fs: i32,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        set(options, |wanted| {
            let shared_fs = flag("shared_fs", shared_fs)?;
            wanted.change(|builder| builder.shared_fs(shared_fs))
        })
    }
}

/// Whether the state directory, and file:DIR, is shared by the members of one group, 1 or 0: files are born for them to write, 0660
/// whatever umask says, and directories 2770. Files with secrets stay the owner's alone. Default LEAFID_SHARED_GROUP, else
/// 0: 0640 and 0750 less umask.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_shared_group(
    options: *mut leafid_segments_options,
    shared_group: i32,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        set(options, |wanted| {
            let shared_group = flag("shared_group", shared_group)?;
            wanted.change(|builder| builder.shared_group(shared_group))
        })
    }
}

/// How many ids to ask for at a time, 1 to 1000000. Default: the source's own; 1000 of a callback. Of a Leaf, which gives
/// one id a request, as many are kept in stock, 1000 by default; tinyid decides itself, and takes none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_step(
    options: *mut leafid_segments_options,
    step: i64,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, |wanted| wanted.change(|builder| builder.step(step))) }
}

/// Whether the step follows the use, 1 or 0: doubled, up to 1000000, when a segment lasted less than 15 minutes, halved
/// when it lasted 30 or more, never below the first. Default 1. The stock of a Leaf begins at 16 ids, and grows to the
/// step with the use; 0 fills it at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_adaptive(
    options: *mut leafid_segments_options,
    adaptive: i32,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        set(options, |wanted| {
            let adaptive = flag("adaptive", adaptive)?;
            wanted.change(|builder| builder.adaptive(adaptive))
        })
    }
}

/// Of how much of a segment more must be used before the next one is fetched, percent, 0 to 100. Default 10.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_prefetch(
    options: *mut leafid_segments_options,
    percent: i64,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, |wanted| wanted.change(|builder| builder.prefetch(percent))) }
}

/// How long a call waits at most for its next id, milliseconds, 1 to 3600000. Default 2000. A call for many ids that
/// makes progress goes on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_timeout_ms(
    options: *mut leafid_segments_options,
    ms: i64,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe { set(options, |wanted| wanted.change(|builder| builder.timeout_ms(ms))) }
}

/// Adds a tag that leafid_segments_open has fetched at once, in the background; at most 1000. Of this function and
/// _set_prewarm_last_day the last one counts.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_add_prewarm(
    options: *mut leafid_segments_options,
    tag: *const c_char,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        set(options, |wanted| {
            let tag = text::read(tag, "tag")?.to_owned();
            match &mut wanted.prewarm {
                Prewarm::Tags(tags) => tags.push(tag),
                other => *other = Prewarm::Tags(vec![tag]),
            }
            Ok(())
        })
    }
}

/// Whether the tags that were fetched within the last day, as the state directory tells, are fetched by
/// leafid_segments_open, 1 or 0: at most 1000. Default 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_prewarm_last_day(
    options: *mut leafid_segments_options,
    last_day: i32,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        set(options, |wanted| {
            wanted.prewarm =
                if flag("prewarm_last_day", last_day)? { Prewarm::LastDay } else { Prewarm::None };
            Ok(())
        })
    }
}

/// Whether a clean close keeps what is left for the next opening on this machine, for a day at most, 1 or 0. Default 0:
/// it is given up.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_keep_unused(
    options: *mut leafid_segments_options,
    keep_unused: i32,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        set(options, |wanted| {
            let keep_unused = flag("keep_unused", keep_unused)?;
            wanted.change(|builder| builder.keep_unused(keep_unused))
        })
    }
}

/// Whether the source gives every segment of a tag above all that it gave before, so that one below is refused, 1 or
/// 0. Default 1; 0 of a Leaf, whose nodes interleave and which takes no 1, and of tinyid. With 0 segments are refused
/// that cross one that is remembered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn leafid_segments_options_set_ordered_source(
    options: *mut leafid_segments_options,
    ordered: i32,
) -> leafid_status {
    // SAFETY: the caller's duty, said in the header: pointers are NULL or valid.
    unsafe {
        set(options, |wanted| {
            let ordered = flag("ordered_source", ordered)?;
            wanted.change(|builder| builder.ordered_source(ordered))
        })
    }
}
