//! A request to a source of segments, and its result.

pub use leafid_core::Fetched;

/// A request to a source of segments.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchRequest {
    /// The tag whose ids are requested.
    pub tag: String,
    /// How many ids are requested. The source may return more or fewer. 0 leaves the number to the source; a callback
    /// never gets 0.
    pub step: i64,
    /// Every id below was given before. A counter below this value has lost data.
    pub after: i64,
}
