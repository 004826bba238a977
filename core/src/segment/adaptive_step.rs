//! The adaptive step, as in Leaf: how many ids to request from a source at a time.
//!
//! Construct: [`AdaptiveStep::new`]. Event: [`AdaptiveStep::fetched`]. Queries: all others;
//! [`AdaptiveStep::wanted`] is the step of the next request.
//!
//! | The last segment lasted | Next step |
//! | --- | --- |
//! | less than 15 minutes | twice as large, unless that is above a million |
//! | 15 to 30 minutes | the same |
//! | 30 minutes or longer | half, unless that is below the source's own |

/// The step never grows above this by itself.
pub const LARGEST_STEP: i64 = 1_000_000;
/// If a segment lasted less than this, the step doubles.
const SHORT_MS: i64 = 15 * 60_000;
/// If it lasted this long, the step halves.
const LONG_MS: i64 = 30 * 60_000;

/// The step of one tag. Times are of a clock that only goes forward, in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AdaptiveStep {
    /// The source's own step, or the first one that was requested: the smallest.
    source: i64,
    step: i64,
    adaptive: bool,
    fetches: u32,
    fetched_at_ms: i64,
}

impl AdaptiveStep {
    /// Starts with the source's own step. If `adaptive` is false, it stays there.
    pub const fn new(source: i64, adaptive: bool) -> AdaptiveStep {
        AdaptiveStep { source, step: source, adaptive, fetches: 0, fetched_at_ms: 0 }
    }

    /// The step of the last fetch, or of the first fetch to come.
    pub const fn step(&self) -> i64 {
        self.step
    }

    /// The source's own step, as it was returned last.
    pub const fn source(&self) -> i64 {
        self.source
    }

    /// The step to request now. The first two fetches use the source's own.
    pub const fn wanted(&self, now_ms: i64) -> i64 {
        if !self.adaptive || self.fetches < 2 {
            return self.step;
        }
        let age_ms = now_ms.saturating_sub(self.fetched_at_ms);
        if age_ms < SHORT_MS {
            let doubled = self.step.saturating_mul(2);
            if doubled > LARGEST_STEP { self.step } else { doubled }
        } else if age_ms < LONG_MS || self.step / 2 < self.source {
            self.step
        } else {
            self.step / 2
        }
    }

    /// A segment was fetched with this step. `source` is the source's own step now. If it was changed, it takes effect
    /// without a restart.
    pub const fn fetched(&mut self, step: i64, source: i64, now_ms: i64) {
        self.source = source;
        self.step = if step < source { source } else { step };
        self.fetches = self.fetches.saturating_add(1);
        self.fetched_at_ms = now_ms;
    }
}
