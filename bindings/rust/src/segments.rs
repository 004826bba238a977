//! Segments: ranges of ids that are leased from a source, kept in a double buffer and issued from memory.

mod builder;
mod call;
pub(crate) mod fetcher;
#[cfg(fuzzing)]
pub(crate) mod fuzzing;
mod handle;
pub(crate) mod high_water;
pub(crate) mod jobs;
mod open;
mod reserved_run;
mod settings;
#[cfg(test)]
pub(crate) mod simulated;
pub(crate) mod source;
mod stats;
mod tag;
mod tag_state;
mod thread_local;

pub use builder::{Protocol, SegmentsBuilder};
pub use call::PendingTake;
pub use handle::Segments;
use high_water::HighWaterMarks;
pub use reserved_run::ReservedRun;
pub use settings::Prewarm;
pub use source::callback::{FetchRequest, Fetched, SegmentSource};
pub use source::completion::Completion;
pub use source::file::FileTag;
pub use stats::{SegmentsStats, ServerStats, TagStats};
pub use tag::Tag;
pub use thread_local::LocalTag;

/// Called once, on a thread of leafid.
type Wake = Box<dyn FnOnce() + Send>;
