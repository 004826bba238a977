//! Segments: ranges of ids leased from a source, held in a double buffer, issued from memory.

mod attempt;
mod builder;
#[cfg(feature = "http")]
mod dialects;
#[cfg_attr(not(feature = "cli"), allow(dead_code, reason = "for the command line"))]
pub(crate) mod file;
#[cfg(fuzzing)]
pub(crate) mod fuzzing;
mod gate;
mod handle;
mod held;
#[cfg(feature = "http")]
mod leaf;
mod lines;
mod local;
pub(crate) mod marks;
pub(crate) mod names;
mod office;
mod open;
mod options;
pub(crate) mod origin;
pub(crate) mod pool;
mod queue;
#[cfg(feature = "http")]
pub(crate) mod range;
mod reply;
#[cfg(test)]
pub(crate) mod simulated;
#[cfg(feature = "http")]
mod singles;
pub(crate) mod source;
mod stats;
mod stock;
mod tag;
mod tagged;
#[cfg(feature = "http")]
mod tinyid;
#[cfg(feature = "http")]
mod turns;

pub use attempt::Attempt;
pub use builder::{Protocol, SegmentsBuilder};
pub use file::FileTag;
pub use handle::Segments;
pub use held::HeldRun;
pub use local::LocalTag;
use marks::Marks;
pub use options::Prewarm;
pub use reply::Reply;
pub use source::{FetchRequest, Fetched, SegmentSource};
pub use stats::{SegmentsStats, ServerStats, TagStats};
pub use tag::Tag;

/// Called once, from a thread of leafid's.
type Wake = Box<dyn FnOnce() + Send>;
