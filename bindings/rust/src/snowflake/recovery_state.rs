//! The end of a generator: by a close, or by the loss of its lease.

use leafid_core::{Error, LeaseLoss};
use std::time::Duration;

/// Whether a generator is closed, and whether its lease is lost.
#[derive(Default)]
pub(crate) struct RecoveryState {
    pub(super) closed: bool,
    pub(crate) lost: Option<LeaseLoss>,
}

/// How far the recovery from a lost lease is.
pub(crate) enum Recovery {
    NotLost,
    /// Another generator replaced it.
    Done,
    /// A claim is running, has just succeeded, or will follow soon: callers wait. Check again after this time.
    UnderWay(Duration),
    /// The last claim failed, and callers get its error. The next one starts after this time.
    Failed(Error, Duration),
}
