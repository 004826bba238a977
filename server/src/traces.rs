//! Traces by OTLP: a span for each request, and in it one for each call of the store.
//!
//! Spans wait in a bounded queue that a thread of its own sends. A collector that is slow or down costs spans, and never
//! a request.

mod collector;
mod spans;

pub(crate) use spans::{RequestSpan, carried, in_store, is_on, start, stop};
