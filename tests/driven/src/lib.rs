//! What a host that drives the machines of leafid-core cannot write, in any language: a span is granted only once its
//! record is durable, and a segment is offered only once its mark is.
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
//! use leafid_core::{DoubleBuffer, Segment};
//! fn offers<T>(buffer: &DoubleBuffer, filler: T, segment: Segment) {
//!     let _ = buffer.offer(filler, segment, 10);
//! }
//! ```
//!
//! ```compile_fail,E0624
//! use leafid_core::{DoubleBuffer, Segment};
//! fn offers<T>(buffer: &DoubleBuffer, filler: T, segment: Segment) {
//!     let _ = buffer.offer_rest(filler, segment, 10, 0);
//! }
//! ```
//!
//! ```compile_fail,E0432
//! use leafid_core::segment::Filler;
//! ```
//!
//! No segment passes another guard than the machine's:
//!
//! ```compile_fail,E0432
//! use leafid_core::segment::Guard;
//! ```
//!
//! No record is changed but by a reset, nor written:
//!
//! ```compile_fail,E0599
//! fn begins(record: &leafid_core::Record, run: leafid_core::Span) {
//!     let _ = record.begin(run, 0, 0);
//! }
//! ```
//!
//! ```compile_fail,E0624
//! fn begins(record: &leafid_core::Record, run: leafid_core::Span) {
//!     let _ = record.begun(run, 0, 0);
//! }
//! ```
//!
//! ```compile_fail,E0599
//! fn extends(record: &leafid_core::Record, span: leafid_core::Span) {
//!     let _ = record.extend(span, 0);
//! }
//! ```
//!
//! ```compile_fail,E0624
//! fn extends(record: &leafid_core::Record, span: leafid_core::Span) {
//!     let _ = record.extended(span, 0);
//! }
//! ```
//!
//! ```compile_fail,E0599
//! fn ends(record: leafid_core::Record) {
//!     let _ = record.closed(0, 0);
//! }
//! ```
//!
//! ```compile_fail,E0624
//! fn ends(record: leafid_core::Record) {
//!     let _ = record.ended(0, 0);
//! }
//! ```
//!
//! ```compile_fail,E0599
//! fn raises(record: leafid_core::Record) {
//!     let _ = record.raised_to(1);
//! }
//! ```
//!
//! ```compile_fail,E0624
//! fn raises(record: leafid_core::Record) {
//!     let _ = record.raised(1);
//! }
//! ```
//!
//! ```compile_fail,E0599
//! fn believes(record: leafid_core::Record, rules: &leafid_core::Rules) {
//!     let _ = (record.admit(rules, 0), record.after_lost_slot(rules, 0));
//! }
//! ```
//!
//! ```compile_fail,E0624
//! fn believes(record: leafid_core::Record, rules: &leafid_core::Rules) {
//!     let _ = (record.admission(rules, 0), record.with_lost_slot(rules, 0));
//! }
//! ```
//!
//! ```compile_fail,E0599
//! use leafid_core::{Record, format::state::Writer, run::record_file::RecordFile};
//! fn writes(file: &mut RecordFile, record: Record, writer: Writer) {
//!     let _ = file.write(record, writer);
//! }
//! ```
//!
//! ```compile_fail,E0624
//! use leafid_core::{Record, format::state::Writer, run::record_file::RecordFile};
//! fn writes(file: &mut RecordFile, record: Record, writer: Writer) {
//!     let _ = file.ask(record, writer);
//! }
//! ```
