//! Options, as the models set them.

use super::source::source_properties::SourceProperties;
use leafid_core::Result;
use leafid_core::supply::Prewarm;
use std::path::PathBuf;
use std::time::Duration;

pub(crate) struct SegmentsSettings {
    pub(crate) name: String,
    pub(crate) directory: Option<PathBuf>,
    pub(crate) source: SourceProperties,
    pub(crate) step: Option<i64>,
    pub(crate) adaptive: bool,
    pub(crate) prefetch: u32,
    pub(crate) timeout: Duration,
    pub(crate) max_wait: Option<Duration>,
    pub(crate) keep_unused: bool,
    pub(crate) prewarm: Prewarm,
}

impl SegmentsSettings {
    pub(crate) fn check_tag(&self, _tag: &str) -> Result<()> {
        Ok(())
    }
}
