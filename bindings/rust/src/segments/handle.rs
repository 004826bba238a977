//! The public handle of segments.

use super::settings::SegmentsSettings;
use super::shared::SharedSegments;
use super::stats::SegmentsStats;
use super::tag::Tag;
use leafid_core::Result;
use leafid_core::supply::closed;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

/// Ids from segments: ranges that are leased from a source, one counter for each tag.
///
/// Each tag keeps two segments in memory, so that a slow or unavailable source does not block callers. A clone is
/// another handle of the same segments. They end at [`Segments::close`], or when the last clone and the last tag are
/// dropped.
#[derive(Clone)]
pub struct Segments {
    shared: Arc<SharedSegments>,
}

impl Segments {
    pub(crate) fn open(settings: SegmentsSettings) -> Result<Segments> {
        let shared = SharedSegments::new(Arc::new(settings));
        shared.driver()?;
        Ok(Segments { shared: Arc::new(shared) })
    }

    /// Returns the tag of this name: 1 to 128 bytes of UTF-8 without control characters. It fetches nothing yet.
    ///
    /// Errors: `invalid_argument`, `closed`.
    pub fn tag(&self, name: &str) -> Result<Tag> {
        self.shared.settings.options.check_tag(name)?;
        if self.shared.is_closed() {
            return Err(closed());
        }
        Ok(Tag::new(Arc::clone(&self.shared), name.into()))
    }

    /// The statistics of every tag that this process has used, sorted by name. Errors: `closed`.
    pub fn stats(&self) -> Result<SegmentsStats> {
        Ok(SegmentsStats::of(&*self.shared.driver()?))
    }

    /// The id space.
    pub fn name(&self) -> &str {
        &self.shared.settings.options.name
    }

    /// Closes all tags; a second call does nothing. Waiting calls return `closed`.
    ///
    /// With `keep_unused` it stores the unused ids for the next opening. Errors: `state_io`: the segments are closed
    /// all the same, and some unused ids are lost. They stay open only in a child of vfork and on a thread with too
    /// little stack.
    pub fn close(&self) -> Result<()> {
        self.shared.close()
    }
}

/// A panic, also of a user callback, leaves the state valid: each change is a single step.
impl UnwindSafe for Segments {}
impl RefUnwindSafe for Segments {}

impl fmt::Debug for Segments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Segments").field("name", &self.shared.settings.options.name).finish_non_exhaustive()
    }
}
