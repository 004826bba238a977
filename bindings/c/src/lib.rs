//! The C interface of leafid. `include/leafid.h` is made from this crate; its first comment is the contract.
//!
//! A function here converts its arguments, calls the host crate (`leafid`) and converts the result, inside one guard
//! that turns errors and panics into a status. No function is made by a macro: cbindgen does not see those.

// The Rust names are the C names, so that a line of the header is found by searching for it here.
#![allow(non_camel_case_types)]
// What every function asks of its pointers is said once, in the first comment of the header.
#![allow(clippy::missing_safety_doc)]

mod guard;
mod id;
mod last_error;
mod layout;
mod options;
mod pointer;
mod snowflake;
mod stats;
mod status;
mod text;

pub use id::{leafid_compose, leafid_decode, leafid_decode_text, leafid_parts};
pub use last_error::leafid_last_error;
pub use layout::{leafid_layout, leafid_layout_expires_at_ms, leafid_layout_parse, leafid_order};
pub use options::{
    leafid_on_clock_backwards, leafid_on_exhausted, leafid_snowflake_options, leafid_snowflake_options_free,
    leafid_snowflake_options_new, leafid_snowflake_options_set_epoch_ms, leafid_snowflake_options_set_layout,
    leafid_snowflake_options_set_layout_fields, leafid_snowflake_options_set_max_backwards_ms,
    leafid_snowflake_options_set_name, leafid_snowflake_options_set_on_clock_backwards,
    leafid_snowflake_options_set_on_exhausted, leafid_snowflake_options_set_random_start,
    leafid_snowflake_options_set_state_dir, leafid_snowflake_options_set_timeout_ms,
    leafid_snowflake_options_set_worker, leafid_snowflake_options_set_worker_id,
    leafid_snowflake_options_set_worker_range,
};
pub use snowflake::{
    leafid_ids_free, leafid_snowflake, leafid_snowflake_close, leafid_snowflake_fill, leafid_snowflake_free,
    leafid_snowflake_next, leafid_snowflake_open, leafid_snowflake_take,
};
pub use stats::{
    leafid_snowflake_last_error, leafid_snowflake_layout, leafid_snowflake_name, leafid_snowflake_state_dir,
    leafid_snowflake_stats, leafid_snowflake_stats_t, leafid_snowflake_worker_id,
};
pub use status::{leafid_status, leafid_status_can_retry, leafid_status_name, leafid_version};
