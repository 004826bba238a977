//! Segments: ranges of ids that are leased from a source, kept in a double buffer and issued from memory.

mod builder;
mod call;
mod handle;
pub(crate) mod high_water;
mod open;
mod options;
mod reserved_run;
pub(crate) mod settings;
pub(crate) mod shared;
pub(crate) mod source;
mod stats;
pub(crate) mod supply_driver;
mod tag;
mod tag_calls;
mod thread_local;

pub use builder::SegmentsBuilder;
pub use call::PendingTake;
pub use handle::Segments;
pub use leafid_core::options::FileTag;
pub use options::{Prewarm, Protocol};
pub use reserved_run::ReservedRun;
pub use source::callback::SegmentSource;
pub use source::completion::Completion;
pub use source::fetch_request::{FetchRequest, Fetched};
pub use stats::{SegmentsStats, ServerStats, TagStats};
pub use tag::Tag;
pub use thread_local::LocalTag;
