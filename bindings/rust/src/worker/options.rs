//! The options of a snowflake as the user set them.

use crate::config::http_options::RequestOptions;
use crate::worker::peer_clocks::PeerTimes;
use crate::{ClockSource, Worker};
use leafid_core::{Layout, OnClockBackwards, OnExhausted};
use std::path::PathBuf;

/// The unchecked values of [`crate::SnowflakeBuilder`]; `None` for options that the user did not set.
#[derive(Clone, Debug, Default)]
pub(crate) struct SnowflakeOptions {
    pub(crate) worker: Option<Worker>,
    pub(crate) name: Option<String>,
    pub(crate) state_dir: Option<PathBuf>,
    pub(crate) layout: Layout,
    pub(crate) epoch_ms: Option<i64>,
    pub(crate) on_clock_backwards: OnClockBackwards,
    pub(crate) max_backwards_ms: Option<i64>,
    pub(crate) on_exhausted: OnExhausted,
    pub(crate) random_start: Option<i64>,
    pub(crate) timeout_ms: Option<i64>,
    pub(crate) max_wait_ms: Option<i64>,
    pub(crate) persist: Option<bool>,
    pub(crate) shared_fs: bool,
    pub(crate) shared_group: Option<bool>,
    pub(crate) exclusive_range: Option<bool>,
    pub(crate) no_record_wait_ms: Option<i64>,
    pub(crate) lazy: bool,
    pub(crate) clock_source: ClockSource,
    pub(crate) start_after: Option<i64>,
    pub(crate) peer_times: Option<PeerTimes>,
    pub(crate) access: RequestOptions,
}
