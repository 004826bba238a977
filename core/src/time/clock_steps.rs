//! Counts the steps of a clock, for metrics.

use crate::atomic::statistics::{AtomicI64, AtomicU64, Ordering::Relaxed};

/// A smaller change of the offset is no step.
const SMALLEST_NS: i64 = 10_000_000;
/// A clock that is only corrected runs at most this part too fast or too slow: one thousandth.
const SLEW: i64 = 1_000;
const NONE: i64 = i64::MIN;

/// The number of times a clock was set forward and back. Nothing is decided by it. All times are nanoseconds.
#[derive(Debug)]
pub struct ClockSteps {
    /// The clock less the boot time, at the last reading.
    offset_ns: AtomicI64,
    /// The boot time of the last reading, and how far it may be off.
    read_at_ns: AtomicI64,
    within_ns: AtomicI64,
    forward: AtomicU64,
    backward: AtomicU64,
}

impl ClockSteps {
    /// Without a reading.
    pub const fn new() -> ClockSteps {
        ClockSteps {
            offset_ns: AtomicI64::new(NONE),
            read_at_ns: AtomicI64::new(NONE),
            within_ns: AtomicI64::new(0),
            forward: AtomicU64::new(0),
            backward: AtomicU64::new(0),
        }
    }

    /// A reading: the clock read `now_ns` at the boot time `counted_ns`, or up to `within_ns` earlier.
    pub fn note(&self, now_ns: i64, counted_ns: i64, within_ns: i64) {
        let read_at = self.read_at_ns.load(Relaxed);
        if counted_ns <= read_at {
            // Another thread read the clock later, or another thread notes this moment.
            return;
        }
        self.read_at_ns.store(counted_ns, Relaxed);
        let found = now_ns.saturating_sub(counted_ns);
        let before = self.offset_ns.swap(found, Relaxed);
        let within = self.within_ns.swap(within_ns, Relaxed).saturating_add(within_ns);
        if before == NONE {
            return;
        }
        let slewed = counted_ns.saturating_sub(read_at) / SLEW;
        let allowed = SMALLEST_NS.saturating_add(slewed).saturating_add(within);
        let change = found.saturating_sub(before);
        if change > allowed {
            self.forward.fetch_add(1, Relaxed);
        } else if change < -allowed {
            self.backward.fetch_add(1, Relaxed);
        }
    }

    /// The steps forward and back.
    pub fn counts(&self) -> (u64, u64) {
        (self.forward.load(Relaxed), self.backward.load(Relaxed))
    }
}

impl Default for ClockSteps {
    fn default() -> ClockSteps {
        ClockSteps::new()
    }
}

#[cfg(test)]
mod tests {
    use super::ClockSteps;
    const MS: i64 = 1_000_000;

    #[test]
    fn steps_are_counted_and_corrections_are_not() {
        let steps = ClockSteps::new();
        let after = |now_ms: i64, counted_ms: i64, within_ms: i64| {
            steps.note(now_ms * MS, counted_ms * MS, within_ms * MS);
            steps.counts()
        };
        assert_eq!(after(1_000_000, 1_000, 0), (0, 0), "the first one");
        assert_eq!(after(1_001_000, 2_000, 0), (0, 0));
        assert_eq!(after(1_001_008, 2_001, 0), (0, 0), "small");
        assert_eq!(after(1_001_500, 2_002, 0), (1, 0));
        assert_eq!(after(1_001_000, 2_003, 0), (1, 1));
        assert_eq!(after(2_001_900, 1_002_003, 0), (1, 1), "a correction over 1,000 s");
        assert_eq!(after(2_001_900, 1_002_500, 500), (1, 1), "the thread slept between two readings");
        assert_eq!(after(2_002_900, 1_003_000, 0), (1, 1), "and this one follows it");
        assert_eq!(after(2_902_900, 1_003_000, 0), (1, 1), "of the same moment");
    }
}
