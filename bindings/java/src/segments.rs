//! Segments: their opening, tags, statistics and close.

use crate::call::{Class, Texts, call, free, held, keep, new_texts, text};
use crate::options::{Rows, each};
use crate::source::UserObject;
use crate::stats;
use crate::tag::TagHandle;
use jni::objects::{JObject, JString};
use jni::sys::jlong;
use jni::{EnvUnowned, jni_mangle};
use leafid::{OptionOf, Segments};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Segments, and the tags that Java has handles of. They go with it.
pub(crate) struct SegmentsHandle {
    // The tags go first.
    #[allow(clippy::vec_box, reason = "a handle is the address of a tag")]
    tags: Mutex<Vec<Box<TagHandle>>>,
    segments: Segments,
}

/// Opens segments; it may wait. `fetch` is the number of the user's object that fetches, 0 without one.
#[jni_mangle("io.leafid.Segments", "open")]
pub fn open<'l>(env: EnvUnowned<'l>, _: Class<'l>, options: Rows<'l>, fetch: jlong) -> jlong {
    call(env, |env| {
        let mut builder = Segments::builder();
        each(env, OptionOf::Segments, &options, |name, value| builder.set_value(name, value))?;
        if fetch != 0 {
            // The host bounds how long a fetch may take.
            builder = builder.source(UserObject { number: fetch, patience: Duration::MAX }.segments());
        }
        Ok(keep(SegmentsHandle { tags: Mutex::default(), segments: builder.open()? }))
    })
}

/// The handle of the tag of this name. It is freed with the segments.
#[jni_mangle("io.leafid.Segments", "tag")]
pub fn tag<'l>(env: EnvUnowned<'l>, _: JObject<'l>, handle: jlong, name: JString<'l>) -> jlong {
    call(env, |env| {
        // SAFETY: a handle of `open`, whose object is the receiver.
        let handle = unsafe { held::<SegmentsHandle>(handle) };
        let tag = Box::new(TagHandle::new(handle.segments.tag(&text(env, &name)?)?));
        let address = std::ptr::from_ref(&*tag) as jlong;
        handle.tags.lock().unwrap_or_else(PoisonError::into_inner).push(tag);
        Ok(address)
    })
}

/// The statistics of the segments: see `stats::of_segments`.
#[jni_mangle("io.leafid.Segments", "stats")]
pub fn stats_of<'l>(env: EnvUnowned<'l>, _: JObject<'l>, handle: jlong) -> Texts<'l> {
    call(env, |env| {
        // SAFETY: as above.
        let stats = unsafe { held::<SegmentsHandle>(handle) }.segments.stats()?;
        Ok(new_texts(env, &stats::of_segments(stats))?)
    })
}

/// Closes all tags; it may wait for a write.
#[jni_mangle("io.leafid.Segments", "close")]
pub fn close<'l>(env: EnvUnowned<'l>, _: JObject<'l>, handle: jlong) {
    // SAFETY: as above.
    call(env, |_| Ok(unsafe { held::<SegmentsHandle>(handle) }.segments.close()?));
}

/// Ends the handle and those of its tags, and closes it if it was not closed.
#[jni_mangle("io.leafid.Segments", "free")]
pub fn free_segments<'l>(env: EnvUnowned<'l>, _: Class<'l>, handle: jlong) {
    call(env, |_| {
        // SAFETY: its object has gone, and so have its tags, which hold it.
        unsafe { free::<SegmentsHandle>(handle) };
        Ok(())
    });
}
