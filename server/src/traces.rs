//! Traces by OTLP: a span for each request, and in it one for each call of the store.
//!
//! Spans wait in a bounded queue that a thread of its own sends. A collector that is slow or down costs spans, and never
//! a request.

#[cfg(feature = "otlp")]
mod collector;
#[cfg(feature = "otlp")]
mod spans;
#[cfg(not(feature = "otlp"))]
mod untraced;

#[cfg(feature = "otlp")]
pub(crate) use spans::{RequestSpan, carried, in_store, is_on, start, stop};
#[cfg(not(feature = "otlp"))]
pub(crate) use untraced::{NoSpan as RequestSpan, carried, in_store, is_on, start, stop};
