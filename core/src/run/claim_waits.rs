//! What a claim waited for, and how long, for the log.

use crate::quoted::Quoted;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

/// A claim that takes longer is logged with what it waited for.
const LONG_CLAIM: Duration = Duration::from_millis(100);

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClaimWaits {
    /// For worker ids that were held.
    pub(crate) held: Duration,
    /// For the clock.
    pub(crate) clock: Duration,
}

impl ClaimWaits {
    /// The line of a claim that took long.
    pub(crate) fn line(&self, worker_id: u32, name: &str, took: Duration) -> Option<String> {
        let known = self.held.saturating_add(self.clock);
        // A disk is often slow for a moment.
        if known < LONG_CLAIM && took < 10 * LONG_CLAIM {
            return None;
        }
        let rest = took.saturating_sub(known);
        let parts = [
            (self.held, "for worker ids that were held"),
            (self.clock, "for the clock"),
            (rest, "for the disk"),
        ];
        let parts = parts.iter().filter(|(time, _)| *time >= Duration::from_millis(1));
        let parts: Vec<_> =
            parts.map(|(time, what)| format!("{} ms {what}", time.as_millis() as u64)).collect();
        Some(format!(
            "the claim of worker id {worker_id} of {} waited {} ms: {}",
            Quoted(name),
            took.as_millis() as u64,
            parts.join(", ")
        ))
    }
}

/// The line of a long wait for this.
pub(crate) fn wait_line(waited: Duration, what: &str) -> Option<String> {
    let line = || format!("the claim of a worker id waited {} ms for {what}", waited.as_millis() as u64);
    (waited >= LONG_CLAIM).then(line)
}
