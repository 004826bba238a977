//! Segments: their opening, tags, statistics and close.

use crate::call::{Texts, keep, natives, new_texts, text};
use crate::options::{Rows, each};
use crate::source::UserObject;
use crate::stats;
use crate::tag::TagHandle;
use jni::objects::JString;
use jni::sys::jlong;
use leafid::{OptionOf, Segments};
use std::sync::{Mutex, PoisonError};

/// Segments, and the tags that Java has handles of. They go with it.
pub(crate) struct SegmentsHandle {
    // The tags go first.
    #[allow(clippy::vec_box, reason = "a handle is the address of a tag")]
    tags: Mutex<Vec<Box<TagHandle>>>,
    segments: Segments,
}

natives! { "io.leafid.Segments";
    /// Opens segments; it may wait. `fetch` is the number of the user's object that fetches, 0 without one.
    "open"(env, options: Rows<'l>, fetch: jlong) -> jlong {
        // Before anything fails: it has Java forget the object.
        let fetch = UserObject::of(fetch);
        let mut builder = Segments::builder();
        each(env, OptionOf::Segments, &options, |name, value| builder.set_value(name, value))?;
        if let Some(fetch) = fetch {
            builder = builder.source(fetch.segments());
        }
        Ok(keep(SegmentsHandle { tags: Mutex::default(), segments: builder.open()? }))
    }
}

natives! { "io.leafid.Segments" freed SegmentsHandle;
    /// The handle of the tag of this name. It is freed with the segments.
    "tag"(env, its, name: JString<'l>) -> jlong {
        let tag = Box::new(TagHandle::new(its.segments.tag(&text(env, "tag", &name)?)?));
        let address = std::ptr::from_ref(&*tag) as jlong;
        its.tags.lock().unwrap_or_else(PoisonError::into_inner).push(tag);
        Ok(address)
    }

    /// The statistics of the segments: see `stats::of_segments`.
    "stats"(env, its) -> Texts<'l> {
        Ok(new_texts(env, &stats::of_segments(its.segments.stats()?))?)
    }

    /// Closes all tags; it may wait for a write.
    "close"(_env, its) {
        Ok(its.segments.close()?)
    }
}
