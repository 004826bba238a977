//! The back-off after failures: longer each time. A seed adds jitter, so that several callers do not retry at one
//! moment. The machines of a snowflake give none: `HeldLease`, `LeaseLoss`, `SpanExtension`.
//!
//! Construct: [`BackOff::new`]. Events: [`BackOff::failed`], [`BackOff::succeeded`]. Queries: all others.
//!
//! | State | Event | Next state |
//! | --- | --- | --- |
//! | no failure | `failed` | backing off for the shortest time |
//! | backing off | `failed` | backing off for about twice as long, up to a bound |
//! | backing off | `succeeded` | no failure |

use crate::aside::Aside;
use core::time::Duration;

/// The first and shortest back-off: at most five requests a second.
const SHORTEST_MS: i64 = 200;
/// The same, as a duration.
pub(crate) const SHORTEST_BACK_OFF: Duration = Duration::from_millis(SHORTEST_MS as u64);
/// The longest back-off while a caller waits, or soon will.
pub(crate) const URGENT_MS: i64 = 400;
/// The longest back-off otherwise.
pub const LONGEST_MS: i64 = 10_000;

/// The back-off of one source or server. Times are of a clock that only goes forward, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct BackOff {
    failures: u32,
    failed_at_ms: i64,
    /// It makes the length differ, and decides nothing else.
    seed: Aside<u64>,
}

impl BackOff {
    /// Without failures.
    pub const fn new() -> BackOff {
        BackOff::after(0)
    }

    /// After this many failures.
    pub(crate) const fn after(failures: u32) -> BackOff {
        BackOff { failures, failed_at_ms: 0, seed: Aside(0) }
    }

    /// Records a failure. `seed` makes the back-off differ from that of others; 0 adds no jitter.
    pub const fn failed(&mut self, now_ms: i64, seed: u64) {
        self.failures = self.failures.saturating_add(1);
        self.failed_at_ms = now_ms;
        self.seed = Aside(seed);
    }

    /// Records a success.
    pub const fn succeeded(&mut self) {
        self.failures = 0;
    }

    /// The number of failures since the last success.
    pub const fn failures(&self) -> u32 {
        self.failures
    }

    /// The end of the back-off; `None` without a failure. `urgent`: a caller waits, or soon will.
    pub const fn ready_at_ms(&self, urgent: bool) -> Option<i64> {
        if self.failures == 0 {
            return None;
        }
        Some(self.failed_at_ms.saturating_add(self.duration_ms(urgent)))
    }

    /// The length of the back-off after the last failure. Without a failure it is that of the first one.
    pub const fn duration(&self, urgent: bool) -> Duration {
        Duration::from_millis(self.duration_ms(urgent) as u64)
    }

    const fn duration_ms(&self, urgent: bool) -> i64 {
        let longest = if urgent { URGENT_MS } else { LONGEST_MS };
        let doublings = if self.failures < 7 { self.failures.saturating_sub(1) } else { 6 };
        let ms = SHORTEST_MS << doublings;
        let ms = if ms < longest { ms } else { longest };
        // Down to three quarters of it, but never below the shortest back-off.
        let jitter = (self.seed.0 % 1_024) as i64 * (ms / 4) / 1_024;
        if ms - jitter < SHORTEST_MS { SHORTEST_MS } else { ms - jitter }
    }
}
