//! Segments: ranges of a counter that a source returns once; and the buffers and rules for them.

pub(crate) mod adaptive_step;
pub(crate) mod double_buffer;
pub(crate) mod fair_queue;
pub(crate) mod fetch_state;
pub(crate) mod fetch_threads;
pub(crate) mod guard;
pub(crate) mod pending;
pub(crate) mod run_length;
#[allow(clippy::module_inception, reason = "a segment, among what is made of segments")]
pub(crate) mod segment;
pub(crate) mod single_ids;
pub(crate) mod stock;
pub(crate) mod turns;

#[cfg(feature = "parts")]
pub use adaptive_step::AdaptiveStep;
#[cfg(feature = "parts")]
pub use double_buffer::Filler;
#[cfg(feature = "parts")]
pub use guard::Guard;
pub use guard::MOST_JUMP;
#[cfg(feature = "parts")]
pub use pending::PendingSegments;
pub use run_length::LONGEST_RUN;
#[cfg(feature = "parts")]
pub use turns::Turns;
