//! The defaults and bounds that JavaScript needs before it calls the host.

use leafid::{DEFAULT_TIMEOUT_MS, LONGEST_RUN, MOST_IDS, MOST_MS, MOST_PREWARMED};
use napi_derive::napi;

/// The core's constants.
#[napi(object, object_from_js = false)]
pub struct Limits {
    /// The longest wait of a call if the user sets none.
    pub default_timeout_ms: i64,
    /// The largest value of options that are durations.
    pub most_ms: i64,
    /// The largest number of ids of one call.
    pub most_ids: u32,
    /// The largest number of tags that are fetched at an opening.
    pub most_prewarmed: u32,
    /// The largest number of ids that a thread takes of a tag at a time.
    pub longest_run: u32,
}

/// The core's constants.
#[napi(catch_unwind)]
pub fn limits() -> Limits {
    Limits {
        default_timeout_ms: DEFAULT_TIMEOUT_MS,
        most_ms: MOST_MS,
        most_ids: MOST_IDS as u32,
        most_prewarmed: MOST_PREWARMED as u32,
        longest_run: LONGEST_RUN as u32,
    }
}
