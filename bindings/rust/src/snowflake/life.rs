//! The end of a generator: by a close, or because its lease was lost.

use leafid_core::{Error, LeaseLoss};
use std::time::Duration;

/// Whether a generator is closed, and its lease lost.
#[derive(Default)]
pub(crate) struct Life {
    pub(super) closed: bool,
    pub(super) lost: Option<LeaseLoss>,
}

/// What became of a loss.
pub(crate) enum Heal {
    NotLost,
    /// Another generator took its place.
    Done,
    /// A claim is under way, or was made: look again after this.
    UnderWay(Duration),
    /// The last one failed: the next is made after this.
    Failed(Error, Duration),
}
