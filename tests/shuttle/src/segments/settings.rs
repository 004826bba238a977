//! Options, as the models set them.

use super::source::host_source::HostSource;
use leafid_core::options::SupplyOptions;
use leafid_core::supply::Source;
use std::path::PathBuf;
use std::time::Duration;

pub(crate) struct SegmentsSettings {
    pub(crate) options: SupplyOptions,
    pub(crate) directory: Option<PathBuf>,
    pub(crate) host: HostSource,
    pub(crate) source: Source,
    pub(crate) max_wait: Option<Duration>,
    pub(crate) threads: usize,
}

impl SegmentsSettings {
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }
}
