//! Segments: their opening, tags, statistics and close.

use crate::error::thrown;
use crate::events::Events;
use crate::exit::close_at_exit;
use crate::opening::open_soon;
use crate::options::of_segments;
use crate::stats::Shown;
use crate::tag::TagHandle;
use leafid::{SegmentSource, Segments, SegmentsBuilder, SegmentsStats};
use napi::bindgen_prelude::{Env, External, Object};
use napi_derive::napi;
use std::sync::Arc;

/// A handle and its environment.
pub struct SegmentsHandle {
    segments: Arc<Segments>,
    events: Arc<Events>,
}

/// Opens segments. `owner` is the number of the user callback that fetches, if there is one.
#[napi(catch_unwind)]
pub fn open_segments(
    env: &Env,
    events: &External<Arc<Events>>,
    options: Object<'_>,
    owner: Option<i64>,
) -> napi::Result<External<SegmentsHandle>> {
    let segments = builder(env, &options, source(events, owner))?.open();
    Ok(handle(events, segments.map_err(|error| thrown(env, &error))?))
}

/// As `open_segments`, on its own thread. Returns the ticket of the event at its end.
#[napi(catch_unwind)]
pub fn open_segments_soon(
    env: &Env,
    events: &External<Arc<Events>>,
    options: Object<'_>,
    owner: Option<i64>,
) -> napi::Result<i64> {
    let builder = builder(env, &options, source(events, owner))?;
    Ok(open_soon(events, "segments", move || builder.open(), Events::opened))
}

fn builder(env: &Env, options: &Object<'_>, source: Option<SegmentSource>) -> napi::Result<SegmentsBuilder> {
    let builder = of_segments(env, options)?;
    Ok(match source {
        Some(source) => builder.source(source),
        None => builder,
    })
}

/// The result of an opening that has ended.
#[napi(catch_unwind)]
pub fn take_opened(
    env: &Env,
    events: &External<Arc<Events>>,
    ticket: i64,
) -> napi::Result<External<SegmentsHandle>> {
    Ok(handle(events, events.take_opened(ticket).map_err(|error| thrown(env, &error))?))
}

/// The tag of this name. `number` identifies its waiting calls.
#[napi(catch_unwind)]
pub fn segments_tag(
    env: &Env,
    handle: &External<SegmentsHandle>,
    name: String,
    number: i64,
) -> napi::Result<External<TagHandle>> {
    let tag = handle.segments.tag(&name).map_err(|error| thrown(env, &error))?;
    Ok(External::new(TagHandle::new(tag, number, Arc::clone(&handle.events))))
}

/// The statistics of all tags.
#[napi(catch_unwind)]
pub fn segments_stats(env: &Env, handle: &External<SegmentsHandle>) -> napi::Result<Shown<SegmentsStats>> {
    handle.segments.stats().map(Shown).map_err(|error| thrown(env, &error))
}

/// The id space.
#[napi(catch_unwind)]
pub fn segments_name(handle: &External<SegmentsHandle>) -> String {
    handle.segments.name().into()
}

/// Closes all tags.
#[napi(catch_unwind)]
pub fn close_segments(env: &Env, handle: &External<SegmentsHandle>) -> napi::Result<()> {
    handle.segments.close().map_err(|error| thrown(env, &error))
}

fn handle(events: &Arc<Events>, segments: Segments) -> External<SegmentsHandle> {
    let segments = Arc::new(segments);
    close_at_exit(&segments);
    External::new(SegmentsHandle { segments, events: Arc::clone(events) })
}

/// The user callback as a source.
fn source(events: &Arc<Events>, owner: Option<i64>) -> Option<SegmentSource> {
    let owner = Owner { number: owner?, events: Arc::clone(events) };
    Some(SegmentSource::deferred(move |request, reply| owner.events.ask(owner.number, request, reply)))
}

/// Reports when it is dropped that these segments no longer need the user callback.
struct Owner {
    number: i64,
    events: Arc<Events>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.events.gone(self.number);
    }
}
