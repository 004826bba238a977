//! What a host that drives the machines of leafid-core cannot write, in any language: a span is granted only once its record
//! is durable, and a segment is offered only once its mark is.
//!
//! What it does write:
//!
//! ```
//! fn takes(flake: &leafid_core::Snowflake, buffer: &leafid_core::DoubleBuffer) {
//!     let _ = (flake.next(0), buffer.take());
//! }
//! ```
//!
//! No span reaches a generator:
//!
//! ```compile_fail,E0599
//! fn grants(flake: &leafid_core::Snowflake, span: leafid_core::Span) {
//!     flake.grant(span);
//! }
//! ```
//!
//! ```compile_fail,E0624
//! fn adds(flake: &leafid_core::Snowflake, span: leafid_core::Span) {
//!     flake.add(span);
//! }
//! ```
//!
//! No segment reaches a buffer:
//!
//! ```compile_fail,E0599
//! use leafid_core::segment::Filler;
//! fn offers(buffer: &leafid_core::DoubleBuffer, filler: &mut Filler, segment: leafid_core::Segment) {
//!     let _ = buffer.offer(filler, segment, 10);
//! }
//! ```
//!
//! ```compile_fail,E0624
//! use leafid_core::segment::Filler;
//! fn offers(buffer: &leafid_core::DoubleBuffer, filler: &mut Filler, segment: leafid_core::Segment) {
//!     let _ = buffer.offer_rest(filler, segment, 10, 0);
//! }
//! ```
