//! How far the user of a worker id is, for its host.

use crate::Error;

/// How far a run is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RunState {
    /// It is not opened yet.
    Idle,
    /// It claims a worker id for the first time.
    Claiming,
    /// It has a generator.
    Held {
        /// The worker id that it holds, or held last.
        worker_id: u32,
        /// Whether its lease is lost, so that another one is claimed.
        lost: bool,
    },
    /// The claim failed, and nothing of it is left. A need to open claims again.
    Failed(Error),
    /// It was closed, and gives back what it holds.
    Closing,
    /// It has ended. Late ends may follow.
    Closed,
}
