//! The options of a snowflake as the user set them.

use crate::config::user_options::{UserCode, UserOptions};
use crate::worker::peer_clocks::PeerTimes;
use crate::worker::source::WorkerSource;
use leafid_core::options::OptionOf;

/// The unchecked values of [`crate::SnowflakeBuilder`].
pub(crate) type SnowflakeOptions = UserOptions<SnowflakeCode>;

#[derive(Clone, Default)]
pub(crate) struct SnowflakeCode {
    pub(crate) source: Option<WorkerSource>,
    pub(crate) peer_times: Option<PeerTimes>,
}

impl UserCode for SnowflakeCode {
    const OF: OptionOf = OptionOf::Snowflake;
}
