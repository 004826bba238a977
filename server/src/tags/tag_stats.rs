//! What is shown of a tag.

use leafid_core::Segment;
use leafid_core::supply;
use std::sync::Arc;
use std::time::Duration;

/// The state of a tag, to be shown.
pub(crate) struct TagStats {
    pub(crate) name: Arc<str>,
    /// The rest of the segment that ids come from, and the next one.
    pub(crate) segments: Vec<Segment>,
    /// Where each of these began.
    pub(crate) starts: Vec<i64>,
    pub(crate) left: u64,
    pub(crate) taken: u64,
    /// Ids that went out in ranges, past the buffer.
    pub(crate) ranged: u64,
    pub(crate) step: i64,
    pub(crate) fetches: u64,
    pub(crate) failures: u64,
    /// How long the last fetch took.
    pub(crate) fetch_time: Option<Duration>,
    /// Why the last fetch failed.
    pub(crate) error: Option<String>,
}

impl From<supply::TagStats> for TagStats {
    fn from(stats: supply::TagStats) -> TagStats {
        TagStats {
            name: stats.tag,
            segments: stats.current.into_iter().chain(stats.next).collect(),
            starts: stats.starts,
            left: stats.left,
            taken: stats.ids,
            ranged: stats.ranged,
            step: stats.step,
            fetches: stats.fetches,
            failures: stats.failures,
            fetch_time: stats.last_fetch,
            error: stats.last_error.map(|error| error.message().to_owned()),
        }
    }
}
