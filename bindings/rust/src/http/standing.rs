//! Whether a connection may serve another request: only after a right answer, read to its end.

use std::sync::atomic::{AtomicU8, Ordering::AcqRel, Ordering::Acquire, Ordering::Release};

/// A request went over the connection, and its answer is not judged.
const UNPROVEN: u8 = 0;
/// As before, and the answer was read to its end.
const READ: u8 = 1;
/// The answer was right.
const PROVEN: u8 = 2;

/// The state of one connection. `sent` -> `may_serve` (read) -> `prove` -> `may_serve` (asked before the next request).
#[derive(Default)]
pub(super) struct Standing(AtomicU8);

impl Standing {
    /// A request is sent.
    pub(super) fn sent(&self) {
        self.0.store(UNPROVEN, Release);
    }

    /// The answer was right.
    pub(super) fn prove(&self) {
        let _ = self.0.compare_exchange(READ, PROVEN, AcqRel, Acquire);
    }

    /// Asked when an answer was read to its end, and again before the next request: in between it must have been proven.
    pub(super) fn may_serve(&self) -> bool {
        let was_unproven = self.0.compare_exchange(UNPROVEN, READ, AcqRel, Acquire).is_ok();
        was_unproven || self.0.load(Acquire) == PROVEN
    }
}
