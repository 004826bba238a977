//! Segments: their opening, tags, statistics and close.

use crate::error::thrown;
use crate::events::Events;
use crate::exit::close_at_exit;
use crate::opening::open_soon;
use crate::segment_options::SegmentsOptions;
use crate::segment_stats::SegmentsStats;
use crate::tag::TagHandle;
use leafid::{SegmentSource, Segments};
use napi::bindgen_prelude::{Env, External};
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
    options: SegmentsOptions,
    owner: Option<i64>,
) -> napi::Result<External<SegmentsHandle>> {
    let segments = options.builder(source(events, owner)).and_then(|builder| builder.open());
    Ok(handle(events, segments.map_err(|error| thrown(env, &error))?))
}

/// As `open_segments`, on its own thread. Returns the ticket of the event at its end.
#[napi(catch_unwind)]
pub fn open_segments_soon(
    events: &External<Arc<Events>>,
    options: SegmentsOptions,
    owner: Option<i64>,
) -> i64 {
    let source = source(events, owner);
    let open = move || options.builder(source).and_then(|builder| builder.open());
    open_soon(events, "segments", open, Events::opened)
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
pub fn segments_stats(env: &Env, handle: &External<SegmentsHandle>) -> napi::Result<SegmentsStats> {
    Ok(handle.segments.stats().map_err(|error| thrown(env, &error))?.into())
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
