//! When to ask again who failed to answer: later each time, and never all at once.

use core::time::Duration;

/// The first rest, and the shortest: nobody is asked more than five times a second.
pub const SHORTEST_MS: i64 = 200;
/// The same, as a duration.
pub const SHORTEST_REST: Duration = Duration::from_millis(SHORTEST_MS as u64);
/// The longest rest while somebody waits, or soon will.
pub const URGENT_MS: i64 = 400;
/// The longest rest otherwise.
pub const LONGEST_MS: i64 = 10_000;

/// The rests of one source, or of one of its addresses. Times are of a clock that only goes forward, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackOff {
    failures: u32,
    failed_at_ms: i64,
    seed: u64,
}

impl BackOff {
    /// Has not failed.
    pub const fn new() -> BackOff {
        BackOff { failures: 0, failed_at_ms: 0, seed: 0 }
    }

    /// Has failed this many times.
    pub(crate) const fn after(failures: u32) -> BackOff {
        BackOff { failures, failed_at_ms: 0, seed: 0 }
    }

    /// It failed once more; `seed` makes its rest another one than its neighbours'.
    pub const fn failed(&mut self, now_ms: i64, seed: u64) {
        self.failures = self.failures.saturating_add(1);
        self.failed_at_ms = now_ms;
        self.seed = seed;
    }

    /// It answered.
    pub const fn succeeded(&mut self) {
        self.failures = 0;
    }

    /// Failures since it answered last.
    pub const fn failures(&self) -> u32 {
        self.failures
    }

    /// When it may be asked again; none when it has not failed. `urgent`: a caller waits, or soon will.
    pub const fn ready_at_ms(&self, urgent: bool) -> Option<i64> {
        if self.failures == 0 {
            return None;
        }
        Some(self.failed_at_ms.saturating_add(self.rest_ms(urgent)))
    }

    /// How long it rests after the last failure; as after the first one if it has not failed.
    pub const fn rest(&self, urgent: bool) -> Duration {
        Duration::from_millis(self.rest_ms(urgent) as u64)
    }

    const fn rest_ms(&self, urgent: bool) -> i64 {
        let longest = if urgent { URGENT_MS } else { LONGEST_MS };
        let doublings = if self.failures < 7 { self.failures.saturating_sub(1) } else { 6 };
        let rest = SHORTEST_MS << doublings;
        let rest = if rest < longest { rest } else { longest };
        // Down to three quarters of it, but never below the first rest.
        let jitter = (self.seed % 1_024) as i64 * (rest / 4) / 1_024;
        if rest - jitter < SHORTEST_MS { SHORTEST_MS } else { rest - jitter }
    }
}
