//! The options of segments as the user set them.

use super::source::callback::SegmentSource;
use crate::config::user_options::{UserCode, UserOptions};
use leafid_core::options::OptionOf;
pub use leafid_core::options::{Prewarm, Protocol};

/// The unchecked values of [`crate::SegmentsBuilder`].
pub(crate) type SegmentsOptions = UserOptions<SegmentsCode>;

#[derive(Clone, Default)]
pub(crate) struct SegmentsCode {
    pub(crate) source: Option<SegmentSource>,
}

impl UserCode for SegmentsCode {
    const OF: OptionOf = OptionOf::Segments;
}
