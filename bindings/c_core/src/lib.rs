//! The C interface of leafid-core, for programs without an operating system. `include/leafid_core.h` is generated from
//! this crate; its first comment is the contract.
//!
//! Each function converts its arguments, calls the core and converts the result. The libraries are built with
//! `panic = "abort"`, because nothing unwinds without std.

#![no_std]
// The Rust names are the C names, so that a search for a line of the header finds it here.
#![allow(non_camel_case_types)]
// The first comment of the header states once what every function requires of its pointers.
#![allow(clippy::missing_safety_doc)]

extern crate alloc;

mod generator;
mod id;
mod layout;
mod pointer;
#[cfg(panic = "abort")]
mod runtime;
mod status;
mod text_form;

pub use generator::{
    leafid_core_generator, leafid_core_generator_first_unused, leafid_core_generator_free,
    leafid_core_generator_grant, leafid_core_generator_new, leafid_core_generator_next,
    leafid_core_generator_next_span, leafid_core_generator_seal, leafid_core_on_clock_backwards,
    leafid_core_on_exhausted, leafid_core_rules, leafid_core_span,
};
pub use id::{
    leafid_core_compose, leafid_core_decode, leafid_core_first_id_at, leafid_core_last_id_at,
    leafid_core_parse_id, leafid_core_parts,
};
pub use layout::{leafid_core_layout, leafid_core_layout_parse, leafid_core_order, leafid_core_tick_at};
pub use status::leafid_core_status;
pub use text_form::{
    LEAFID_CORE_ID_TEXT_SIZE, leafid_core_format_id, leafid_core_parse_formatted_id, leafid_core_text_form,
};
