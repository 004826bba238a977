//! The C interface of leafid. `include/leafid.h` is generated from this crate; its first comment is the contract.
//!
//! Each function converts its arguments, calls the host crate (`leafid`) and converts the result, inside one guard that
//! converts errors and panics to a status. No function is created by a macro, because cbindgen does not see those.

// The Rust names are the C names, so that a search for a line of the header finds it here.
#![allow(non_camel_case_types)]
// The first comment of the header states once what every function requires of its pointers.
#![allow(clippy::missing_safety_doc)]

mod callback;
mod clock_options;
mod guard;
mod id;
mod last_error;
mod layout;
mod lease;
mod log;
mod metrics;
mod options;
mod pointer;
mod public_ids;
mod segments;
mod segments_fetch;
mod segments_options;
mod segments_servers;
mod segments_stats;
mod server_options;
mod settings;
mod sized;
mod snowflake;
mod sources;
mod state_options;
mod stats;
mod status;
mod tag;
mod text;
mod text_form;

pub use callback::leafid_free_fn;
pub use clock_options::*;
pub use id::{
    leafid_compose, leafid_decode, leafid_decode_text, leafid_first_id_at, leafid_last_id_at, leafid_parts,
};
pub use last_error::leafid_last_error;
pub use layout::{leafid_layout, leafid_layout_expires_at_ms, leafid_layout_parse, leafid_order};
pub use lease::{LEAFID_MOST_PEERS, LEAFID_TOKEN_SIZE, leafid_claim_request, leafid_lease};
pub use log::{leafid_log_fn, leafid_log_level, leafid_set_log};
pub use metrics::leafid_metrics;
pub use options::*;
pub use public_ids::{
    leafid_public_ids, leafid_public_ids_add_key, leafid_public_ids_decrypt, leafid_public_ids_encrypt,
    leafid_public_ids_format, leafid_public_ids_free, leafid_public_ids_load, leafid_public_ids_load_key,
    leafid_public_ids_new, leafid_public_ids_parse,
};
pub use segments::{
    leafid_segments, leafid_segments_close, leafid_segments_free, leafid_segments_open, leafid_segments_tag,
};
pub use segments_fetch::*;
pub use segments_options::*;
pub use segments_servers::*;
pub use segments_stats::{
    leafid_segments_name, leafid_segments_source, leafid_segments_state_dir, leafid_segments_tags,
    leafid_tag_last_error, leafid_tag_name, leafid_tag_stats, leafid_tag_stats_t,
};
pub use server_options::*;
pub use snowflake::{
    leafid_ids_free, leafid_snowflake, leafid_snowflake_close, leafid_snowflake_fill, leafid_snowflake_free,
    leafid_snowflake_next, leafid_snowflake_open, leafid_snowflake_take,
};
pub use sources::*;
pub use state_options::*;
pub use stats::{
    leafid_snowflake_last_error, leafid_snowflake_layout, leafid_snowflake_name, leafid_snowflake_state_dir,
    leafid_snowflake_stats, leafid_snowflake_stats_t, leafid_snowflake_worker_id,
};
pub use status::{leafid_status, leafid_status_can_retry, leafid_status_name, leafid_version};
pub use tag::{
    leafid_tag, leafid_tag_fill, leafid_tag_fill_within, leafid_tag_free, leafid_tag_next,
    leafid_tag_next_within, leafid_tag_take, leafid_tag_try_next,
};
pub use text_form::{
    LEAFID_ID_TEXT_SIZE, leafid_format_id, leafid_id_to_uuid, leafid_parse_id, leafid_text_form,
    leafid_uuid_to_id,
};
