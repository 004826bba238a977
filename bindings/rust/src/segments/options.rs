//! The options of segments as the user set them.

use super::source::callback::SegmentSource;
use leafid_core::options::{OptionOf, OptionValue, OptionValues};
pub use leafid_core::options::{Prewarm, Protocol};
use std::fmt;
use std::path::{Path, PathBuf};

/// The unchecked values of [`crate::SegmentsBuilder`].
#[derive(Clone)]
pub(crate) struct SegmentsOptions {
    /// By the names of the core, which checks them.
    pub(crate) values: OptionValues,
    pub(crate) source: Option<SegmentSource>,
    /// Paths as the system has them.
    pub(crate) ca_file: Option<PathBuf>,
    pub(crate) state_dir: Option<PathBuf>,
    pub(crate) max_wait_ms: Option<i64>,
}

impl SegmentsOptions {
    /// Sets a value of the kind that the option has.
    pub(crate) fn set(&mut self, name: &str, value: OptionValue) {
        let set = self.values.set(name, value);
        debug_assert!(set.is_ok(), "{set:?}");
    }

    /// The value of a path, for the checks.
    pub(crate) fn path(path: &Path) -> OptionValue {
        OptionValue::Path(path.as_os_str().as_encoded_bytes().to_vec())
    }
}

impl Default for SegmentsOptions {
    fn default() -> SegmentsOptions {
        let values = OptionValues::new(OptionOf::Segments);
        SegmentsOptions { values, source: None, ca_file: None, state_dir: None, max_wait_ms: None }
    }
}

/// Without values that may be secrets.
impl fmt::Debug for SegmentsOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.values.fmt(f)
    }
}
