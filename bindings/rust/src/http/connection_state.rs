//! The state of a kept connection. It may serve another request only after a correct response that was read to its end.

use std::sync::atomic::{AtomicU8, Ordering::AcqRel, Ordering::Acquire, Ordering::Release};

/// A request was sent over the connection, and its response is not judged yet.
const UNPROVEN: u8 = 0;
/// The response was read to its end, and is not judged yet.
const READ: u8 = 1;
/// The response was correct.
const PROVEN: u8 = 2;

/// The state of one connection: `sent` -> `may_serve` (read) -> `prove` -> `may_serve` (before the next request).
#[derive(Default)]
pub(super) struct ConnectionState(AtomicU8);

impl ConnectionState {
    /// A request is sent.
    pub(super) fn sent(&self) {
        self.0.store(UNPROVEN, Release);
    }

    /// The response was correct.
    pub(super) fn prove(&self) {
        let _ = self.0.compare_exchange(READ, PROVEN, AcqRel, Acquire);
    }

    /// Called when a response was read to its end, and again before the next request. In between it must be judged
    /// correct.
    pub(super) fn may_serve(&self) -> bool {
        let was_unproven = self.0.compare_exchange(UNPROVEN, READ, AcqRel, Acquire).is_ok();
        was_unproven || self.0.load(Acquire) == PROVEN
    }
}
