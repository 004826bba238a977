//! The Node binding, which `node/js/native` calls. It converts values, calls the host, and has no logic. Defaults and bounds
//! that JavaScript checks come from `limits`.
//!
//! The public class is written in JavaScript, because a method of a native class costs ten times a closure. Numbers
//! arrive here as safe integers, and missing options as `undefined`; `node/js/front/options.js` checks that. A failure is
//! thrown as an `Error` whose `code` is the name of the code; `node/js/native/guard.js` converts it to a `LeafidError`.

mod answers;
mod calls;
mod cli;
mod closing;
mod error;
mod events;
mod exit;
mod fork_generation;
mod id;
mod layout;
mod limits;
mod logs;
mod next_run;
mod opening;
mod options;
mod public_ids;
mod segments;
mod snowflake;
mod source;
mod stats;
mod tag;
mod text_form;
mod wake;

pub use answers::{AnswerObject, CallObject, LeaseObject, RenewalObject, RequestObject};
pub use calls::{Calls, answer_call, end_calls, listen_calls, take_calls};
pub use cli::cli;
pub use error::{CodeRow, codes, refuse, refuse_unknown, shown_url};
pub use events::{Events, EventsObject, FetchAnswer, FetchObject, answer_fetch, listen_events, take_events};
pub use fork_generation::{fork_generation, next_generation};
pub use id::{Parts, compose, decode, first_id_at, last_id_at};
pub use layout::{Fields, LayoutArgument};
pub use limits::{Limits, limits};
pub use logs::{LogRecord, set_logger};
pub use options::{FileTagObject, OptionObject, WorkerRange, camel_case, option_rows};
pub use segments::{
    SegmentsHandle, close_segments, open_segments, open_segments_soon, segments_name, segments_stats,
    segments_tag, take_opened,
};
pub use snowflake::{Asked, asks_servers, metrics, open, open_asking, take_done};
pub use source::{NeededResults, unique_number};
pub use stats::Shown;
pub use tag::{
    TagHandle, tag_fill, tag_fill_from_memory, tag_late, tag_next, tag_poll, tag_put_back, tag_run,
    tag_stats, tag_stop_waiting,
};

/// The version of this addon: that of the whole project.
#[napi_derive::napi(catch_unwind)]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
pub use public_ids::{
    VersionedKey, decrypt_id, encrypt_id, format_public_id, parse_public_id, public_ids, public_ids_version,
};
pub use text_form::{format_id, parse_id};
